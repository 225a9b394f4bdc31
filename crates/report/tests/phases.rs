//! Claims that compare two phases: what reports say of them, in every format.

use std::path::Path;

use ssdlab_advice::{Analysis, analyse};
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Overrides, Schedule, schedule};
use ssdlab_report::{Style, answer, html, markdown, screen, text};
use ssdlab_results::{Ending, EngineSeries, Latency, PhaseRecord, Record, Work};
use ssdlab_stats::latency::LatencySummary;

/// What each write of both phases is.
const SYNCED: &str = "size = \"4 MiB\", sync = \"every 1 write\", operations = 1000";

/// tursodatabase/turso#1864, June 2025: 1969 against 722 transactions a second.
fn plan(filesystem: &str, claim: &str) -> Schedule {
    let text = format!(
        r#"
name = "turso"
question = "Does a WAL synced by fdatasync commit more often than one synced by fsync?"
metric = "ops_per_second"
[factors]
filesystem = {filesystem}
[virtual]
seeds = 16
[virtual.factors]
drive = "tlc-dram"
host = "modern-2020s"
[workload]
phases = [
    {{ do = "io", name = "fdatasync", io = {{ {SYNCED} }} }},
    {{ do = "io", name = "fsync", io = {{ {SYNCED}, sync_by = "fsync" }} }},
]
[[claims]]
id = "twice"
says = "fdatasync commits at least half as often again"
compare = {{ phase = "fdatasync" }}
against = {{ phase = "fsync" }}
{claim}
"#
    );
    schedule("p.toml", &text, &Overrides::default(), Path::new("/")).unwrap()
}

fn run(schedule: &Schedule) -> Analysis {
    let of = |trial: &Trial| {
        let levels = schedule.treatments[trial.treatment].levels.to_string();
        let of_xfs = if levels.contains("xfs") { 2 } else { 1 };
        let more = u64::from(trial.block);
        let phase = |(name, flushes): (&str, u64)| {
            let ops_per_second = 2e6 / (flushes + more) as f64;
            let device =
                Counters { flushes, written_bytes: 4_096 * flushes, ..Counters::default() };
            let latency = Latency { summary: LatencySummary::default(), histogram: String::new() };
            PhaseRecord {
                name: name.to_owned(),
                time_ns: Some(1_000_000 * (flushes + more)),
                is_quiet: Some(true),
                device: Some(device),
                work: Some(Work {
                    operations: 1_000,
                    ops_per_second,
                    bytes_per_second: None,
                    latency,
                    series: EngineSeries { step_ns: 1, operations: vec![1] },
                }),
                ..PhaseRecord::default()
            }
        };
        let phases = [("fdatasync", 1_000), ("fsync", 1_000 + 900 / of_xfs)].map(phase);
        Record { phases: phases.to_vec(), ..Record::new(schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    analyse("r", schedule, records, Ending::AllBlocks)
}

#[test]
fn case_phases_cannot_be_compared_turso_1864_the_answer_says_how_the_phases_compare_and_why() {
    let schedule = plan("\"ext4\"", "at_least = 1.5");
    let analysis = run(&schedule);
    let sentence = answer(&schedule, &analysis).sentence;
    let begins = "Yes. The rate of operations in fdatasync is 1.9 times that in fsync.";
    assert!(sentence.starts_with(begins), "{sentence}");
    let sides = "phase = fdatasync against phase = fsync (filesystem = ext4, drive = tlc-dram";
    let text = text(&schedule, &analysis, Style::default());
    assert!(text.contains(&format!("          {sides}")), "{text}");
    assert!(text.contains("there are 1.00 k flushes against 1.90 k; it writes 3.69 MB less"));
    let markdown = markdown(&schedule, &analysis);
    assert!(markdown.contains("phase = fdatasync against phase = fsync"), "{markdown}");
    let page = html(&schedule, &analysis, "");
    assert!(page.contains("<code>ops_per_second</code> of fdatasync against fsync"), "{page}");
    let json = serde_json::to_value(&analysis).unwrap();
    let phases = (&json["claims"][0]["phases"][0], &json["claims"][0]["against_phase"]);
    assert_eq!(phases, (&"fdatasync".into(), &"fsync".into()));
    assert!(screen(&schedule, &analysis, Style::default()).contains("fsync"));
}

#[test]
fn cases_share_the_phases_and_differ_in_the_treatment() {
    let schedule = plan("[\"ext4\", \"xfs\"]", "metric = \"time_ns\"\nat_most = 0.7");
    let analysis = run(&schedule);
    let sentence = answer(&schedule, &analysis).sentence;
    assert!(sentence.starts_with("Yes. Fdatasync takes 0.5"), "{sentence}");
    assert!(sentence.contains(" times as long as fsync in 2 cases"), "{sentence}");
    let text = text(&schedule, &analysis, Style::default());
    let shared = "2 cases   fdatasync commits at least half as often again\n          \
                  phase = fdatasync against phase = fsync\n";
    assert!(text.contains(shared), "{text}");
    for case in ["holds     filesystem = ext4: x0.5", "holds     filesystem = xfs: x0.6"] {
        assert!(text.contains(case), "{text}");
    }
}
