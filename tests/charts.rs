//! Charts of fixed records: their exact contents, and that nothing overlaps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;
use ssdlab_advice::{self as advice, Analysis};
use ssdlab_flash::Draw;
use ssdlab_plan::{self as plan, LabKind, Levels, Overrides, Schedule, shipped};
use ssdlab_report::{Chart, charts};
use ssdlab_results::{Ending, Record};

/// A plan with some treatments; each phase is named, because names are the plan's.
fn plan(factors: &str, baseline: &str, phases: &[&str]) -> Schedule {
    let phases: Vec<String> =
        phases.iter().map(|name| format!("{{ do = \"sync\", name = {} }}", json!(name))).collect();
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n[factors]\n{factors}\n[baseline]\n{baseline}\n\
         [workload]\nphases = [{}]\n[repetitions]\nleast = 3\nmost = 3\n",
        phases.join(", ")
    );
    scheduled(&plan, None)
}

fn scheduled(plan: &str, runs: Option<u32>) -> Schedule {
    let overrides = Overrides { lab: Some(LabKind::Virtual), runs, ..Overrides::default() };
    plan::schedule("plan.toml", plan, &overrides, Path::new("/")).unwrap()
}

/// A measured phase; its counts follow from its time.
fn phase(name: &str, time_ns: u64) -> serde_json::Value {
    json!({
        "name": name, "time_ns": time_ns, "settled_ns": time_ns, "is_quiet": true, "cpu_ns": 0,
        "application_bytes": time_ns / 10, "at_return": null, "lifetime_kib": null,
    })
}

/// Adds what a phase has that counts its operations.
fn with_work(mut phase: serde_json::Value, ops_per_second: f64, moves: bool) -> serde_json::Value {
    let work = json!({
        "operations": 1000,
        "ops_per_second": ops_per_second,
        "bytes_per_second": if moves { Some(ops_per_second * 8192.0) } else { None },
        "latency": {
            "mean_ns": 1e9 / ops_per_second, "p50_ns": 90_000, "p90_ns": 200_000,
            "p99_ns": 1_500_000, "p999_ns": 40_000_000, "max_ns": 700_000_000, "histogram": "",
        },
        "series": { "step_ns": 10_000_000, "operations": vec![100; 10] },
    });
    phase.as_object_mut().unwrap().extend(work.as_object().unwrap().clone());
    phase
}

/// Adds what a phase on a simulated drive has.
fn with_device(mut phase: serde_json::Value, written_bytes: u64) -> serde_json::Value {
    let counts = json!({
        "read_requests": 0, "read_bytes": 0, "write_requests": written_bytes / 100_000,
        "written_bytes": written_bytes, "discard_requests": 0, "discarded_bytes": 0, "flushes": 1,
        "flash_written_bytes": written_bytes * 3 / 2, "flash_read_bytes": 0, "erases": 1,
        "stalled_ns": 0,
    });
    phase.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
    phase
}

/// A record for every trial; `phases` are those of a treatment in a block.
fn records(
    schedule: &Schedule,
    phases: impl Fn(&Levels, u32) -> Vec<serde_json::Value>,
) -> Vec<Record> {
    let record = |trial: &plan::schedule::Trial| {
        let levels = &schedule.treatments[trial.treatment].levels;
        serde_json::from_value(json!({
            "schema": 1, "trial": trial, "levels": levels, "lab": "virtual", "status": "ok",
            "reason": null, "fingerprint": null, "started_s": 0, "took_ns": 1,
            "written_bytes": 0, "background_written_bytes": 0,
            "phases": phases(levels, trial.block), "teardown": null, "applied": {},
            "environment": ssdlab_host::meter::environment::Environment::default(), "smart": null,
        }))
        .unwrap()
    };
    schedule.trials.iter().map(record).collect()
}

fn analysed(schedule: &Schedule, records: &[Record]) -> Analysis {
    advice::analyse("run", schedule, records, Ending::AllBlocks)
}

fn drawn(schedule: &Schedule, records: &[Record]) -> Vec<Chart> {
    let charts = charts(schedule, &analysed(schedule, records));
    for chart in &charts {
        assert_sound(chart);
    }
    let ids: BTreeSet<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids.len(), charts.len());
    charts
}

