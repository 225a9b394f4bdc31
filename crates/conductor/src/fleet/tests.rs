//! What attempts logged becomes the run's, if it counts.

use ssdlab_plan::Overrides;
use ssdlab_results::{Attempt, AttemptId};

use super::*;

#[test]
fn a_run_takes_all_logs_of_the_attempts_that_count() {
    let plan = "name = \"p\"\nquestion = \"Is it?\"\n[workload]\nphases = [{ do = \"sync\" }]\n";
    let schedule = ssdlab_plan::schedule("p", plan, &Overrides::default(), Path::new("/")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let run = place.path();
    let (trial, other) = (schedule.trials[0], schedule.trials[1]);
    let id = AttemptId::read("7_0").unwrap();
    let delivered = logs_of(run, id);
    fs::create_dir_all(&delivered).unwrap();
    for file in [books::log_of(&delivered, trial), books::functions_of(&delivered, trial)] {
        fs::write(file, "").unwrap();
    }
    let double = books::log_of(&delivered, other);
    fs::write(&double, "").unwrap();
    let attempt = Some(Attempt { id, node: "n".to_owned() });
    let record = Record { attempt, ..Record::new(&schedule, trial, 0) };
    take_logs(run, &[record]).unwrap();
    let logs = run.join("requests");
    assert!(books::log_of(&logs, trial).exists() && books::functions_of(&logs, trial).exists());
    // Another attempt's record of this trial counts.
    assert!(double.exists());
}
