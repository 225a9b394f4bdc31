//! A repeated power cut, for the terminal: what the drive had, what became of the files, and
//! whether that matches the record.

mod course;

use std::fmt::Write;

use ssdlab_operations::cuts::{
    CutMoment, CutOutcome, CutVerdict, Damage, DataVerdict, FsckResult, WatchedFile,
};
use ssdlab_results::{AtRisk, ChangedInput, FileAfter, RepeatedCut, Shrink};

use super::grid::ReportTable;
use super::number::{bytes, duration};
use super::words::{Style, counted, wrapped, written};

/// The maximum number of a check's or a kernel's lines that are shown; `--json` has all.
const MOST_LINES: usize = 10;

/// The note that explains the columns of the table of files.
const VERSIONS: &str =
    "Versions count replacements of a file, records of the log, and commits of a database.";

/// A finding with the smallest workload.
pub fn shrink(shrink: &Shrink, style: Style) -> String {
    written(|out| write_shrink(out, shrink, style))
}

fn write_shrink(out: &mut String, shrink: &Shrink, style: Style) -> std::fmt::Result {
    let Shrink { finding, from, to, trials, is_least, cuts, found, command, .. } = shrink;
    let phases = |phases: &[String]| {
        let phases = phases.iter().map(|phase| format!("    {{ {phase} }},\n"));
        format!("phases = [\n{}]", phases.collect::<String>())
    };
    let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    let end = if *is_least { "no smaller one tried has it" } else { "there may be smaller ones" };
    writeln!(out, "The smallest workload with {finding}:\n{}", phases(to))?;
    writeln!(out, "instead of\n{}", phases(from))?;
    let says = format!(
        "Found in {}; {end}. {found} of its {cuts} power cuts have {finding}; with as little lost \
         as possible, the first of them is",
        counted(number(*trials), "trial")
    );
    writeln!(out, "{}\n    {command}\n", wrapped("", &says, "", style))?;
    write_all(out, &shrink.repeat, style)
}

/// A repeated cut.
pub fn repeat(repeat: &RepeatedCut, style: Style) -> String {
    written(|out| write_all(out, repeat, style))
}

fn write_all(out: &mut String, repeat: &RepeatedCut, style: Style) -> std::fmt::Result {
    let RepeatedCut { run, trial, levels, repeated, drive, .. } = repeat;
    let CutOutcome { cut, survivor, .. } = repeated;
    let mut say = |text: &str| writeln!(out, "{}", wrapped("", text, "", style));
    say(&format!("{run}, trial {trial}, cut {cut}, survivor {survivor}: {levels}"))?;
    say(&format!("Cut off {}.", moment(repeated)))?;
    say(&at_risk(drive))?;
    say(&format!("Image: {} bytes, SHA-256 {}", repeat.image_bytes, repeat.contents_sha256))?;
    write_recovery(out, &repeated.into(), style)?;
    write_data(out, repeated.data.as_ref(), style)?;
    write_course(out, repeat, style)?;
    write_files(out, &repeat.files, style)?;
    writeln!(out)?;
    write_agreement(out, repeat, style)
}

fn moment(outcome: &CutOutcome) -> String {
    let chosen = match outcome.moment {
        CutMoment::Event => "at a request, a flush or a promise",
        CutMoment::Random => "at a random moment",
    };
    let at = duration(outcome.at_ns as f64);
    format!("{at} ({} ns) into the trial, in phase {}, {chosen}", outcome.at_ns, outcome.phase)
}

/// What the drive had of its requests.
pub(super) fn at_risk(drive: &AtRisk) -> String {
    let writes = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "write");
    let amount = |amount: u64| bytes(amount as f64);
    let survived = match drive.older_bytes {
        0 => "All of it survived".to_owned(),
        older => format!("{} hold older data than were submitted last", amount(older)),
    };
    format!(
        "Drive: {} requests submitted; volatile: {} ({}); under way: {} ({}). {survived}.",
        drive.requests,
        writes(drive.volatile),
        amount(drive.volatile_bytes),
        writes(drive.under_way),
        amount(drive.under_way_bytes),
    )
}

/// The outcome of mounting and checking a filesystem.
pub(super) struct ReportedRecovery<'a> {
    /// Why it could not be mounted.
    pub unmountable: Option<&'a str>,
    /// How long mounting took, in ns.
    pub recovery_ns: Option<u64>,
    /// What its check said before that, and says now.
    pub checked_before: Option<&'a FsckResult>,
    pub amiss: Option<&'a str>,
    pub unchecked: bool,
}

impl<'a> From<&'a CutOutcome> for ReportedRecovery<'a> {
    fn from(outcome: &'a CutOutcome) -> Self {
        Self {
            unmountable: outcome.unmountable.as_deref(),
            recovery_ns: outcome.recovery_ns,
            checked_before: outcome.checked_before.as_ref(),
            amiss: outcome.amiss.as_deref(),
            unchecked: outcome.unchecked,
        }
    }
}

pub(super) fn write_recovery(
    out: &mut String,
    recovered: &ReportedRecovery<'_>,
    style: Style,
) -> std::fmt::Result {
    if let Some(FsckResult::Amiss(said)) = recovered.checked_before {
        writeln!(out, "Before it was mounted, the filesystem's own check said:")?;
        write_said(out, said, style)?;
    }
    let mounted = match (recovered.unmountable, recovered.recovery_ns) {
        (Some(reason), _) => {
            writeln!(out, "It cannot be mounted:")?;
            write_said(out, reason, style)?;
            String::new()
        }
        (None, Some(took)) => format!("Mounted in {}. ", duration(took as f64)),
        (None, None) => String::new(),
    };
    let Some(amiss) = recovered.amiss else {
        let check = if recovered.unchecked {
            "The filesystem's own check was not run: it has none, or the kernel had died."
        } else {
            "The filesystem's own check finds nothing amiss."
        };
        return writeln!(out, "{mounted}{check}");
    };
    writeln!(out, "{mounted}The filesystem's own check says:")?;
    write_said(out, amiss, style)
}