fn find<'a>(charts: &'a [Chart], id: &str) -> &'a Chart {
    charts.iter().find(|chart| chart.id == id).unwrap_or_else(|| panic!("no {id}"))
}

/// A text of a chart and its bounding box: left, top, right, bottom.
type Placed = (String, [f64; 4]);

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    Some(rest.split_once('"')?.0)
}

fn texts(svg: &str) -> Vec<Placed> {
    let mut texts = Vec::new();
    for element in svg.split("<text").skip(1) {
        // Attributes that an element lacks are those of the whole drawing, or SVG's defaults.
        let number = |name: &str, usual: f64| {
            attribute(element, name).map_or(usual, |number| number.parse().unwrap())
        };
        let content = element.split_once('>').unwrap().1.split_once("</text>").unwrap().0.trim();
        let size = number("font-size", 20.0);
        // Glyphs are narrower than this in every common font.
        let shown = content.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        let shown = shown.replace("&apos;", "'").replace("&amp;", "&");
        let width = textwrap::core::display_width(&shown) as f64 * 0.62 * size;
        let left = number("x", 0.0)
            - match attribute(element, "text-anchor").unwrap_or("start") {
                "start" => 0.0,
                "middle" => width / 2.0,
                _ => width,
            };
        let top = match attribute(element, "dy").unwrap() {
            "0.76em" => number("y", 0.0),
            _ => number("y", 0.0) - size / 2.0,
        };
        texts.push((content.to_owned(), [left, top, left + width, top + size]));
    }
    texts
}

/// Asserts that an SVG is well-formed and stays within its frame, and that no texts overlap.
fn assert_sound(chart: &Chart) {
    let svg = &chart.svg;
    assert!(chart.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1600 "));
    assert!(svg.contains("role=\"img\" aria-label=\"") && svg.contains("\n<title>"), "{svg}");
    assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN") && !svg.contains("inf"));
    assert!(!chart.says.is_empty() && !chart.says.contains("NaN"), "{}", chart.says);
    let height = attribute(svg, "viewBox").unwrap().rsplit_once(' ').unwrap().1;
    let frame = [0.0, 0.0, 1600.0, height.parse().unwrap()];
    let texts = texts(svg);
    for (index, (text, one)) in texts.iter().enumerate() {
        let is_inside = one[0] >= frame[0] && one[1] >= frame[1];
        assert!(is_inside && one[2] <= frame[2] && one[3] <= frame[3], "{}: {text}", chart.id);
        for (other_text, other) in &texts[index + 1..] {
            let apart = one[2] <= other[0]
                || other[2] <= one[0]
                || one[3] <= other[1]
                || other[3] <= one[1];
            assert!(apart, "{}: `{text}` lies on `{other_text}`: {one:?} {other:?}", chart.id);
        }
    }
}

fn count(svg: &str, element: &str) -> usize {
    svg.matches(&format!("<{element} ")).count()
}

/// Title, text alternative, texts in order, and the number of elements of each kind.
fn essentials(charts: &[Chart]) -> String {
    let mut out = String::new();
    for chart in charts {
        writeln!(out, "{}: {}\n  {}", chart.id, chart.title, chart.says).unwrap();
        let texts: Vec<String> = texts(&chart.svg).into_iter().map(|(text, _)| text).collect();
        writeln!(out, "  {}", texts.join(" | ")).unwrap();
        let kinds = ["circle", "rect", "line", "polyline", "polygon"];
        let counts = kinds.map(|kind| format!("{} {kind}", count(&chart.svg, kind)));
        writeln!(out, "  {}\n", counts.join(", ")).unwrap();
    }
    out
}

const DISCARD: [&str; 2] = ["discard = [\"off\", \"on\"]", "discard = \"off\""];

/// Two phases, one of which discards make a hundred times slower.
fn slow_sync(levels: &Levels, block: u32) -> Vec<serde_json::Value> {
    let is_on = levels.to_string().contains("discard = on");
    let jitter = 1_000_000 * u64::from(block * 7 % 5);
    let sync = if is_on { 40_410_000_000 } else { 170_000_000 };
    let unpack = with_work(phase("unpack", 1_210_000_000 + jitter), 10_000.0, true);
    vec![with_device(unpack, 0), with_device(phase("sync", sync + jitter), 520_000_000)]
}

#[test]
fn charts_say_what_was_measured() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let records = records(&schedule, slow_sync);
    let charts = drawn(&schedule, &records);
    assert_eq!(charts, drawn(&schedule, &records));
    insta::assert_snapshot!(essentials(&charts));
}

