//! The course of a trial up to a power cut: the operations on files, and the requests at risk.

use ssdlab_operations::cuts::{FileOperation, FileOperationStep, WatchedFile};
use ssdlab_results::{CourseEvent, CourseEventKind, RepeatedCut, RequestAtRisk};

use crate::grid::ReportTable;
use crate::number::{bytes, duration};

/// The maximum number of rows; `--json` has all.
const MOST_ROWS: usize = 30;

/// The last events before a cut, and how many there are before them; `None` if there are none.
pub(super) fn table(repeat: &RepeatedCut) -> Option<(ReportTable, usize)> {
    let cut_ns = repeat.repeated.at_ns;
    let shown = repeat.course.iter().filter_map(|event| Some((event, words(&event.what)?)));
    let shown: Vec<(&CourseEvent, String)> = shown.collect();
    let first = shown.len().saturating_sub(MOST_ROWS);
    let row = |(event, words): &(&CourseEvent, String)| {
        let before = cut_ns.saturating_sub(event.at_ns);
        vec![duration(before as f64), words.clone()]
    };
    let rows: Vec<Vec<String>> = shown[first..].iter().map(row).collect();
    let says =
        shown[first..].iter().any(|(event, _)| matches!(event.what, CourseEventKind::Said(_)));
    let what = if says { "operation on a file, line printed" } else { "operation on a file" };
    let header = vec!["before the cut".to_owned(), format!("{what}, or request at risk")];
    (!rows.is_empty()).then_some((ReportTable { header, rows, numbers: usize::MAX }, first))
}

/// That an operation begins is only needed to judge what is found.
fn words(what: &CourseEventKind) -> Option<String> {
    match what {
        CourseEventKind::FileOperation(file_operation) => operation(*file_operation),
        CourseEventKind::Said(line) => Some(format!("printed: {line}")),
        CourseEventKind::Request(request) => Some(request_at_risk(request)),
    }
}

fn operation(FileOperation { of, version, step }: FileOperation) -> Option<String> {
    let name = of.name();
    Some(match (of, step) {
        (_, FileOperationStep::Begun) => return None,
        (WatchedFile::Replaced(_), FileOperationStep::Contents) => {
            format!("fsync returned: version {version} of {name}, not in place yet")
        }
        (WatchedFile::Replaced(_), FileOperationStep::Done) => {
            format!("version {version} renamed over {name}")
        }
        (WatchedFile::Replaced(_), FileOperationStep::Place) => {
            format!("fsync of the directory returned: {name} is promised in version {version}")
        }
        (WatchedFile::Log, FileOperationStep::Done) => {
            format!("record {version} appended to {name}")
        }
        (WatchedFile::Log, FileOperationStep::Contents | FileOperationStep::Place) => {
            format!("fdatasync returned: {name} is promised up to record {version}")
        }
        (WatchedFile::Sequence(_), FileOperationStep::Done) => {
            format!("operation {version} of {name:?} done")
        }
        (WatchedFile::Sequence(_), FileOperationStep::Contents | FileOperationStep::Place) => {
            format!("the sync at the end of {name:?} returned")
        }
        (WatchedFile::Database(_), FileOperationStep::Done) => {
            format!("commit {version} written to the log of {name}")
        }
        (WatchedFile::Database(_), FileOperationStep::Contents | FileOperationStep::Place) => {
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
