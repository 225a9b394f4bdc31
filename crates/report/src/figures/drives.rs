//! The figures of the shipped drives.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_flash::bench::Bench;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::figures::{DriveFigure, FigureCheck, FigureKind, FigureQuantity};
use ssdlab_flash::grounded::{EvidencedValue, grounded};
use ssdlab_flash::presets::Preset;
use ssdlab_plan::metric::Unit;

use super::figure::{Agreement, Figure, FigureReference, PublishedAmount};

/// Simulates a drive and computes its figures, which takes up to a few seconds.
pub fn of_drive(Preset { name, text, .. }: Preset) -> Vec<Figure> {
    let file = DriveFile::parse(text).expect("a test parses every preset");
    let values = grounded(text).expect("a test grounds every preset");
    let is_fitted = |id: &String, figure: &DriveFigure| {
        let mut evidence = values.iter().filter_map(|value| value.evidence.as_ref());
        let is_named = evidence.any(|evidence| evidence.fitted_to.contains(id));
        is_named || values.iter().any(|value| stands_in(value, figure))
    };
    let of_fitted: BTreeSet<&str> = file
        .figures
        .iter()
        .filter(|(id, figure)| is_fitted(id, figure))
        .map(|(_, figure)| publication(&figure.source))
        .collect();
    let is_evidence = |publication: &str| {
        let mut evidence = values.iter().filter_map(|value| value.evidence.as_ref());
        evidence.any(|evidence| evidence.source.contains(publication))
    };
    let mut bench = Bench::new(&file);
    let figures = file.figures.iter().map(|(id, figure)| {
        let (published, ours, how) = match &figure.check {
            FigureCheck::Tested { expected, .. } => {
                let (unit, value) = amount(*expected);
                let ratio = figure.compare(&mut bench).expect("it is tested");
                let ratio = ratio.expect("a test compares every figure of a preset");
                (PublishedAmount::Of(unit, value), Some(ratio * value), "simulated".to_owned())
            }
            FigureCheck::Unchecked { why } => {
                (PublishedAmount::Written(figure.value.clone()), None, why.clone())
            }
        };
        let publication = publication(&figure.source);
        let is_used = of_fitted.contains(publication) || is_evidence(publication);
        Figure {
            // Another drive's file may have the same figure.
            test: format!("{}: {}", figure.source, figure.value),
            id: format!("{name}/{id}"),
            source: figure.source.clone(),
            what: format!("{name}: {}", id.replace('-', " ")),
            published,
            ours,
            how,
            basis: Agreement::of(is_fitted(id, figure), is_used),
            against: FigureReference::Published,
        }
    });
    figures.collect()
}

/// How many publications have measured each kind of figure of a drive that is compared.
pub fn measured_by(preset: Preset) -> BTreeMap<FigureKind, usize> {
    let file = DriveFile::parse(preset.text).expect("a test parses every preset");
    let mut by: BTreeMap<FigureKind, BTreeSet<&str>> = BTreeMap::new();
    for figure in file.figures.values().filter(|figure| figure.is_measured()) {
        if let Some(kind) = figure.kind() {
            by.entry(kind).or_default().insert(publication(&figure.source));
        }
    }
    by.into_iter().map(|(kind, publications)| (kind, publications.len())).collect()
}

/// Whether a figure's number stands in the evidence for a value of the file, or is one: a rate, as
/// times of parts are easily alike.
fn stands_in(value: &EvidencedValue, figure: &DriveFigure) -> bool {
    let FigureCheck::Tested { expected, .. } = figure.check else { return false };
    let source = value.evidence.as_ref().map_or("", |evidence| &evidence.source);
    let is_rate = matches!(expected, FigureQuantity::BytesPerSecond(_));
    expected.is_in(source) || is_rate && expected.is_in(value.value.trim_matches('"'))
}

/// Who published a figure: the first words in the last brackets of its source, or all of it.
fn publication(source: &str) -> &str {
    let in_brackets = source.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let whole = in_brackets.map_or(source, |(within, _)| within);
    whole.split(',').next().unwrap_or(whole).trim()
}

fn amount(expected: FigureQuantity) -> (Unit, f64) {
    match expected {
        FigureQuantity::BytesPerSecond(rate) => (Unit::BytesPerS, rate as f64),
        FigureQuantity::RequestsPerSecond(rate) => (Unit::PerS, rate),
        FigureQuantity::Nanos(time) => (Unit::Ns, time as f64),
    }
}
