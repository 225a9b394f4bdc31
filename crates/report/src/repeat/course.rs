//! The course of a trial up to a power cut: the operations on files, and the requests at risk.

use ssdlab_operations::cuts::{Deed, Step, Subject};
use ssdlab_results::{Event, Happening, Repeat, RequestAtRisk};

use crate::grid::Grid;
use crate::number::{bytes, duration};

/// The maximum number of rows; `--json` has all.
const MOST_ROWS: usize = 30;

/// The last events before a cut, and how many there are before them; `None` if there are none.
pub(super) fn table(repeat: &Repeat) -> Option<(Grid, usize)> {
    let cut_ns = repeat.repeated.at_ns;
    let shown = repeat.course.iter().filter_map(|event| Some((event, words(&event.what)?)));
    let shown: Vec<(&Event, String)> = shown.collect();
    let first = shown.len().saturating_sub(MOST_ROWS);
    let row = |(event, words): &(&Event, String)| {
        let before = cut_ns.saturating_sub(event.at_ns);
        vec![duration(before as f64), words.clone()]
    };
    let rows: Vec<Vec<String>> = shown[first..].iter().map(row).collect();
    let says = shown[first..].iter().any(|(event, _)| matches!(event.what, Happening::Said(_)));
    let what = if says { "operation on a file, line printed" } else { "operation on a file" };
    let header = vec!["before the cut".to_owned(), format!("{what}, or request at risk")];
    (!rows.is_empty()).then_some((Grid { header, rows, numbers: usize::MAX }, first))
}

/// That an operation begins is only needed to judge what is found.
fn words(what: &Happening) -> Option<String> {
    match what {
        Happening::Deed(deed) => operation(*deed),
        Happening::Said(line) => Some(format!("printed: {line}")),
        Happening::Request(request) => Some(request_at_risk(request)),
    }
}

fn operation(Deed { of, version, step }: Deed) -> Option<String> {
    let name = of.name();
    Some(match (of, step) {
        (_, Step::Begun) => return None,
        (Subject::Replaced(_), Step::Contents) => {
            format!("fsync returned: version {version} of {name}, not in place yet")
        }
        (Subject::Replaced(_), Step::Done) => format!("version {version} renamed over {name}"),
        (Subject::Replaced(_), Step::Place) => {
            format!("fsync of the directory returned: {name} is promised in version {version}")
        }
        (Subject::Log, Step::Done) => format!("record {version} appended to {name}"),
        (Subject::Log, Step::Contents | Step::Place) => {
            format!("fdatasync returned: {name} is promised up to record {version}")
        }
        (Subject::Sequence(_), Step::Done) => format!("operation {version} of {name:?} done"),
        (Subject::Sequence(_), Step::Contents | Step::Place) => {
            format!("the sync at the end of {name:?} returned")
        }
        (Subject::Database(_), Step::Done) => {
            format!("commit {version} written to the log of {name}")
        }
        (Subject::Database(_), Step::Contents | Step::Place) => {
            format!("fdatasync returned: {name} is promised up to commit {version}")
        }
    })
}

fn request_at_risk(request: &RequestAtRisk) -> String {
    let RequestAtRisk { number, command, offset_bytes, length_bytes, .. } = request;
    let state = if request.acknowledged { "volatile" } else { "under way" };
    let fate = if request.lost { "lost" } else { "survives" };
    format!(
        "request {number}: {command} {} at byte {offset_bytes}; {state}, {fate}",
        bytes(*length_bytes as f64)
    )
}
