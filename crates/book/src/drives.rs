//! The figures of the shipped drives.

use std::collections::BTreeSet;

use ssdlab_flash::bench::Bench;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::figures::{Check, Expected};
use ssdlab_flash::presets::Preset;
use ssdlab_plan::Basis;
use ssdlab_plan::metric::Unit;

use super::figure::{Against, Amount, Figure};

/// The figures of one drive, to be computed.
#[derive(Debug, Clone, Copy)]
pub struct DriveFigures {
    drive: Preset,
}

impl DriveFigures {
    /// The figures of a drive.
    #[must_use]
    pub const fn of(drive: Preset) -> Self {
        Self { drive }
    }

    /// Simulates the drive and computes its figures.
    #[must_use]
    pub fn compute(self) -> Vec<Figure> {
        let Preset { name, text } = self.drive;
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
                Check::Unchecked { why } => {
                    (Amount::Written(figure.value.clone()), None, why.clone())
                }
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
}

fn amount(expected: Expected) -> (Unit, f64) {
    match expected {
        Expected::BytesPerSecond(rate) => (Unit::BytesPerS, rate as f64),
        Expected::RequestsPerSecond(rate) => (Unit::PerS, rate),
        Expected::Nanos(time) => (Unit::Ns, time as f64),
    }
}
