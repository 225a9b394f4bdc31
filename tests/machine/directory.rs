//! The directory lab and the image lab perform every workload and every shipped log.

use std::fs;

use super::every_workload;
use super::support::{Place, shown};
use super::{Case, Needs};

pub fn cases() -> Vec<Case> {
    let case = |lab: &'static str, filesystem, needs| {
        let name = Box::leak(format!("every_workload_and_shipped_log_runs_in_lab_{lab}").into());
        Case::new(name, needs, move || runs(lab, filesystem))
    };
    vec![case("directory", "any", Needs::Nothing), case("image", "ext4", Needs::Root)]
}

/// Runs all workloads in a lab, which leaves nothing behind.
fn runs(lab: &str, filesystem: &str) {
    for workload in every_workload::all() {
        let place = Place::new();
        let size = if lab == "image" { "size = \"2 GiB\"\n" } else { "" };
        let plan = place.plan(&format!(
            "name = \"all\"\nquestion = \"Does it run?\"\n[target]\nlab = \"{lab}\"\n{size}\
             [factors]\nfilesystem = \"{filesystem}\"\n[repetitions]\nleast = 1\nmost = 1\n\
             [workload]\n{workload}\n"
        ));
        let folder = place.path("images");
        let output = place.ssdlab(&["run", &plan, "--dir"]).arg(&folder).output().unwrap();
        assert!(output.status.success(), "{workload}: {}", shown(&output));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{workload}");
    }
}
