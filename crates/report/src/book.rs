//! The book of evidence as a table, and as JSON.

use std::collections::BTreeMap;

use crate::figures::{Agreement, Figure, FigureReference, PublishedAmount};
use schemars::JsonSchema;
use serde::Serialize;

use super::grid::ReportTable;
use super::nouns::capitalised;
use super::number;
use super::words::{Style, counted};

/// The version of what `ssdlab evidence --json` prints.
pub const BOOK_SCHEMA: u32 = 1;

/// The bounds of relative errors by which tests are counted.
const STEPS: [f64; 3] = [0.1, 0.25, 0.5];

/// The book for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Book<'a> {
    /// The version of this format.
    pub schema: u32,
    /// How many independent tests came out how well, in a few sentences.
    pub summary: String,
    /// Every published number, then every number of the cross-check.
    pub figures: Vec<BookEntry<'a>>,
}

/// A published number, or one of the same drive served in real time, and ours.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct BookEntry<'a> {
    /// Its name.
    pub id: &'a str,
    /// Who says so.
    pub source: &'a str,
    /// What it is of.
    pub what: &'a str,
    /// The number with its unit.
    pub published: String,
    /// The same of the model; absent where there is none.
    pub ours: Option<String>,
    /// What agreement with it says.
    pub basis: Agreement,
    /// The test that it is of, which counts once.
    pub test: &'a str,
    /// By which share of the published number ours is above it; absent where there is none.
    pub error: Option<f64>,
    /// How ours was found, or why there is none.
    pub how: &'a str,
}

impl<'a> Book<'a> {
    /// The book with some figures.
    pub fn new(figures: &'a [Figure]) -> Self {
        let entry = |figure: &'a Figure| BookEntry {
            id: &figure.id,
            source: &figure.source,
            what: &figure.what,
            published: published(figure),
            ours: ours(figure),
            basis: figure.basis,
            test: &figure.test,
            error: figure.error(),
            how: &figure.how,
        };
        Self {
            schema: BOOK_SCHEMA,
            summary: summary(figures),
            figures: figures.iter().map(entry).collect(),
        }
    }
}

/// The book as a table on a terminal.
pub fn book(figures: &[Figure], style: Style) -> String {
    let row = |figure: &Figure| {
        let [basis, published, ours, error] = cells(figure);
        vec![figure.id.clone(), basis, published, ours, error]
    };
    let header = ["figure", "basis", "published", "ours", "error"];
    let table = ReportTable {
        header: header.map(str::to_owned).into(),
        rows: figures.iter().map(row).collect(),
        numbers: 2,
    };
    format!("{}\n\n{}\n", table.text(style), summary(figures))
}

fn cells(figure: &Figure) -> [String; 4] {
    let error = figure.error().map_or(String::new(), |error| format!("{:+.0} %", 100.0 * error));
    [figure.basis.to_string(), published(figure), ours(figure).unwrap_or_default(), error]
}

fn published(figure: &Figure) -> String {
    match &figure.published {
        PublishedAmount::Of(unit, value) => number::amount(*unit, *value),
        PublishedAmount::Written(text) => text.clone(),
    }
}

fn ours(figure: &Figure) -> Option<String> {
    match &figure.published {
        PublishedAmount::Of(unit, _) => Some(number::amount(*unit, figure.ours?)),
        PublishedAmount::Written(_) => None,
    }
}

/// How accurate the figures of each standing are, and those of the cross-check apart: the latter
/// share their model of the drive with what they are compared with. What is counted are tests: a
/// table of one run, or the parts of a sentence, agree or fail together.
fn summary(figures: &[Figure]) -> String {
    let (published, served): (Vec<&Figure>, Vec<&Figure>) =
        figures.iter().partition(|figure| figure.against == FigureReference::Published);
    let mut says = format!(
        "{} of {}.",
        counted(published.len(), "published figure"),
        counted(tests(&published).len(), "independent test")
    );
    for standing in Agreement::ALL {
        let own: Vec<&Figure> =
            published.iter().filter(|figure| figure.basis == standing).copied().collect();
        let (compared, within) = accuracy(&own);
        if !own.is_empty() {
            let tests = counted(compared, "test");
            say(&mut says, &format!("{standing} ({}): {tests}", own.len()), &within);
        }
    }
    if !served.is_empty() {
        let (compared, within) = accuracy(&served);
        say(&mut says, &format!("the same drives in real time: {compared}"), &within);
    }
    says
}

fn say(says: &mut String, what: &str, within: &str) {
    *says += " ";
    *says += &capitalised(what);
    *says += " compared, ";
    *says += within;
    *says += ".";
}

fn tests<'a>(figures: &[&'a Figure]) -> BTreeMap<&'a str, Vec<&'a Figure>> {
    let mut tests: BTreeMap<&str, Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        tests.entry(&figure.test).or_default().push(figure);
    }
    tests
}

/// How many tests have been compared, and in words how many of them are how accurate; a test is as
/// accurate as its worst figure.
fn accuracy(figures: &[&Figure]) -> (usize, String) {
    let worst = |figures: &Vec<&Figure>| {
        figures.iter().filter_map(|figure| Some(figure.error()?.abs())).reduce(f64::max)
    };
    let errors: Vec<f64> = tests(figures).values().filter_map(worst).collect();
    let within = STEPS.map(|step| {
        let count = errors.iter().filter(|error| **error <= step).count();
        format!("{count} within {:.0} %", 100.0 * step)
    });
    (errors.len(), within.join(", "))
}

#[cfg(test)]
mod tests;
