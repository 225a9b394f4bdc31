use std::fs;
use std::process::Command;

use ssdlab_results::AttemptId;

use super::*;

#[test]
fn nothing_is_removed_from_nodes_before_it_is_safe_here() {
    let place = tempfile::tempdir().unwrap();
    let asked = place.path().join("asked");
    let program = place.path().join("rsync");
    // Written by another process: a child that another test is starting would have it open for
    // writing, and it could not be executed.
    let text = format!("#!/bin/sh\necho \"$@\" >>{}\n", asked.display());
    let script = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let written = Command::new("sh").args(["-c", script]).arg(&program).arg(text).status();
    assert!(written.unwrap().success());
    let nodes = BTreeSet::from([("node1".to_owned(), PathBuf::from("/there"))]);
    let mut rsync = Rsync { program, nodes, asked: None, told: BTreeSet::new() };
    let removals = || {
        let asked = fs::read_to_string(&asked).unwrap_or_default();
        asked.lines().filter(|line| line.contains("--remove-source-files")).count()
    };
    let run = place.path().join("run");
    assert!(rsync.fetch_now(&run).is_empty());
    assert_eq!(removals(), 0);
    // A file that cannot be synced, as it is missing here, stays on its node.
    assert_eq!(rsync.clear(&run).len(), 1);
    assert_eq!(removals(), 0);
    fs::create_dir_all(run.join(ATTEMPTS).join("1_0")).unwrap();
    fs::write(run.join(ATTEMPTS).join("1_0.jsonl"), "{}\n").unwrap();
    assert!(rsync.clear(&run).is_empty());
    assert_eq!(removals(), 1);
}

#[test]
fn a_path_is_one_word_whatever_is_in_it() {
    assert_eq!(quoted(Path::new("/a b/it's")), "\"/a b/it's\"");
}

#[test]
fn a_node_without_the_folder_gets_all_of_it_with_its_job() {
    let plan = "name = \"p\"\nquestion = \"Is `it` $HOME's?\"\n[workload]\n\
                    phases = [{ do = \"sync\" }]\n";
    let overrides = ssdlab_plan::Overrides::default();
    let schedule = ssdlab_plan::schedule("p", plan, &overrides, Path::new("/")).unwrap();
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join("it's here");
    let submission = Submission {
        staged: Some(run.clone()),
        elements: vec![schedule.trials[..2].to_vec()],
        ..Submission::default()
    };
    let seen = Seen::by_nodes_of(&submission, Path::new("/nowhere"));
    let script = seen.script(Path::new("/bin/echo"), &schedule, &submission, "array");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("SLURM_JOB_ID", "8");
    shell.env("SLURM_ARRAY_JOB_ID", "7").env("SLURM_ARRAY_TASK_ID", "0");
    assert!(shell.status().unwrap().success());
    assert_eq!(Submission::read(&run, "array").unwrap(), submission);
    let said = fs::read_to_string(run.join(ATTEMPTS).join("7_0.out")).unwrap();
    assert!(said.starts_with("node --run /") && said.ends_with("--submission array\n"));
    let attempt =
        ssdlab_results::Attempt { id: AttemptId::read("7_0").unwrap(), node: "n".to_owned() };
    let (_, _, staged) = ssdlab_results::Run::attempt(&run, attempt).unwrap();
    assert_eq!(staged.question, schedule.question);
}
