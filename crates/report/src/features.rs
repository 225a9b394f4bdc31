//! The feature table: what each filesystem supports, by which source, and what was checked.

use std::collections::BTreeMap;
use std::iter;

use ssdlab_advice::Analysis;
use ssdlab_filesystem::facts::{LARGEST_FILE, LONGEST_NAME, REFLINK, SNAPSHOTS};
use ssdlab_filesystem::{Facts, Feature, Filesystem, Limit};
use ssdlab_plan::Schedule;

use super::grid::{self, ReportTable};
use super::words::Style;

/// The width of a fact's name.
const LABEL_WIDTH: usize = 18;

/// A filesystem, and what checks found, by the names of the facts.
pub type CheckedFilesystem<'a> = (&'a Filesystem, BTreeMap<String, String>);

/// A row of the table: a fact's name, the name of its check, and its cell for a filesystem.
type Row = (&'static str, &'static str, fn(&Facts) -> (String, &'static str));

const ROWS: [Row; 11] = [
    ("longest name", LONGEST_NAME, |facts| limit(facts.longest_name)),
    ("largest file", LARGEST_FILE, |facts| limit(facts.largest_file)),
    ("largest volume", "", |facts| limit(facts.largest_volume)),
    ("checksums", "", |facts| feature(facts.checksums)),
    ("snapshots", SNAPSHOTS, |facts| feature(facts.snapshots)),
    ("several devices", "", |facts| feature(facts.devices)),
    ("compression", "", |facts| feature(facts.compression)),
    ("journal", "", |facts| feature(facts.journal)),
    ("discard", "", |facts| feature(facts.discard)),
    ("reflink", REFLINK, |facts| feature(facts.reflink)),
    ("encryption", "", |facts| feature(facts.encryption)),
];

/// The table, with its sources as footnotes. A checked cell is marked, and shows what was found if
/// that differs.
pub fn features(filesystems: &[CheckedFilesystem<'_>], style: Style) -> String {
    let mut sources: Vec<&'static str> = Vec::new();
    let tables = filesystems.chunks(grid::side_by_side(style, LABEL_WIDTH));
    let mut lines: Vec<String> =
        tables.map(|filesystems| table(filesystems, style, &mut sources)).collect();
    if filesystems.iter().any(|(_, found)| !found.is_empty()) {
        lines.push("* checked in this run".to_owned());
    }
    let notes = sources.iter().enumerate();
    lines.extend(notes.map(|(index, source)| format!("[{}] {source}", index + 1)));
    lines.join("\n")
}

/// A table of some filesystems. It wraps in files, too, because facts are sentences.
fn table(
    filesystems: &[CheckedFilesystem<'_>],
    style: Style,
    sources: &mut Vec<&'static str>,
) -> String {
    let width = style.width.or(Some(grid::FILE_WIDTH));
    let names = filesystems.iter().map(|(filesystem, _)| filesystem.name.to_owned());
    let header = iter::once(String::new()).chain(names).collect();
    let row =
        |(name, cells): (&str, Vec<String>)| iter::once(name.to_owned()).chain(cells).collect();
    let rows = rows(filesystems, sources).into_iter().map(row).collect();
    ReportTable { header, rows, numbers: usize::MAX }.text(Style { width, ..style })
}

/// The facts by name, with a cell for each filesystem; new sources are added to `sources`.
pub(super) fn rows(
    filesystems: &[CheckedFilesystem<'_>],
    sources: &mut Vec<&'static str>,
) -> Vec<(&'static str, Vec<String>)> {
    let mut cell = |(_, check, fact): Row, (filesystem, found): &CheckedFilesystem<'_>| {
        let (says, source) = fact(&filesystem.facts);
        let note = note(sources, source);
        let stated = filesystem.stated().into_iter().find(|(name, _)| *name == check);
        let mark = match (stated, found.get(check)) {
            (Some((_, stated)), Some(found)) if *found == stated => " *".to_owned(),
            (_, Some(found)) => format!("\nfound: {found} *"),
            _ => String::new(),
        };
        format!("{says}{note}{mark}")
    };
    let mut row =
        |row: Row| (row.0, filesystems.iter().map(|checked| cell(row, checked)).collect());
    ROWS.into_iter().map(&mut row).collect()
}

/// The filesystems that a run compares, with what its checks found; empty if there is only one.
pub(super) fn compared(
    schedule: &Schedule,
    analysis: &Analysis,
) -> Vec<CheckedFilesystem<'static>> {
    let mut compared: Vec<CheckedFilesystem<'static>> = Vec::new();
    for (index, treatment) in analysis.treatments.iter().enumerate() {
        let filesystem =
            schedule.treatments[index].setup.as_ref().ok().and_then(|setup| setup.filesystem);
        let Some(filesystem) = filesystem else { continue };
        match compared.iter_mut().find(|(known, _)| known.name == filesystem.name) {
            None => compared.push((filesystem, treatment.features.clone())),
            Some((_, found)) if found.is_empty() => found.clone_from(&treatment.features),
            Some(_) => {}
        }
    }
    if compared.len() < 2 { Vec::new() } else { compared }
}

/// The mark of a source's footnote; empty if there is no source.
fn note<'a>(sources: &mut Vec<&'a str>, source: &'a str) -> String {
    if source.is_empty() {
        return String::new();
    }
    let place = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
        sources.push(source);
        sources.len() - 1
    });
    format!(" [{}]", place + 1)
}

fn feature(feature: Feature) -> (String, &'static str) {
    (feature.says.to_owned(), feature.source)
}

fn limit(limit: Limit) -> (String, &'static str) {
    (binary(limit.bytes), limit.source)
}

/// A limit in the largest unit in which it is at least 1, to a tenth.
fn binary(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match bytes {
        0 => return "not stated".to_owned(),
        u128::MAX => return "2^128 B".to_owned(),
        _ => {}
    }
    let unit = (0..UNITS.len()).rev().find(|unit| bytes >> (10 * unit) > 0).unwrap_or(0);
    // Rounded, because a limit may be a block short of a round number.
    let tenths = (bytes * 10 + (1 << (10 * unit)) / 2) >> (10 * unit);
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let point = if tenth == 0 { String::new() } else { format!(".{tenth}") };
    format!("{whole}{point} {}", UNITS[unit])
}

#[cfg(test)]
mod tests;
