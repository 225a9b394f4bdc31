//! Every report shows every metric in its own unit.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use ssdlab_advice as advice;
use ssdlab_flash::FlashActivity;
use ssdlab_host::meter::block::Counters;
use ssdlab_operations::cuts::{CutMoment, CutOutcome, CutVerdict, Damage, DataVerdict};
use ssdlab_plan::metric::{Unit, all, of};
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule};
use ssdlab_report::export::{Samples, csv};
use ssdlab_report::{Style, charts, html, markdown, text};
use ssdlab_results::{
    ByCause, ByKind, ByLayer, Ending, EngineSeries, KindWrites, Latency, Ledger, PhaseRecord,
    Record, Work,
};
use ssdlab_stats::latency::LatencySummary;

use super::records::record;

/// The value of every metric, except ratios of two.
const VALUE: u64 = 22_000_000;

const REPORTED: [&str; 4] = [
    "fio.read_iops",
    "fio.job.write_bytes_per_s",
    "bonnie++.seq_create.latency.max_ns",
    "bonnie++.rewrite.bytes_per_second",
];

/// The metrics that a phase can have.
fn names() -> impl Iterator<Item = &'static str> {
    // Those of Phoronix are of imported tests only.
    let of_phases =
        all().filter(|metric| !metric.is_of_cuts() && !metric.name.starts_with("phoronix."));
    of_phases.map(|metric| metric.name).chain(REPORTED)
}

fn schedule(metric: &str, claims: &str) -> Schedule {
    let answer = if claims.is_empty() { "" } else { "answer = [\"amount\"]" };
    let plan = format!(
        r#"
        name = "units"
        question = "In which unit?"
        metric = "{metric}"
        {answer}
        [factors]
        filesystem = ["ext4", "xfs"]
        [baseline]
        filesystem = "ext4"
        [workload]
        phases = [{{ do = "command", name = "unpack", run = ["true"], reader = true, a_day = 1 }}]
        {claims}
        "#
    );
    let overrides = Overrides { lab: Some(LabKind::Image), runs: Some(2), ..Overrides::default() };
    plan::schedule("p.toml", &plan, &overrides, Path::new("/")).unwrap()
}

/// A phase that has every metric.
fn phase() -> PhaseRecord {
    let value = VALUE as f64;
    let kind = KindWrites { bytes: VALUE, requests: 1 };
    let summary = LatencySummary {
        mean_ns: value,
        p50_ns: VALUE,
        p90_ns: VALUE,
        p99_ns: VALUE,
        p999_ns: VALUE,
        max_ns: VALUE,
    };
    PhaseRecord {
        name: "unpack".to_owned(),
        time_ns: Some(VALUE),
        settled_ns: Some(VALUE),
        cpu_ns: Some(VALUE),
        kernel_threads_ns: Some(VALUE),
        interrupts_ns: Some(VALUE),
        application_bytes: Some(VALUE),
        device: Some(Counters {
            read_requests: VALUE,
            read_bytes: VALUE,
            write_requests: VALUE,
            write_merges: VALUE,
            written_bytes: VALUE,
            discard_requests: VALUE,
            discarded_bytes: VALUE,
            flushes: VALUE,
        }),
        flash: Some(FlashActivity {
            flash_written_bytes: VALUE,
            flash_read_bytes: VALUE,
            erases: VALUE,
            hottest_erases: VALUE,
            repeats_until_worn: Some(value),
            years_until_worn: Some(value),
            repeats_by_bytes: Some(value),
            years_by_bytes: Some(value),
            stalled_ns: VALUE,
        }),
        commits: Some(VALUE),
        work: Some(Work {
            operations: VALUE,
            ops_per_second: value,
            bytes_per_second: Some(value),
            latency: Latency { summary, histogram: String::new() },
            series: EngineSeries { step_ns: 1, operations: vec![1] },
        }),
        reported: names()
            .map(of)
            .filter(|metric| metric.source == plan::metric::Source::Reported)
            .map(|metric| (metric, value))
            .collect(),
        ledger: Some(Ledger {
            by_layer: ByLayer::default(),
            by_kind: Some(ByKind {
                data: kind,
                journal: kind,
                inode: kind,
                directory: kind,
                allocation: kind,
                superblock: kind,
                cow_metadata: kind,
                unattributed: kind,
            }),
            by_cause: Some(ByCause {
                workload_bytes: VALUE,
                reader_bytes: VALUE,
                kernel_bytes: VALUE,
                before_bytes: VALUE,
                others_bytes: VALUE,
                unseen_bytes: VALUE,
            }),
            ..Ledger::default()
        }),
        ..PhaseRecord::default()
    }
}

