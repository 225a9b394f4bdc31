//! Equal trials are equal jobs, and drives keep their identities.

use ssdlab_plan::{LabKind, Overrides};

use super::*;

/// The schedule of a plan, with a drive file in some folder.
fn schedule(plan: &str, base: &str) -> Schedule {
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    ssdlab_plan::schedule("plan.toml", plan, &overrides, Path::new(base)).unwrap()
}

#[test]
fn equal_trials_are_equal_jobs_wherever_and_for_whatever_they_run() {
    let work = "[workload]\nphases = [{ do = \"unpack\", sync = true }]\n";
    let plan = |name: &str, rest: &str| {
        format!(
            "name = \"{name}\"\nquestion = \"{name}?\"\n[factors]\ndrive = \"./x.toml\"\n\
             discard = [\"off\", \"on\"]\n{work}{rest}"
        )
    };
    let claim = "[[claims]]\nid = \"c\"\nsays = \"s\"\nphases = [\"unpack\"]\n\
                 compare = { discard = \"on\" }\nat_least = 2\n";
    let one = schedule(&plan("one", ""), "/here");
    let other = schedule(&plan("other", &format!("{claim}[virtual]\nseeds = 7\n")), "/there");
    let text = |schedule: &Schedule, trial: &Trial| {
        let assignment = Assignment::of(schedule, *trial).unwrap();
        serde_json::to_string(&job(&assignment, schedule.seed).unwrap()).unwrap()
    };
    let first = one.trials[0];
    assert_eq!(text(&one, &first), text(&other, &other.trials[0]));
    assert!(!text(&one, &first).contains("here"));
    // Another treatment is another job.
    let second = one.trials.iter().find(|trial| trial.treatment != first.treatment).unwrap();
    assert_ne!(text(&one, &first), text(&one, second));
}

/// Records and caches hold identities: a program that names the same drive otherwise would take
/// the drive of an earlier run for another one.
#[test]
fn the_identities_of_shipped_drives_stay() {
    for (name, known) in [
        ("eeepc-4g", "9d80702ebbd71a58"),
        ("sd-card", "a3c2c73e47fd7576"),
        ("x25m-g1", "52a85ca06d7e7855"),
        ("sata-tlc", "5755429d85596bf4"),
        ("970-pro", "2f2867852476f743"),
        ("optane", "10b88bcb546212a5"),
    ] {
        let preset = ssdlab_flash::presets::find(name).unwrap();
        assert_eq!(identity(&Specification::parse(preset.text).unwrap()), known, "{name}");
    }
}
