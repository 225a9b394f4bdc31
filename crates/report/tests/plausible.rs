//! Claims over plausible drives, in words.

use std::collections::BTreeMap;
use std::path::Path;

use ssdlab_advice::{Analysis, analyse};
use ssdlab_flash::Draw;
use ssdlab_flash::evidence::Value;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Overrides, Schedule, schedule};
use ssdlab_report::{Style, markdown, text};
use ssdlab_results::{Ending, PhaseRecord, Record};

const PLAN: &str = r#"
name = "p"
question = "Does discard cost?"
answer = ["ten"]
[factors]
discard = ["off", "on"]
[virtual]
plausible = 9
[baseline]
discard = "off"
[workload]
phases = [{ do = "delete", sync = true }]
[[claims]]
id = "ten"
says = "s"
phases = ["delete"]
compare = { discard = "on" }
at_least = 10
"#;

/// The report, as text on one line, and as Markdown, of a run in which discard multiplies the time
/// by `cost` of each block's drive.
fn told(cost: impl Fn(u32) -> f64) -> [String; 2] {
    let schedule: Schedule =
        schedule("p.toml", PLAN, &Overrides::default(), Path::new("/")).unwrap();
    let of = |trial: &Trial| {
        let levels = schedule.treatments[trial.treatment].levels.to_string();
        let factor = if levels.contains("discard = on") { cost(trial.block) } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let time_ns = (1e9 * factor) as u64;
        let phase = PhaseRecord {
            name: "delete".to_owned(),
            time_ns: Some(time_ns),
            ..PhaseRecord::default()
        };
        let drawn = |number: u32| Draw {
            values: BTreeMap::from([("trim".to_owned(), Value::Integer(i64::from(number)))]),
            redrawn: 0,
        };
        let draw = schedule.draw_of(trial.block).map(drawn);
        Record { phases: vec![phase], draw, ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    let analysis: Analysis = analyse("r", &schedule, &records[..], Ending::AllBlocks);
    let told = [text(&schedule, &analysis, Style::default()), markdown(&schedule, &analysis)];
    told.map(|told| told.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn assert_says(told: &[String; 2], words: &[&str]) {
    for word in words {
        assert!(told.iter().any(|told| told.contains(word)), "no `{word}` in {told:#?}");
    }
}

#[test]
fn a_range_holds_the_value_that_it_stands_beside() {
    let found = told(|block| if block == 0 { 14.7 } else { 10.0 + f64::from(block) / 10.0 });
    assert_says(
        &found,
        &[
            "x14.7 (10.1 to 14.7)",
            "10 to 15 times on nine variants of the drive",
            "x14.7 on the published drive; 10.1 to 14.7 with 9 plausible drives (their median: \
             10.5)",
            "true on all 9 plausible drives, so on at least 71 % of such drives (95 % confidence)",
        ],
    );
}

#[test]
fn a_claim_that_is_false_on_all_drives_but_the_published_one_says_so() {
    let found = told(|block| if block == 0 { 14.7 } else { 2.0 });
    assert_says(
        &found,
        &[
            "No. Delete with discard on takes 2.0 times as long as with discard off.",
            "2.0 to 15 times on nine variants of the drive, unlike the drive itself",
            "false on all 9 plausible drives, so on at least 71 % of such drives (95 % \
             confidence), but true on the published drive",
        ],
    );
}

#[test]
fn a_parameter_is_named_only_if_chance_would_not_name_one_as_well() {
    let found = told(|block| if block > 6 { 30.0 } else { 3.0 });
    assert_says(&found, &["best told apart by trim: holds above 5 on 9 of 9 (p = 0.024)"]);
    // One of nine: the first or the last is separated by any parameter, in two of nine ways.
    let found = told(|block| if block > 8 { 30.0 } else { 3.0 });
    let says = "9 drives do not tell which parameter decides; ssdlab flip changes one at a time";
    assert_says(&found, &[says]);
    assert!(!found[1].contains("best told apart"), "{}", found[1]);
}