fn records(schedule: &Schedule) -> Vec<Record> {
    schedule.trials.iter().map(|trial| record(schedule, trial, vec![phase()])).collect()
}

/// Whether a formatted number begins with an amount in this unit, and has no other.
fn is_of(unit: Unit, shown: &str) -> bool {
    // Sentences group digits by commas, and tables end numbers with one.
    let is_digit = |at: usize| shown[at..].starts_with(|c: char| c.is_ascii_digit());
    let is_number =
        |(at, c): (usize, char)| is_digit(at) || c == '.' || (c == ',' && is_digit(at + 1));
    let end =
        shown.char_indices().find(|found| !is_number(*found)).map_or(shown.len(), |(at, _)| at);
    let (number, rest) = shown.split_at(end);
    let symbol = rest.trim_start().split([' ', '[', '(', '<', ',', ';']).next().unwrap_or_default();
    // Sentences end with a full stop.
    let symbol = symbol.trim_end_matches('.');
    let number = number.trim_end_matches('.').replace(',', "");
    let is_spoken = |units: &[&str]| units.contains(&symbol.trim_end_matches('s'));
    let prefixed = |unit: &str| {
        ["", "k", "M", "G", "T"].iter().any(|prefix| symbol == format!("{prefix}{unit}"))
    };
    number.parse::<f64>().is_ok()
        && match unit {
            Unit::Ns => {
                ["ns", "us", "ms", "s", "min"].contains(&symbol)
                    || is_spoken(&["minute", "hour", "day"])
            }
            Unit::Bytes => prefixed("B"),
            Unit::BytesPerS => prefixed("B/s"),
            Unit::PerS => prefixed("/s") || rest.starts_with(" a second"),
            Unit::Years => {
                prefixed("") && rest.contains(" years") || is_spoken(&["year", "month", "day"])
            }
            Unit::Percent => symbol == "%",
            Unit::Ratio => symbol.is_empty(),
            Unit::Number => prefixed(""),
        }
}

/// What follows a text, up to `end`.
fn after<'a>(page: &'a str, text: &str, end: &str) -> &'a str {
    let found = page.split_once(text).unwrap_or_else(|| panic!("{text:?} in {page}")).1;
    found.split(end).next().unwrap().trim()
}

/// The plan's metric, as each report shows it.
fn shown(metric: &str) -> Vec<(&'static str, String)> {
    let schedule = schedule(metric, "");
    let records = records(&schedule);
    let analysis = advice::analyse("run", &schedule, &records, Ending::AllBlocks);
    let text = text(&schedule, &analysis, Style::default());
    let page = html(&schedule, &analysis, "");
    let cell = after(&page, "id=\"treatments-caption\"", "</table>");
    let shown = vec![
        ("text", after(&text, "│ unpack ┆", "┆").to_owned()),
        ("bars", after(&text, "\nunpack: ", " each").to_owned()),
        ("markdown", after(&markdown(&schedule, &analysis), "| unpack |", "|").to_owned()),
        ("html", after(cell, "data-value=", "<").split_once('>').unwrap().1.to_owned()),
    ];
    for chart in charts(&schedule, &analysis) {
        if chart.id == "samples" {
            let (name, value) = after(&chart.says, "Means of ", " (all)").split_once(": ").unwrap();
            let value = value.strip_prefix("unpack ").unwrap();
            assert!(is_of(of(name).unit, value), "{name} in a chart: {value}");
        }
    }
    shown
}

#[test]
fn every_metric_is_shown_in_its_own_unit() {
    let mut golden = String::new();
    for name in names() {
        let unit = of(name).unit;
        let shown = shown(name);
        for (report, value) in &shown {
            assert!(is_of(unit, value), "{name} in {report}: {value}");
        }
        writeln!(golden, "{name}: {}, {}", unit.symbol(), shown[0].1).unwrap();
    }
    insta::assert_snapshot!(golden);
}

/// An amount of a unit as a plan writes it.
fn written(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "22 ms",
        Unit::Bytes => "22 MB",
        Unit::Percent => "50 %",
        Unit::Years => "22000000 years",
        Unit::Ratio => "1",
        _ => "22000000",
    }
}

/// Claims on a metric: on the ratio of two filesystems, and on the amount with one, which is the
/// answer.
fn claims(metric: &str, phase: &str) -> String {
    let claim = |id: &str, says: &str, bound: &str| {
        format!(
            r#"
            [[claims]]
            id = "{id}"
            says = "{says}"
            metric = "{metric}"
            phases = ["{phase}"]
            compare = {{ filesystem = "xfs" }}
            {bound}
            "#
        )
    };
    let amount = format!("at_most = \"{}\"", written(of(metric).unit));
    claim("ratio", "by a ratio", "at_least = 0.5") + &claim("amount", "by an amount", &amount)
}

