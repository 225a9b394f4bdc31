use std::io::Write;

use ssdlab_plan::Overrides;

use super::*;
use crate::{Attempt, Run};

fn schedule() -> Schedule {
    let plan = "name = \"p\"\nquestion = \"?\"\n[factors]\ndiscard = [\"off\", \"on\"]\n\
                    [workload]\nphases = [{ do = \"sync\" }]\n";
    ssdlab_plan::schedule("p.toml", plan, &Overrides::default(), Path::new("/")).unwrap()
}

/// A run's folder, its schedule, and the record of each of its trials.
fn place() -> (tempfile::TempDir, PathBuf, Schedule) {
    let place = tempfile::tempdir().unwrap();
    let schedule = schedule();
    let run = Run::create(place.path(), "p", "", &schedule).unwrap();
    let folder = run.folder().to_owned();
    fs::create_dir(folder.join(ATTEMPTS)).unwrap();
    (place, folder, schedule)
}

fn id_of(text: &str) -> AttemptId {
    AttemptId::read(text).unwrap()
}

fn attempt(folder: &Path, id: &str) -> Run {
    let attempt = Attempt { id: id_of(id), node: "node1".to_owned() };
    Run::attempt(folder, attempt).unwrap().0
}

fn record(schedule: &Schedule, trial: usize) -> Record {
    Record::new(schedule, schedule.trials[trial], 1)
}

#[test]
fn a_trial_that_was_tried_twice_counts_once_and_by_submission() {
    let (_place, folder, schedule) = place();
    let mut attempts = Attempts::new(&folder, &[]);
    // 10 was submitted after 9, whatever letters say.
    for id in ["10_1", "9_2"] {
        attempt(&folder, id).push(&record(&schedule, 0)).unwrap();
    }
    let news = attempts.news(&schedule).unwrap();
    assert_eq!(news.records.len(), 1);
    assert_eq!(news.records[0].attempt.as_ref().unwrap().id, id_of("9_2"));
    assert_eq!((news.doubles[0].attempt, news.doubles[0].counts.as_str()), (id_of("10_1"), "9_2"));
    // What arrives later does not change what counts.
    attempt(&folder, "1_1").push(&record(&schedule, 0)).unwrap();
    let later = attempts.news(&schedule).unwrap();
    assert_eq!((later.records.len(), later.doubles.len()), (0, 1));
    // Reading everything again, with these records, finds nothing new.
    let again = Attempts::new(&folder, &news.records).news(&schedule).unwrap();
    assert_eq!((again.records.len(), again.doubles.len()), (0, 2));
}

#[test]
fn a_node_that_cannot_run_a_trial_does_not_take_it_from_others() {
    let (_place, folder, schedule) = place();
    let mut refusal = record(&schedule, 0);
    refusal.status = Status::Unavailable;
    attempt(&folder, "1_1").push(&refusal).unwrap();
    attempt(&folder, "1_2").push(&record(&schedule, 0)).unwrap();
    let news = Attempts::new(&folder, &[]).news(&schedule).unwrap();
    assert_eq!((news.records.len(), news.refusals.len(), news.doubles.len()), (1, 1, 0));
}

#[test]
fn an_element_that_is_started_again_is_another_attempt() {
    let (_place, folder, schedule) = place();
    for trial in [0, 1] {
        attempt(&folder, "1_1").push(&record(&schedule, trial)).unwrap();
    }
    let news = Attempts::new(&folder, &[]).news(&schedule).unwrap();
    let ids = news.records.iter().map(|record| record.attempt.as_ref().unwrap().id);
    assert_eq!(ids.collect::<Vec<_>>(), ["1_1", "1_1_2"].map(id_of));
}

#[test]
fn a_marker_that_cannot_be_read_is_not_taken_for_undone() {
    let (_place, folder, _) = place();
    let attempts = Attempts::new(&folder, &[]);
    fs::write(node_of(&folder, id_of("1_1")), "node1\narray\n/var/lib/ssdlab/undo/7.undo\n")
        .unwrap();
    fs::write(node_of(&folder, id_of("1_2")), "").unwrap();
    let found = attempts.not_undone().unwrap();
    assert_eq!((found.left.len(), found.unreadable.len()), (1, 0));
    assert_eq!(found.left[0].journal, Path::new("/var/lib/ssdlab/undo/7.undo"));
    assert!(!attempts.is_undone(id_of("1_1")).unwrap());
    assert!(attempts.is_undone(id_of("1_2")).unwrap());
    for text in [
        &b"node1\narray\n"[..],
        b"node1\narray\n/var/lib",
        b"\xff\n\n\n",
        b"\n",
        b"node1\narray\nlib/7.undo\n",
        b"node1\narray\n/lib/\x007.undo\n",
    ] {
        fs::write(node_of(&folder, id_of("1_2")), text).unwrap();
        let found = attempts.not_undone().unwrap();
        assert_eq!((found.left.len(), found.unreadable.len()), (1, 1), "{text:?}");
        assert!(attempts.is_undone(id_of("1_2")).is_err());
    }
    fs::remove_file(node_of(&folder, id_of("1_2"))).unwrap();
    fs::create_dir(node_of(&folder, id_of("1_2"))).unwrap();
    assert_eq!(attempts.not_undone().unwrap().unreadable.len(), 1);
}

#[test]
fn half_a_line_is_waited_for_and_what_is_of_no_trial_left_out() {
    let (_place, folder, schedule) = place();
    let mut attempts = Attempts::new(&folder, &[]);
    let mut run = attempt(&folder, "1_1");
    run.push(&record(&schedule, 0)).unwrap();
    let mut foreign = record(&schedule, 1);
    foreign.trial.seed += 1;
    run.push(&foreign).unwrap();
    let path = records_of(&folder, id_of("1_1"));
    let mut line = serde_json::to_string(&record(&schedule, 2)).unwrap();
    line.insert_str(1, "\"attempt\":{\"id\":\"1_1\",\"node\":\"n\"},");
    let (first, second) = line.split_at(40);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(first.as_bytes()).unwrap();
    let news = attempts.news(&schedule).unwrap();
    assert_eq!((news.records.len(), news.warnings.len()), (1, 1), "{news:?}");
    file.write_all(second.as_bytes()).unwrap();
    assert_eq!(attempts.news(&schedule).unwrap().records.len(), 0);
    file.write_all(b"\n").unwrap();
    assert_eq!(attempts.news(&schedule).unwrap().records.len(), 1);
}

/// Others choose the names of files, which get into scripts.
#[test]
fn a_file_that_is_not_called_after_an_attempt_is_none() {
    let (_place, folder, schedule) = place();
    let text = "node1\nsubmission\n/state/ssdlab/undo/x.jsonl\n";
    for name in ["1_1.node", "1_1;id.node", "$(id).node", "x.node"] {
        fs::write(folder.join(ATTEMPTS).join(name), text).unwrap();
    }
    fs::write(folder.join(ATTEMPTS).join("x.jsonl"), "{}\n").unwrap();
    let mut attempts = Attempts::new(&folder, &[]);
    let found = attempts.not_undone().unwrap();
    assert!(found.unreadable.is_empty());
    assert_eq!(found.left.iter().map(|left| left.id).collect::<Vec<_>>(), [id_of("1_1")]);
    assert!(attempts.news(&schedule).unwrap().warnings.is_empty());
}
