//! Defines how unmapped pages add to the spare capacity.
//!
//! A page that the host has discarded is as good as one it never saw. Each function gives the
//! spare factor of a drive without trimming that behaves alike in the steady state; it goes into
//! the functions of [`page_mapped`](super::page_mapped).

use super::argument::assert_fraction;

/// The effective spare factor when a share of all requests trims a random mapped page.
///
/// Writes go to all U pages alike. The mapped share settles at s = (1 - 2q) / (1 - q), and the
/// effective spare factor is 1 - (1 - Sf) s (Frankie, Hughes & Kreutz-Delgado 2012, "Analysis of
/// trim commands on overprovisioning and write amplification in solid state drives",
/// arXiv 1208.1794).
///
/// `spare_factor` lies strictly between 0 and 1; `trim_share`, the q of the paper, from 0 to below
/// 0.5, where trims would outrun the writes.
pub fn spare_with_requests(spare_factor: f64, trim_share: f64) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    assert!(
        (0.0..0.5).contains(&trim_share),
        "the share of trims must be at least 0 and below 0.5, but is {trim_share}"
    );
    spare_with_fill(spare_factor, (1.0 - 2.0 * trim_share) / (1.0 - trim_share))
}

/// The effective spare factor when only a share of the U pages is mapped, and the writes go there.
///
/// 1 - (1 - Sf) u, from the definition.
///
/// `spare_factor` lies strictly between 0 and 1, `fill` above 0 and up to 1.
pub fn spare_with_fill(spare_factor: f64, fill: f64) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    assert!(fill > 0.0 && fill <= 1.0, "the fill must be above 0 and at most 1, but is {fill}");
    1.0 - (1.0 - spare_factor) * fill
}