/// What the plan's own check says, if there is one.
fn write_data(out: &mut String, data: Option<&DataVerdict>, style: Style) -> std::fmt::Result {
    match data {
        None => Ok(()),
        Some(DataVerdict::Accepted) => writeln!(out, "The plan's check accepts the data."),
        Some(DataVerdict::Rejected(said)) => {
            writeln!(out, "The plan's check rejects the data:")?;
            write_said(out, said, style)
        }
    }
}

fn write_said(out: &mut String, said: &str, style: Style) -> std::fmt::Result {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in lines.iter().take(MOST_LINES) {
        writeln!(out, "{}", wrapped("    ", line, "    ", style))?;
    }
    match lines.len().checked_sub(MOST_LINES + 1) {
        Some(more) => writeln!(out, "    and {} (--json)", counted(more + 1, "more line")),
        None => Ok(()),
    }
}

/// What happened before the cut.
fn write_course(out: &mut String, repeat: &RepeatedCut, style: Style) -> std::fmt::Result {
    let Some((table, earlier)) = course::table(repeat) else { return Ok(()) };
    writeln!(out)?;
    writeln!(out, "{}", table.text(style))?;
    match earlier {
        0 => Ok(()),
        count => writeln!(out, "{} (--json).", counted(count, "earlier event")),
    }
}

/// The files that lost something or are damaged, and the number of the others.
fn write_files(out: &mut String, files: &[FileAfter], style: Style) -> std::fmt::Result {
    let (changed, others): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| file.verdict != CutVerdict::default());
    if files.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    if !changed.is_empty() {
        let header = ["file", "promised", "done", "found", "finding"].map(str::to_owned).to_vec();
        let rows = changed.into_iter().map(row).collect();
        writeln!(out, "{}", ReportTable { header, rows, numbers: usize::MAX }.text(style))?;
        writeln!(out, "{}", wrapped("", VERSIONS, "", style))?;
    }
    match others.len() {
        0 => Ok(()),
        count => writeln!(out, "{} unaffected.", counted(count, "other file")),
    }
}

fn row(file: &FileAfter) -> Vec<String> {
    vec![
        file.name.clone(),
        file.expected.promised.to_string(),
        file.expected.done.to_string(),
        found(file),
        finding(&file.verdict),
    ]
}

fn found(file: &FileAfter) -> String {
    let is_log = file.name == WatchedFile::Log.name();
    match (file.found.version, file.found.fault) {
        (Some(version), None) => version.to_string(),
        // What follows whole records.
        (Some(version), Some(Damage::Torn)) if is_log => format!("{version}, then a part of one"),
        (Some(version), Some(fault)) if is_log => format!("{version}, then {fault}"),
        (Some(version), Some(fault)) => format!("{version}, {fault}"),
        (None, fault) => fault.map_or_else(|| "nothing".to_owned(), |fault| fault.to_string()),
    }
}

/// The state of the files, in words.
fn finding(verdict: &CutVerdict) -> String {
    let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    let mut says = Vec::new();
    if verdict.broken_promises > 0 {
        says.push(counted(number(verdict.broken_promises), "broken promise"));
    }
    says.extend(verdict.damaged.iter().map(|(fault, count)| format!("{count} damaged ({fault})")));
    if verdict.lost_operations > 0 {
        let operations = counted(number(verdict.lost_operations), "operation");
        let (lost, since) = (bytes(verdict.lost_bytes as f64), duration(verdict.lost_ns as f64));
        says.push(format!("{operations} lost ({lost}, of the last {since})"));
    }
    if says.is_empty() { "nothing lost".to_owned() } else { says.join(", ") }
}

/// The outcome of a cut, in words.
fn outcome(outcome: &CutOutcome) -> String {
    let is_unmountable = outcome.unmountable.is_some();
    let data = outcome.data.as_ref().map(|data| match data {
        DataVerdict::Accepted => "the data is accepted",
        DataVerdict::Rejected(_) => "the data is rejected",
    });
    let parts = [
        is_unmountable.then(|| "unmountable".to_owned()),
        outcome.verdict.as_ref().map(finding),
        data.map(str::to_owned),
        outcome.amiss.as_ref().map(|_| "the check fails".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn write_agreement(out: &mut String, repeat: &RepeatedCut, style: Style) -> std::fmt::Result {
    let RepeatedCut { recorded, repeated, changes, .. } = repeat;
    let mut say = |text: &str| writeln!(out, "{}", wrapped("", text, "", style));
    if repeat.agrees && repeat.chosen {
        say(&format!("Found: {}.", outcome(repeated)))?;
        say(&format!("Recorded, with losses drawn at random: {}.", outcome(recorded)))?;
    } else if repeat.agrees {
        say(&format!("As recorded: {}.", outcome(recorded)))?;
    } else {
        say("This is not what the record says.")?;
        say(&format!("Recorded: cut off {}: {}.", moment(recorded), outcome(recorded)))?;
        say(&format!("Repeated: cut off {}: {}.", moment(repeated), outcome(repeated)))?;
        if !repeat.same_trial {
            say("The trial itself went another way.")?;
        }
        if changes.is_empty() {
            say(
                "It was made with the same program, lab kernel, drive and tools: please report it.",
            )?;
        }
    }
    for ChangedInput { of, recorded, repeated } in changes {
        let [recorded, repeated] =
            [recorded, repeated].map(|with| with.as_deref().unwrap_or("unknown"));
        say(&format!("{of}: recorded with {recorded}, repeated with {repeated}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
