//! The tables: phases by treatments, as the founding posts print them.
//!
//! Columns are the levels the question is about, the baseline first; rows are phases, once for
//! each combination of the other factors.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::number;
use super::text::{Style, plain};
use crate::advice::{Analysis, Effect, Treatment, TreatmentStatus};
use crate::plan::{Factor, Levels, Schedule};

/// How treatments are laid out: which factors make columns, which make rows.
pub(super) struct Layout<'a> {
    schedule: &'a Schedule,
    analysis: &'a Analysis,
    /// Combinations of the factors the question is about.
    columns: Vec<Levels>,
    /// Combinations of the others.
    rows: Vec<Levels>,
}

impl<'a> Layout<'a> {
    pub fn new(schedule: &'a Schedule, analysis: &'a Analysis) -> Self {
        let asked = |factor: &Factor| schedule.baseline.0.contains_key(factor);
        let part = |levels: &Levels, is_asked: bool| {
            let kept = levels.0.iter().filter(|(factor, _)| asked(factor) == is_asked);
            Levels(kept.map(|(factor, level)| (*factor, level.clone())).collect())
        };
        let mut columns = vec![schedule.baseline.clone()];
        let mut rows: Vec<Levels> = Vec::new();
        for treatment in &schedule.treatments {
            let (column, row) = (part(&treatment.levels, true), part(&treatment.levels, false));
            if !columns.contains(&column) {
                columns.push(column);
            }
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        Self { schedule, analysis, columns, rows }
    }

    fn treatment(&self, row: &Levels, column: &Levels) -> Option<&'a Treatment> {
        let levels = row.with(column);
        self.analysis.treatments.iter().find(|treatment| treatment.levels == levels)
    }

    /// The factors that differ between rows: the others are said once, above the table.
    fn row_label(&self, row: &Levels) -> String {
        let differs = |factor: &Factor| {
            self.rows.iter().any(|other| other.0.get(factor) != self.rows[0].0.get(factor))
        };
        let levels = row.0.iter().filter(|(factor, _)| differs(factor));
        // A level that is a name speaks for itself; an amount or a switch does not.
        let shown = |(factor, level): (&Factor, &String)| match factor {
            Factor::Filesystem
            | Factor::Atime
            | Factor::Scheduler
            | Factor::Drive
            | Factor::Condition
            | Factor::Host => level.clone(),
            _ => format!("{factor} {level}"),
        };
        plain(&levels.map(shown).collect::<Vec<_>>().join(", "))
    }

    fn header(&self, column: &Levels) -> String {
        if column.0.is_empty() {
            return String::new();
        }
        let is_baseline = *column == self.schedule.baseline && self.columns.len() > 1;
        plain(&format!("{column}{}", if is_baseline { " (baseline)" } else { "" }))
    }

    /// The plan's metric: means, and the ratio to the baseline with its interval.
    pub fn main_table(&self, style: Style) -> String {
        self.table(style, |treatment, phase| self.main_cell(treatment, phase))
    }

    /// What reached the device: bytes and requests.
    pub fn device_table(&self, style: Style) -> String {
        self.table(style, device_cell)
    }