/// A treatment of which no cut had a finding is shown with what that leaves possible.
#[test]
fn power_cuts_are_drawn_with_their_intervals() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    for record in &mut records {
        let harms = |cut: u64| record.trial.treatment > 0 && cut < 4;
        let cut = |cut: u64| {
            let verdict = json!({
                "damaged": if harms(cut) { json!({ "empty": 1 }) } else { json!({}) },
                "broken_promises": u32::from(harms(cut)), "lost_operations": 2 * cut,
                "lost_bytes": 0, "lost_ns": 0,
            });
            let cut = json!({
                "cut": cut, "survivor": 0, "at_ns": cut, "moment": "event", "phase": "sync",
                "recovery_ns": 1000, "unpromised": 9, "verdict": verdict,
            });
            serde_json::from_value(cut).unwrap()
        };
        record.cuts = (0..10).map(cut).collect();
    }
    let charts = drawn(&schedule, &records);
    let cuts = charts.iter().find(|chart| chart.id == "power-cuts").unwrap();
    assert!(cuts.says.starts_with("A cut broke a promise most often with "), "{}", cuts.says);
    assert!(cuts.says.contains("24 of 60.") && cuts.says.contains("No cut made the check fail."));
    assert!(cuts.svg.contains("0 of 60"), "{}", cuts.svg);
    let at_risk = charts.iter().find(|chart| chart.id == "at-risk-sync").unwrap();
    let says = "The most operations that a cut lost: 18 (all). 24 of 120 cuts broke a promise.";
    assert_eq!(at_risk.says, says);
    assert!(!charts.iter().any(|chart| chart.id == "at-risk-unpack"));
}

/// The course of a simulated drive that has to collect garbage, or does not.
fn course(collects: bool) -> serde_json::Value {
    let own = if collects { 3 } else { 1 };
    json!({
        "phases_ns": { "unpack": 0, "sync": 2_000_000_000_u64 },
        "at_ns": [0, 1_000_000_000_u64, 4_000_000_000_u64],
        "free_blocks": if collects { [90, 10, 10] } else { [90, 80, 70] },
        "host_page_bytes": [0, 1_000_000, 4_000_000],
        "flash_written_bytes": [0, 1_000_000 * own, 4_000_000 * own],
        "stalled_ns": [0, 500_000 * (own - 1), 2_000_000 * (own - 1)],
        "wear": {
            "blocks": 100, "least": 0, "median": own - 1, "most": own - 1, "mean": 0.5,
            "endurance": null,
            "histogram": if collects {
                json!([{ "from": 0, "to": 0, "blocks": 25 }, { "from": 2, "to": 2, "blocks": 75 }])
            } else {
                json!([{ "from": 0, "to": 0, "blocks": 100 }])
            },
        },
    })
}

fn with_drives(records: &mut [Record], collects: impl Fn(&Record) -> bool) {
    for record in records {
        let course = course(collects(record));
        record.drive = Some(serde_json::from_value(course).unwrap());
    }
}

#[test]
fn a_drive_is_drawn_over_time_and_by_its_wear() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    with_drives(&mut records, |record| record.levels.to_string().contains("discard = on"));
    let charts = drawn(&schedule, &records);
    let drive = find(&charts, "drive");
    assert_eq!(
        drive.says,
        "On average over trials, free blocks: at least 10.0 % (discard on) to 70.0 % \
         (discard off); own writes: at most 0 B/s \
         (discard off) to 2.00 MB/s (discard on); stalls: at most 0 ns (discard off) to 1.00 ms \
         (discard on)."
    );
    // Two treatments, each with free blocks, own writes and stalls, and the start of one phase.
    let titles = texts(&drive.svg).into_iter().filter(|(text, _)| text.contains("discard o"));
    assert_eq!(titles.count(), 2 * 3);
    let wear = find(&charts, "wear");
    assert_eq!(
        wear.says,
        "Erases of a block: discard off 0 to 0, half of them up to 0; discard on 0 to 2, half of \
         them up to 2."
    );
    assert_eq!(count(&wear.svg, "rect"), 1 + 2);
}

