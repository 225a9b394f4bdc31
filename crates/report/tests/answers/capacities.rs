//! Several drives in a run have their own capacities, and reports say which has which.

use std::path::Path;

use ssdlab_advice::analyse;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{CAPACITY_BYTES, Factor, Overrides, schedule};
use ssdlab_report::{Style, html, markdown, text, why};
use ssdlab_results::{Ending, Record};

use super::phase;

const GB: u64 = 1_000_000_000;

/// NEWCOMER.md, "Small": "capacity 4.0 GB and 80 GB and 100 GB".
#[test]
fn where_capacities_differ_each_is_named_with_its_drives() {
    let plan = "name = \"drives\"\nquestion = \"Which?\"\n[factors]\nfilesystem = \"ext4\"\n\
                [virtual.factors]\ndrive = [\"vertex-le\", \"x25m-g1\", \"eeepc-4g\"]\n\
                [baseline]\ndrive = \"vertex-le\"\n\
                [workload]\nphases = [{ do = \"unpack\" }]\n";
    let schedule = schedule("drives", plan, &Overrides::default(), Path::new("/")).unwrap();
    let told = |capacity: fn(&str) -> u64| {
        let of = |trial: &Trial| {
            let levels = &schedule.treatments[trial.treatment].levels;
            let bytes = capacity(&levels.0[&Factor::Drive]).to_string();
            Record {
                phases: vec![phase("unpack", levels, trial.block)],
                applied: [(CAPACITY_BYTES.to_owned(), bytes)].into(),
                ..Record::new(&schedule, *trial, 0)
            }
        };
        let records: Vec<Record> = schedule.trials.iter().map(of).collect();
        let analysis = analyse("run", &schedule, records, Ending::AllBlocks);
        [
            why(&schedule, &analysis, Style::default()),
            text(&schedule, &analysis, Style::default()),
            markdown(&schedule, &analysis),
            html(&schedule, &analysis, plan),
        ]
    };
    let each = |drive: &str| match drive {
        "vertex-le" => 100 * GB,
        "x25m-g1" => 80 * GB,
        _ => 4 * GB,
    };
    let two = |drive: &str| if drive == "eeepc-4g" { 4 * GB } else { 80 * GB };
    let says = "capacity 4.0 GB (eeepc-4g), 80.0 GB (x25m-g1) and 100.0 GB (vertex-le)";
    for (report, of_two) in told(each).into_iter().zip(told(two)) {
        // Markdown escapes.
        let [report, of_two] = [report, of_two].map(|report| report.replace('\\', ""));
        assert!(report.contains(says), "{report}");
        let says = "capacity 4.0 GB (eeepc-4g) and 80.0 GB (vertex-le and x25m-g1)";
        assert!(of_two.contains(says), "{of_two}");
    }
    for report in told(|_| 4 * GB) {
        assert!(report.contains("capacity 4.0 GB, condition"), "{report}");
    }
}
