//! The virtual lab against the same simulated drive served in real time, as `make cross-check`
//! measures both.
//!
//! Nothing is published here and nothing fitted: one drive model is below both, so that what
//! differs is the kernel, the clock and the processor. These numbers are not counted among the
//! predictions of published ones.

use serde::Deserialize;
use ssdlab_plan::metric::Unit;

use super::figure::{Agreement, Figure, FigureReference, PublishedAmount};

/// The measurements shipped with the program, as `make cross-check` writes them.
const MEASURED: &str = include_str!("../../cross-check.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossCheck {
    /// The kernel that the drive was served to.
    served_to: String,
    /// The lab kernel.
    lab: String,
    figures: Vec<Measurement>,
}

/// A number on both sides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measurement {
    id: String,
    what: String,
    unit: Unit,
    served: f64,
    lab: f64,
}

/// The figures of the cross-check.
///
/// # Panics
///
/// Never: a test reads the measurements.
pub fn cross_checks() -> Vec<Figure> {
    let CrossCheck { served_to, lab, figures } =
        toml::from_str(MEASURED).expect("a test reads the measurements");
    let figure = |measured: Measurement| Figure {
        test: measured.id.clone(),
        id: format!("cross-check/{}", measured.id),
        source: format!("the same simulated drive served in real time to Linux {served_to}"),
        what: measured.what,
        published: PublishedAmount::Of(measured.unit, measured.served),
        ours: Some(measured.lab),
        how: format!("the virtual lab with Linux {lab}"),
        basis: Agreement::HeldOut,
        against: FigureReference::Served,
    };
    figures.into_iter().map(figure).collect()
}