/// Steps that were not measured to their end are not drawn: the drive would look idle.
#[test]
fn a_drive_s_line_ends_with_its_last_whole_step() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    with_drives(&mut records, |_| true);
    for record in &mut records {
        if record.levels.to_string().contains("discard = off") {
            // A little more than half as long as the others.
            record.drive.as_mut().unwrap().at_ns = vec![0, 1_000_000_000, 2_030_000_000];
        }
    }
    let charts = drawn(&schedule, &records);
    // Twice as fast, to the end: the mean is the same in each step.
    let says = &find(&charts, "drive").says;
    assert!(says.contains("own writes: at most 2.00 MB/s (discard on) to"), "{says}");
    let lines: Vec<usize> = find(&charts, "drive")
        .svg
        .split("<polyline")
        .skip(1)
        .map(|line| attribute(line, "points").unwrap().split_whitespace().count())
        .filter(|points| *points > 2)
        .collect();
    // 48 steps and 24 whole ones; free blocks also have a starting point.
    assert_eq!(lines, [25, 24, 24, 49, 48, 48]);
}

#[test]
fn a_drive_that_does_nothing_for_itself_is_drawn_by_its_free_blocks_alone() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    with_drives(&mut records, |_| false);
    let charts = drawn(&schedule, &records);
    assert_eq!(
        find(&charts, "drive").says,
        "On average over trials, free blocks: at least 70.0 % (all)."
    );
    assert!(charts.iter().all(|chart| chart.id != "wear"));
}

/// Two blocks that differ by a factor of 400 give an interval of many digits.
#[test]
fn an_interval_without_bounds_leaves_room_for_the_chart() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["sync"]);
    let records = records(&schedule, |levels, block| {
        let is_slow = levels.to_string().contains("discard = on") == (block == 0);
        vec![phase("sync", if is_slow { 20_000_000_000 } else { 50_000_000 })]
    });
    let charts = drawn(&schedule, &records[..4]);
    assert!(find(&charts, "effects").svg.len() < 100_000);
}

#[test]
fn every_sample_is_a_dot() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    records[1].status = ssdlab_results::TrialStatus::Failed;
    let charts = drawn(&schedule, &records);
    // Six blocks of two treatments and two phases; one trial failed.
    assert_eq!(count(&find(&charts, "samples").svg, "circle"), (6 * 2 - 1) * 2);
    assert_eq!(find(&charts, "samples").svg.matches("<rect ").count(), 2);
}

/// How many whiskers a chart has: lines through three points at each end, for the caps.
fn whiskers(chart: &Chart) -> usize {
    let lines = chart.svg.split("<polyline").skip(1);
    lines.filter(|line| attribute(line, "points").unwrap().split_whitespace().count() == 6).count()
}

/// Asserts how many whiskers the samples and the effects have, and that their notes explain those
/// that there are.
fn assert_whiskers(charts: &[Chart], drawn: [usize; 2]) {
    for (id, drawn) in ["samples", "effects"].into_iter().zip(drawn) {
        let chart = find(charts, id);
        assert_eq!(whiskers(chart), drawn, "{id}");
        let texts: Vec<String> = texts(&chart.svg).into_iter().map(|(text, _)| text).collect();
        let texts = texts.join(" ");
        assert_eq!(texts.contains("Whisker: its 95 % interval"), drawn > 0, "{id}: {texts}");
        assert_eq!(texts.contains("Whisker"), drawn > 0, "{id}: {texts}");
    }
}

/// A sample on a plausible drive is a dot, which the notes say; means and drift are of the
/// published drive. Whiskers are in the legend if they are drawn (NEWCOMER.md, B8).
#[test]
fn samples_on_plausible_drives_are_told_from_the_mean() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["unpack", "sync"]);
    let mut records = records(&schedule, slow_sync);
    with_drives(&mut records, |record| record.trial.block > 0);
    // Two treatments and two phases have intervals, one treatment has a ratio in each phase and in
    // both together.
    assert_whiskers(&drawn(&schedule, &records), [2 * 2, 3]);
    let told = "mean on the published drive";
    assert!(!find(&drawn(&schedule, &records), "samples").svg.contains(told));
    for record in records.iter_mut().filter(|record| record.trial.block > 0) {
        record.draw = Some(Draw { values: BTreeMap::new(), redrawn: 0 });
    }
    let charts = drawn(&schedule, &records);
    let samples = find(&charts, "samples");
    assert_eq!(count(&samples.svg, "circle"), 6 * 2 * 2);
    assert!(samples.svg.contains(told) && samples.svg.contains("plausible one"));
    // One trial of each treatment is on the published drive, and has no interval.
    assert_whiskers(&charts, [0, 0]);
    assert!(samples.says.starts_with("Means of time_ns on the published drive: unpack 1.21 s"));
    // Only the drawn drives had to collect garbage, and one trial has no drift.
    assert_eq!(
        find(&charts, "drive").says,
        "On average over trials, free blocks: at least 70.0 % (all)."
    );
    assert!(charts.iter().all(|chart| chart.id != "wear" && chart.id != "drift"));
}

