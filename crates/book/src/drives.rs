//! The figures of the shipped drives.

use std::collections::BTreeSet;

use ssdlab_flash::bench::Bench;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::figures::{Check, Expected};
use ssdlab_flash::presets::Preset;
use ssdlab_plan::Basis;
use ssdlab_plan::metric::Unit;

use super::figure::{Against, Amount, Figure};

/// Simulates a drive and computes its figures, which takes up to a few seconds.
#[must_use]
pub fn of_drive(Preset { name, text }: Preset) -> Vec<Figure> {
    let file = DriveFile::parse(text).expect("a test parses every preset");
    let fitted: BTreeSet<&String> =
        file.evidence.values().flat_map(|evidence| &evidence.get_ref().fitted_to).collect();
    let mut bench = Bench::new(&file);
    let figures = file.figures.iter().map(|(id, figure)| {
        let (published, ours, how) = match &figure.check {
            Check::Tested { expected, .. } => {
                let (unit, value) = amount(*expected);
                let ratio = figure.compare(&mut bench).expect("it is tested");
                let ratio = ratio.expect("a test compares every figure of a preset");
                (Amount::Of(unit, value), Some(ratio * value), "simulated".to_owned())
            }
            Check::Unchecked { why } => (Amount::Written(figure.value.clone()), None, why.clone()),
        };
        Figure {
            id: format!("{name}/{id}"),
            source: figure.source.clone(),
            what: format!("{name}: {}", id.replace('-', " ")),
            published,
            ours,
            how,
            basis: Basis::of(fitted.contains(id)),
            against: Against::Published,
        }
    });
    figures.collect()
}

fn amount(expected: Expected) -> (Unit, f64) {
    match expected {
        Expected::BytesPerSecond(rate) => (Unit::BytesPerS, rate as f64),
        Expected::RequestsPerSecond(rate) => (Unit::PerS, rate),
        Expected::Nanos(time) => (Unit::Ns, time as f64),
    }
}