/// What reports say about both claims: the answer, then the result and the bound in each report.
fn claimed(
    schedule: &Schedule,
    records: &[Record],
    unit: Unit,
) -> Vec<(&'static str, Unit, String)> {
    let analysis = advice::analyse("run", schedule, records, Ending::AllBlocks);
    assert_eq!(analysis.claims.len(), 2);
    let text = text(schedule, &analysis, Style::default());
    let found = |says: &str| {
        let mut lines = after(&text, says, "\n\n").lines().skip(1);
        lines.next().unwrap().trim().trim_start_matches('x').to_owned()
    };
    let bound = |found: &str| {
        let bound = found.split_once("claimed: at ").unwrap().1.split_once(' ').unwrap().1;
        bound.split([';', '(']).next().unwrap().to_owned()
    };
    let (ratio, amount) = (found("by a ratio\n"), found("by an amount\n"));
    let answer = ssdlab_report::answer(schedule, &analysis).sentence;
    let said = answer.split_once(" with xfs is ").map(|(_, said)| said);
    vec![
        ("the ratio", Unit::Ratio, ratio.clone()),
        ("the bound of the ratio", Unit::Ratio, bound(&ratio)),
        ("the amount", unit, amount.clone()),
        ("the bound of the amount", unit, bound(&amount)),
        ("the answer", unit, said.unwrap_or_else(|| panic!("{answer}")).to_owned()),
    ]
}

#[test]
fn claims_and_answers_are_in_the_unit_of_their_metric() {
    for metric in names() {
        let schedule = schedule(metric, &claims(metric, "unpack"));
        for (what, unit, says) in claimed(&schedule, &records(&schedule), of(metric).unit) {
            assert!(is_of(unit, &says), "{metric}: {what}: {says}");
        }
    }
}

/// A power cut that has every metric of cuts.
fn cut(cut: u32) -> CutOutcome {
    let verdict = CutVerdict {
        lost_ns: VALUE,
        lost_bytes: VALUE,
        broken_promises: 1,
        damaged: BTreeMap::from([(Damage::Torn, 1)]),
        ..CutVerdict::default()
    };
    CutOutcome {
        cut,
        survivor: 0,
        state: None,
        at_ns: 0,
        moment: CutMoment::Random,
        phase: "replace".to_owned(),
        unmountable: None,
        recovery_ns: Some(VALUE),
        amiss: None,
        unchecked: false,
        checked_before: None,
        unpromised: None,
        verdict: Some(verdict),
        data: Some(DataVerdict::Rejected("row 7".to_owned())),
    }
}

#[test]
fn claims_on_power_cuts_are_in_the_unit_of_their_metric() {
    for metric in all().filter(|metric| metric.is_of_cuts()) {
        let plan = format!(
            r#"
            name = "units"
            question = "In which unit?"
            baseline = {{ filesystem = "ext4" }}
            factors = {{ filesystem = ["ext4", "xfs"] }}
            virtual = {{ seeds = 1 }}
            cuts = {{ number = 10, check = "true" }}
            answer = ["amount"]
            [workload]
            phases = [{{ do = "replace", replace = {{ files = 2, rounds = 2 }} }}]
            {}
            "#,
            claims(metric.name, "replace")
        );
        let schedule =
            plan::schedule("p.toml", &plan, &Overrides::default(), Path::new("/")).unwrap();
        let record =
            |trial| Record { cuts: (0..40).map(cut).collect(), ..Record::new(&schedule, trial, 0) };
        let records: Vec<Record> = schedule.trials.iter().copied().map(record).collect();
        for (what, unit, says) in claimed(&schedule, &records, metric.unit) {
            assert!(is_of(unit, &says), "{metric}: {what}: {says}");
        }
    }
}

#[test]
fn every_sample_is_exported_with_its_unit() {
    let schedule = schedule("time_ns", "");
    let records = records(&schedule);
    let mut file = Vec::new();
    csv(&Samples::new("run", &schedule, &records), &mut file).unwrap();
    let file = String::from_utf8(file).unwrap();
    let of_trial = file.lines().skip(1).filter(|line| line.split(',').nth(5) == Some("0"));
    let rows: Vec<Vec<&str>> = of_trial.map(|line| line.rsplitn(4, ',').collect()).collect();
    for name in names() {
        let row = rows.iter().find(|row| row[2] == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(row[1], of(name).unit.symbol(), "{name}");
    }
    assert_eq!(rows.len(), names().count());
}
