//! Where a filesystem spends processor time: the functions of the lab kernel that executed the most
//! basic blocks, phase by phase.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::grid::ReportTable;
use super::number;
use super::words::{Style, plain};

/// The maximum number of functions shown per phase.
const MOST_SHOWN: usize = 15;

/// The functions that executed the most basic blocks in a phase.
pub fn functions(phase: &str, executed: &BTreeMap<String, u64>, style: Style) -> String {
    let total: u64 = executed.values().sum();
    let mut ranked: Vec<(&str, u64)> =
        executed.iter().map(|(name, blocks)| (name.as_str(), *blocks)).collect();
    ranked.sort_by_key(|(name, blocks)| (std::cmp::Reverse(*blocks), *name));
    let share = |blocks: u64| format!("{:.1} %", 100.0 * blocks as f64 / total.max(1) as f64);
    let row = |(name, blocks): &(&str, u64)| {
        vec![plain(name), number::count(*blocks as f64), share(*blocks)]
    };
    let header = ["function", "blocks", "share"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = ranked.iter().take(MOST_SHOWN).map(row).collect();
    let mut out = format!("{}: {} blocks", plain(phase), number::count(total as f64));
    if ranked.len() > MOST_SHOWN {
        let rest: u64 = ranked[MOST_SHOWN..].iter().map(|(_, blocks)| blocks).sum();
        let others = ranked.len() - MOST_SHOWN;
        let _ = write!(out, ", {} of them in {others} functions not shown", share(rest));
    }
    let table = ReportTable { header, rows, numbers: 1 };
    let _ = write!(out, "\n{}\n", table.text(style));
    out
}

#[cfg(test)]
mod tests;
