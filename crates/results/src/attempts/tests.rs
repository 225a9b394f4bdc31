use std::io::Write;

use ssdlab_plan::Overrides;

use super::*;
use crate::{Attempt, Ending, RunContents, RunFolder};

/// A run's folder, and its schedule.
fn place() -> (tempfile::TempDir, PathBuf, Schedule) {
    let plan = "name = \"p\"\nquestion = \"?\"\n[factors]\ndiscard = [\"off\", \"on\"]\n\
                [workload]\nphases = [{ do = \"sync\" }]\n";
    let schedule = ssdlab_plan::schedule("p", plan, &Overrides::default(), Path::new("/")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let run = RunFolder::create(place.path(), "p", "", &schedule).unwrap();
    let folder = run.folder().to_owned();
    (place, folder, schedule)
}

fn attempt(folder: &Path, id: &str) -> (RunFolder, RunContents) {
    let id = AttemptId::read(id).unwrap();
    RunFolder::attempt(folder, Attempt { id, node: "node1".to_owned() }).unwrap()
}

fn record(schedule: &Schedule, trial: usize) -> Record {
    Record::new(schedule, schedule.trials[trial], 1)
}

/// The attempts whose records count, in the order of trials.
fn counting(records: &[Record]) -> Vec<String> {
    let mut all: Vec<&Record> = records.iter().collect();
    all.sort_by_key(|record| record.trial.position);
    all.iter().map(|record| record.attempt.as_ref().unwrap().id.to_string()).collect()
}

#[test]
fn a_trial_that_was_tried_twice_counts_once_and_by_attempt() {
    let (_place, folder, schedule) = place();
    // 10 comes after 9, whatever letters say.
    for id in ["10_1", "9_2"] {
        attempt(&folder, id).0.push(&record(&schedule, 0)).unwrap();
    }
    let mut run = RunFolder::append(&folder).unwrap().0;
    let found = run.unmerged(&schedule, &[]).unwrap();
    assert_eq!(counting(&found.records), ["9_2"]);
    assert!(found.warnings[0].contains("10_1.jsonl: 1 of its trials"), "{:?}", found.warnings);
    run.push_all(&found.records).unwrap();
    // What arrives later does not change what counts.
    attempt(&folder, "1_1").0.push(&record(&schedule, 0)).unwrap();
    let later = run.unmerged(&schedule, &found.records).unwrap();
    assert_eq!((later.records.len(), later.warnings.len()), (0, 2));
    assert_eq!(counting(&RunFolder::read(&folder).unwrap().records), ["9_2"]);
}

#[test]
fn a_share_that_is_started_again_knows_its_records_and_no_other_share_s() {
    let (_place, folder, schedule) = place();
    attempt(&folder, "2_1").0.push(&record(&schedule, 0)).unwrap();
    attempt(&folder, "2_2").0.push(&record(&schedule, 1)).unwrap();
    let (mut again, contents) = attempt(&folder, "2_1");
    assert_eq!(counting(&contents.records), ["2_1"]);
    again.push(&record(&schedule, 2)).unwrap();
    assert_eq!(counting(&RunFolder::read(&folder).unwrap().records), ["2_1", "2_2", "2_1_2"]);
    // It does not decide how the run ends, and merges nothing.
    again.ended(Ending::AllBlocks).unwrap();
    assert_eq!(RunFolder::read(&folder).unwrap().ending, Ending::Interrupted);
    assert_eq!(again.unmerged(&schedule, &[]).unwrap().records.len(), 0);
}

#[test]
fn a_machine_that_cannot_run_a_trial_does_not_take_it_from_others() {
    let (_place, folder, schedule) = place();
    let mut refusal = record(&schedule, 0);
    refusal.status = TrialStatus::Unavailable;
    attempt(&folder, "2_1").0.push(&refusal).unwrap();
    // Neither from itself, once it can.
    assert_eq!(attempt(&folder, "2_1").1.records.len(), 0);
    assert_eq!(RunFolder::read(&folder).unwrap().records[0].status, TrialStatus::Unavailable);
    attempt(&folder, "2_2").0.push(&record(&schedule, 0)).unwrap();
    let found = RunFolder::append(&folder).unwrap().0.unmerged(&schedule, &[]).unwrap();
    assert_eq!((found.records.len(), found.refusals.len()), (1, 1));
    assert_eq!(counting(&RunFolder::read(&folder).unwrap().records), ["2_2"]);
}

#[test]
fn half_a_line_is_no_record_and_what_is_of_no_trial_is_ignored() {
    let (_place, folder, schedule) = place();
    let mut run = attempt(&folder, "1_1").0;
    run.push(&record(&schedule, 0)).unwrap();
    let mut foreign = record(&schedule, 1);
    foreign.trial.seed += 1;
    run.push(&foreign).unwrap();
    let mut line = serde_json::to_string(&record(&schedule, 2)).unwrap();
    line.insert_str(1, "\"attempt\":{\"id\":\"1_1\",\"node\":\"n\"},");
    let (first, second) = line.split_at(40);
    let found = || unmerged(&folder, &schedule, &[], None).unwrap();
    let path = records_of(&folder, AttemptId::of_share(1, 1));
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    for (part, records) in [("{}\n", 1), (first, 1), (second, 1), ("\n", 2)] {
        file.write_all(part.as_bytes()).unwrap();
        let found = found();
        assert_eq!(found.records.len(), records, "{part}");
        assert!(found.warnings[0].contains("2 lines are ignored: line 2"), "{found:?}");
    }
    // Others choose the names of files.
    for name in ["x.jsonl", "1_1;id.jsonl", "$(id).jsonl"] {
        fs::write(folder.join(ATTEMPTS).join(name), "{}\n").unwrap();
    }
    assert_eq!(found().warnings.len(), 1);
}
