use ssdlab_plan::Factor;
use ssdlab_trace::{Flags, Request, Tally};

use super::*;

fn summary(are_completed: bool) -> TraceSummary {
    let mut tally = Tally::new();
    for at in 0..4_u64 {
        tally.add(&Request {
            submitted_ns: at * 1_000_000,
            completed_ns: are_completed.then_some(at * 1_000_000 + 250_000),
            kind: if at == 3 { RequestKind::Flush } else { RequestKind::Write },
            offset_bytes: if at == 3 { 0 } else { at * 8192 },
            length_bytes: if at == 3 { 0 } else { 8192 },
            flags: Flags::SYNC,
            origin: None,
        });
    }
    tally.finish()
}

#[test]
fn a_kind_has_the_rows_that_say_something_of_it() {
    let text = trace("a.log", &summary(true), None, Style::default());
    assert!(text.starts_with("a.log\n"), "{text}");
    let row = |name: &str| {
        let line = text.lines().find(|line| line.contains(name));
        line.map(|line| line.split('┆').map(str::trim).collect::<Vec<_>>().join("|"))
    };
    assert_eq!(row("sequential").unwrap(), "│ sequential|100.0 %|│");
    assert_eq!(row("latency: 99 %").unwrap(), "│ latency: 99 %|250 us|250 us │");
    assert_eq!(row("FUA"), None);
    assert!(text.contains("idle: 2.25 ms (69.2 %) in 3 gaps, the longest of 750 us"), "{text}");
}

#[test]
fn what_is_not_known_is_not_shown() {
    let text = trace("a.log", &summary(false), None, Style::default());
    assert!(!text.contains("latency") && !text.contains("idle"), "{text}");
    assert!(text.contains("does not say when requests were completed"), "{text}");
    let text = trace("a.log", &Tally::new().finish(), None, Style::default());
    assert_eq!(text, "a.log\n0 requests, over 0 ns\n");
}

#[test]
fn trials_have_a_row_each() {
    let levels = Levels([(Factor::Filesystem, "ext4".to_owned())].into());
    let trial = |trial| {
        let summary = summary(true);
        TracedTrial {
            trial,
            levels: levels.clone(),
            summary,
            merged_writes: Some(7),
            cut_off: None,
        }
    };
    let narrow = traces(&[trial(0), trial(1)], Style { is_coloured: false, width: Some(80) });
    for number in ["24.6", "8.19", "100.0"] {
        assert!(narrow.contains(&format!(" {number} ")), "{number} is broken: {narrow}");
    }
    let text = traces(&[trial(0), trial(1)], Style::default());
    assert_eq!(text.matches("ext4").count(), 2, "{text}");
    assert_eq!(text.matches("24.6 kB").count(), 2, "{text}");
}
