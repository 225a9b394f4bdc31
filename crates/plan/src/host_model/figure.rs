//! Published times that a host's costs were fitted to, and what the host makes of them.
//!
//! A host takes the time that it charges for what the lab kernel counts. So whether it still gives
//! a figure is known without running a guest, as long as waiting for the drive is no part of it.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;
use ssdlab_quantity::Span;
use toml::Spanned;

use super::costs::Costs;
use crate::error::PlanFault;

/// The figures of a file, by name.
pub(super) type HostFigures = BTreeMap<String, Spanned<HostFigure>>;

/// A published time that costs were fitted to: a plausible host still gives it. The lab charges for
/// what it counts, so nothing has to run to see that; a time that the drive decides is no such
/// figure.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HostFigure")]
pub(super) struct HostFigure {
    /// What was measured, and by whom.
    #[schemars(example = &"deleting 36,706 files (a post of 2011)")]
    source: String,
    /// The time.
    #[schemars(example = &"470 ms")]
    value: Span,
    /// The share by which the host may be off, above 0 and below 1.
    #[schemars(example = 0.25)]
    within: f64,
    /// What the lab kernel counts for it: [`counts`](#counts-of-a-figure).
    counts: Counted,
}

/// What the lab kernel counts; nothing by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Counted {
    /// Basic blocks.
    #[schemars(example = 315_000_000)]
    blocks: u64,
    /// System calls.
    #[schemars(example = 39_000)]
    calls: u64,
    /// KiB copied or zeroed.
    #[schemars(example = 640_000)]
    copy: u64,
    /// KiB of CRC-32 or CRC-32C.
    #[schemars(example = 120_000)]
    crc32: u64,
}

impl HostFigure {
    /// The fault of a figure, which the file has at this place.
    pub(super) fn fault(&self, name: &str, span: Range<usize>) -> Option<PlanFault> {
        if self.source.trim().is_empty() {
            return Some(PlanFault::at(
                span,
                format!("the figure `{name}` has no source"),
                "say what was measured, and by whom",
            ));
        }
        let is_right = 0.0 < self.within && self.within < 1.0 && self.value.nanos() > 0;
        (!is_right).then(|| {
            PlanFault::at(
                span,
                format!("no host can give the figure `{name}`"),
                "its `value` is above 0, and `within` a share above 0 and below 1",
            )
        })
    }

    /// Whether a host with these costs takes as long as it should.
    pub(super) fn is_given_by(&self, costs: &Costs) -> bool {
        (self.time_ns(costs) / self.value_ns() - 1.0).abs() <= self.within
    }

    /// The time that a host with these costs takes.
    pub(super) fn time_ns(&self, costs: &Costs) -> f64 {
        let Counted { blocks, calls, copy, crc32 } = self.counts;
        let Costs { block_ps, call_ns, copy_ns, crc32_ns, .. } = *costs;
        let in_ns = [(calls, call_ns), (copy, copy_ns), (crc32, crc32_ns)];
        let in_ns = in_ns.map(|(count, each)| count as f64 * each as f64);
        blocks as f64 * block_ps as f64 / 1e3 + in_ns.iter().sum::<f64>()
    }

    pub(super) fn value_ns(&self) -> f64 {
        self.value.nanos() as f64
    }
}