    fn table(&self, style: Style, cell: impl Fn(&Treatment, &str) -> Option<String>) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        if let Some(width) = style.width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        let labelled = self.rows.len() > 1;
        let mut header = vec!["phase".to_owned()];
        header.extend(self.columns.iter().map(|column| self.header(column)));
        if labelled {
            header.insert(0, String::new());
        }
        table.set_header(header);
        for row in &self.rows {
            let phases = self.schedule.phase_names();
            for (index, phase) in phases.iter().enumerate() {
                let cells: Vec<Option<String>> = self
                    .columns
                    .iter()
                    .map(|column| cell(self.treatment(row, column)?, phase))
                    .collect();
                if cells.iter().all(Option::is_none) && index > 0 {
                    continue;
                }
                let mut line = vec![phase.clone()];
                line.extend(cells.into_iter().map(Option::unwrap_or_default));
                if labelled {
                    let label = if index == 0 { self.row_label(row) } else { String::new() };
                    line.insert(0, label);
                }
                table.add_row(line);
            }
        }
        for column in table.column_iter_mut().skip(1 + usize::from(labelled)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn main_cell(&self, treatment: &Treatment, phase: &str) -> Option<String> {
        let metric = self.analysis.metric.as_str();
        let Some(mean) = mean(treatment, phase, metric) else {
            let is_first = self.schedule.phase_names().first().is_some_and(|first| first == phase);
            return (is_first && treatment.status != TreatmentStatus::Ok)
                .then(|| treatment.status.to_string());
        };
        let mut cell = number::value(metric, mean);
        match metric {
            "time_ns" => {
                if let Some(rate) = self.rate(treatment, phase) {
                    cell = format!("{cell} ({rate})");
                }
                cell += &settled(treatment, phase, mean);
            }
            "written_bytes" => {
                let requests = self::mean(treatment, phase, "write_requests").unwrap_or(0.0);
                cell = format!("{cell} / {}", number::value("write_requests", requests));
            }
            _ => {}
        }
        if let Some(published) = self.schedule.published(&treatment.levels, phase) {
            cell = format!("{cell}\npublished {}", number::value(metric, published));
        }
        if let Some(effect) = self.effect(treatment, phase) {
            cell = format!("{cell}\n{}", number::effect(effect.ratio, effect.interval));
        }
        Some(cell)
    }

    fn effect(&self, treatment: &Treatment, phase: &str) -> Option<&'a Effect> {
        self.analysis.effects.iter().find(|effect| {
            effect.levels == treatment.levels
                && effect.metric == self.analysis.metric
                && effect.phases == [phase]
        })
    }

    /// Bytes that the phases up to this sync wrote, over the time they took together: the post's
    /// 172 MB/s is 493 MB over unpack and sync.
    fn rate(&self, treatment: &Treatment, phase: &str) -> Option<String> {
        let index = self.schedule.find(&treatment.levels)?;
        let (mut bytes, mut ns) = (0.0, 0.0);
        for step in self.schedule.phases(index) {
            bytes += mean(treatment, &step.name, "application_bytes").unwrap_or(0.0);
            ns += mean(treatment, &step.name, "time_ns")?;
            if step.name == phase {
                return (step.syncs() && bytes > 0.0).then(|| number::rate(bytes, ns));
            }
            if step.syncs() {
                (bytes, ns) = (0.0, 0.0);
            }
        }
        None
    }
}

fn mean(treatment: &Treatment, phase: &str, metric: &str) -> Option<f64> {
    let summary = treatment.summary.iter().find(|summary| summary.name == phase)?;
    Some(summary.metrics.get(metric)?.mean)
}

/// A phase that leaves work behind is not over when it returns: said where it is a tenth or
/// more.
fn settled(treatment: &Treatment, phase: &str, time: f64) -> String {
    match mean(treatment, phase, "settled_ns") {
        Some(settled) if settled > 1.1 * time => {
            format!("\nquiet after {}", number::value("settled_ns", settled))
        }
        _ => String::new(),
    }
}

fn device_cell(treatment: &Treatment, phase: &str) -> Option<String> {
    let of = |metric: &str| mean(treatment, phase, metric);
    let mut cell = format!(
        "{} / {}",
        number::value("written_bytes", of("written_bytes")?),
        number::value("write_requests", of("write_requests")?)
    );
    let discards = of("discard_requests")?;
    if discards > 0.0 {
        let bytes = number::value("discarded_bytes", of("discarded_bytes")?);
        let requests = number::value("discard_requests", discards);
        cell = format!("{cell}\ndiscarded {bytes} / {requests}");
    }
    Some(cell)
}
