//! Effects by host: one table per treatment, one sentence per ratio.

use std::collections::BTreeSet;
use std::iter;

use ssdlab_advice::{Analysis, ByHost, Host, HostRatio, RatioAcrossHosts};
use ssdlab_plan::Schedule;

use super::evidence::sides;
use super::grid::{self, ReportTable};
use super::number;
use super::words::{Style, counted, plain};

/// The maximum number of treatments whose hosts are shown in tables.
const MOST_TABLES: usize = 4;

/// The maximum number of ratios that each get a sentence.
const MOST_SENTENCES: usize = 6;

/// The width of a host's name, with its drive and its number of blocks.
const LABEL_WIDTH: usize = 40;

/// A report's format of a ratio with its interval.
pub(super) type RatioFormat<'a> = &'a dyn Fn(f64, Option<[f64; 2]>) -> String;

/// Tables of hosts by phases with their headings, split if they are too wide; empty if there are
/// too many treatments.
pub(super) fn tables(
    schedule: &Schedule,
    analysis: &Analysis,
    style: Style,
    written: RatioFormat<'_>,
) -> Vec<(String, Vec<ReportTable>)> {
    let effects: Vec<&ByHost> = analysis.by_host.iter().filter(|one| one.claim.is_none()).collect();
    let of_treatments: Vec<&[&ByHost]> =
        effects.chunk_by(|one, next| one.levels == next.levels).collect();
    if of_treatments.len() > MOST_TABLES {
        return Vec::new();
    }
    let side_by_side = grid::side_by_side(style, LABEL_WIDTH);
    let of_treatment = |effects: &[&ByHost]| {
        let tables = effects.chunks(side_by_side).map(|effects| table(effects, written));
        (heading(schedule, effects[0]), tables.collect())
    };
    of_treatments.into_iter().map(of_treatment).collect()
}

fn heading(schedule: &Schedule, effect: &ByHost) -> String {
    let [changed, from, context] = sides(schedule, &effect.levels, &effect.baseline);
    let context = if context.is_empty() { context } else { format!(" ({context})") };
    format!("{} with {changed} by host, against {from}{context}", effect.metric)
}

fn table(effects: &[&ByHost], written: RatioFormat<'_>) -> ReportTable {
    let hosts: BTreeSet<&Host> =
        effects.iter().flat_map(|one| &one.hosts).map(|own| &own.host).collect();
    let row = |host: &Host| {
        let own = |one: &&'_ ByHost| one.hosts.iter().find(|own| own.host == *host).cloned();
        let own: Vec<Option<HostRatio>> = effects.iter().map(own).collect();
        let blocks = own.iter().flatten().map(|own| own.n).max().unwrap_or(0);
        let cell = |own: Option<HostRatio>| {
            own.map_or(String::new(), |own| {
                let remark = if own.disagrees() { "\ndisagrees" } else { "" };
                format!("{}{remark}", written(own.ratio, own.interval))
            })
        };
        [plain(&host.to_string()), blocks.to_string()]
            .into_iter()
            .chain(own.into_iter().map(cell))
            .collect()
    };
    let across = |across: RatioAcrossHosts| written(across.ratio, Some(across.interval));
    let across = effects.iter().map(|one| one.across.map_or(String::new(), across));
    let last = ["across hosts".to_owned(), String::new()].into_iter().chain(across).collect();
    let phases = effects.iter().map(|one| plain(&one.phases.join(" + ")));
    ReportTable {
        header: ["host".to_owned(), "n".to_owned()].into_iter().chain(phases).collect(),
        rows: hosts.into_iter().map(row).chain(iter::once(last)).collect(),
        numbers: 1,
    }
}

/// What the hosts have in common, and which of them disagree. If there are many ratios, only those
/// in which hosts differ.
pub(super) fn sentences(
    schedule: &Schedule,
    analysis: &Analysis,
    written: RatioFormat<'_>,
) -> Vec<String> {
    let all = &analysis.by_host;
    let is_told = |one: &&ByHost| all.len() <= MOST_SENTENCES || one.hosts_differ();
    let told = all.iter().filter(is_told).map(|one| sentence(schedule, one, written));
    let mut sentences: Vec<String> = told.collect();
    let others = all.len() - sentences.len();
    if others > 0 {
        let others = counted(others, "other ratio");
        sentences.push(format!("{others}: no difference between hosts is shown"));
    }
    sentences
}

fn sentence(schedule: &Schedule, one: &ByHost, written: RatioFormat<'_>) -> String {
    let what = match &one.claim {
        Some(claim) => format!("claim {claim}"),
        None => format!("{}, {}", one.phases.join(" + "), schedule.distinct(&one.levels)),
    };
    let Some(across) = one.across else {
        return format!("{what}: one pair a host tells nothing of how they differ");
    };
    let ratio = written(across.ratio, Some(across.interval));
    let why = format!("I² {:.0} %, {}", across.i_squared * 100.0, number::p_value(across.p_same));
    if !one.hosts_differ() {
        let hosts = one.hosts.len();
        return format!(
            "{what}: no difference between the {hosts} hosts is shown ({why}): {ratio} across hosts"
        );
    }
    let have_drives = one.hosts.iter().all(|own| own.host.drive.is_some());
    let such = if have_drives { "SSDs" } else { "hosts" };
    let disagree = one
        .disagreeing()
        .map(|own| format!("; {} disagrees: {}", own.host, written(own.ratio, own.interval)));
    let disagree: String = disagree.collect();
    format!("{what}: the hosts differ ({why}): {ratio} across {such} like these{disagree}")
}