/// A treatment that went well on plausible drives only has samples, but no bytes of its own.
#[test]
fn what_has_no_means_is_not_drawn_as_nothing_written() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["sync"]);
    let mut records = records(&schedule, |_, _| vec![with_device(phase("sync", 1), 1_000_000)]);
    let off = |record: &Record| record.levels.to_string().contains("discard = off");
    for record in records.iter_mut().filter(|record| off(record)) {
        record.draw = Some(Draw { values: BTreeMap::new(), redrawn: 0 });
    }
    let charts = drawn(&schedule, &records);
    let written = find(&charts, "written");
    assert!(
        written.says.contains("written to the device: 1.00 MB (discard on)"),
        "{}",
        written.says
    );
    for record in &mut records {
        record.draw = Some(Draw { values: BTreeMap::new(), redrawn: 0 });
    }
    let charts = drawn(&schedule, &records);
    assert!(charts.iter().all(|chart| chart.id != "written"));
    assert_eq!(find(&charts, "samples").says, "Samples of time_ns, on plausible drives only.");
}

#[test]
fn names_steer_nothing() {
    let names = ["<script>alert(1)</script>", "\"'&amp;\u{202e}evil\u{200f}", "مزامنة 同步"];
    let long = "x".repeat(3000);
    let all = [names[0], names[1], names[2], long.as_str()];
    let schedule = plan(DISCARD[0], DISCARD[1], &all);
    let records = records(&schedule, |_, block| {
        let time = 1_000_000 * u64::from(block + 1);
        all.map(|name| with_work(phase(name, time), 5000.0, false)).to_vec()
    });
    let charts = drawn(&schedule, &records);
    assert!(charts.len() > 6);
    for chart in &charts {
        assert!(!chart.svg.contains("<script") && !chart.svg.contains('\u{202e}'), "{}", chart.id);
        assert!(!chart.title.chars().any(char::is_control), "{}", chart.title);
    }
    // It is well-formed, too.
    assert!(find(&charts, "samples").png().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_run_without_a_good_trial_has_no_charts() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["sync"]);
    let mut records = records(&schedule, |_, _| Vec::new());
    for record in &mut records {
        record.status = ssdlab_results::TrialStatus::Failed;
    }
    assert_eq!(drawn(&schedule, &records), []);
    assert_eq!(drawn(&schedule, &[]), []);
}

#[test]
fn one_treatment_has_no_effects() {
    let schedule = plan("discard = \"off\"", "", &["unpack", "sync"]);
    let charts = drawn(&schedule, &records(&schedule, slow_sync));
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids, ["samples", "latency", "series-unpack", "written", "drift"]);
}

#[test]
fn any_value_has_a_place() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["nothing", "ages", "both"]);
    let records = records(&schedule, |levels, block| {
        let is_on = levels.to_string().contains("discard = on");
        let both = if is_on { u64::from(block) } else { u64::MAX };
        vec![phase("nothing", 0), phase("ages", u64::MAX), phase("both", both)]
    });
    let charts = drawn(&schedule, &records);
    // A phase that always takes nothing has no panel.
    assert_eq!(count(&find(&charts, "samples").svg, "circle"), 6 * 2 * 2);
}

#[test]
fn many_treatments_and_phases_are_readable() {
    let schedule = scheduled(shipped::find("tandem").unwrap().text, None);
    let records = records(&schedule, |levels, block| {
        let spread = levels.to_string().len() as f64;
        let of = |name: &str| {
            let moves = name.contains("put") || name == "rewrite";
            with_work(phase(name, 1_000_000_000), spread * 37.0 * f64::from(block + 9), moves)
        };
        schedule.phase_names().iter().map(|name| of(name)).collect()
    });
    assert_eq!((schedule.treatments.len(), schedule.phase_names().len()), (36, 12));
    let charts = drawn(&schedule, &records);
    let samples: Vec<&Chart> =
        charts.iter().filter(|chart| chart.id.starts_with("samples")).collect();
    assert!((3..=8).contains(&samples.len()), "{}", samples.len());
    let dots: usize = samples.iter().map(|chart| count(&chart.svg, "circle")).sum();
    let last = |treatment: usize| {
        let blocks = schedule.trials.iter().filter(|trial| trial.treatment == treatment);
        let steps = blocks.map(|trial| schedule.step_of(trial.block));
        let steps: Vec<usize> = steps.collect();
        steps.iter().filter(|step| **step == *steps.iter().max().unwrap()).count()
    };
    let shown: usize = (0..36).map(last).sum();
    assert_eq!(dots, shown * 12);
    // Each is divided and says so; the answer, one of the samples' charts, is not.
    for title in ["Throughput", "Rate of operations", "Latency", "Effects"] {
        let of_title = |chart: &&Chart| {
            let is_course = chart.title.contains(" over time in ");
            chart.title.starts_with(title) && chart.id != "answer" && !is_course
        };
        let parts = charts.iter().filter(of_title);
        let titles: Vec<&str> = parts.map(|chart| chart.title.as_str()).collect();
        assert!(titles.len() > 1, "{title}");
        for (index, part) in (1..).zip(&titles) {
            assert!(part.ends_with(&format!(" ({index} of {})", titles.len())), "{titles:?}");
        }
    }
}

#[test]
fn what_is_too_much_to_draw_is_said() {
    let schedule = plan(DISCARD[0], DISCARD[1], &["sync"]);
    let trials = (0..1000).flat_map(|round| {
        schedule.trials.iter().map(move |trial| plan::schedule::Trial {
            block: trial.block + 6 * round,
            position: trial.position + 12 * round,
            ..*trial
        })
    });
    let trials: Vec<_> = trials.collect();
    let mut stored = json!(schedule);
    stored["trials"] = json!(trials);
    let schedule = serde_json::from_value(stored).unwrap();
    let records = records(&schedule, |_, block| vec![phase("sync", u64::from(block % 7 + 1))]);
    let charts = drawn(&schedule, &records);
    // 12,000 trials.
    let samples = find(&charts, "samples");
    assert!(samples.says.contains("Of every 4 samples one is drawn."), "{}", samples.says);
    assert_eq!(count(&samples.svg, "circle"), 3000);
}

#[test]
fn charts_are_saved_whole_or_not_at_all() {
    let place = tempfile::tempdir().unwrap();
    let run = place.path().join("run");
    fs::create_dir(&run).unwrap();
    let schedule = plan("discard = \"off\"", "", &["sync"]);
    let lines = records(&schedule, |_, block| vec![phase("sync", u64::from(block) + 5)]);
    let lines: Vec<String> = lines.iter().map(|r| serde_json::to_string(r).unwrap()).collect();
    fs::write(run.join("records.jsonl"), lines.join("\n") + "\n").unwrap();
    fs::write(run.join("schedule.json"), serde_json::to_vec(&schedule).unwrap()).unwrap();
    let save = |folder: &Path| -> Output {
        Command::new(env!("CARGO_BIN_EXE_ssdlab"))
            .arg("report")
            .arg(&run)
            .arg("--charts")
            .arg(folder)
            .env("XDG_STATE_HOME", place.path().join("state"))
            .output()
            .unwrap()
    };
    let folder = place.path().join("a/b");
    for _ in 0..2 {
        let output = save(&folder);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && told.contains("2 charts in "), "{told}");
    }
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, ["drift.png", "drift.svg", "samples.png", "samples.svg"]);
    assert!(fs::read(folder.join("samples.png")).unwrap().starts_with(b"\x89PNG"));
    let output = save(&folder.join("samples.svg"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("cannot make the folder"), "{told}");
    assert!(fs::read_to_string(folder.join("samples.svg")).unwrap().ends_with("</svg>\n"));
}
