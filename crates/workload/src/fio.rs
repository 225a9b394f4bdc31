//! fio: runs a job file in the trial's directory and reads what fio reports.
//!
//! A job file can name any file, even a disk, and this program runs as root: names that lead out of
//! the trial's directory are refused before fio starts.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, ProgramError, ProgramOutput, Rules};
use ssdlab_plan::metric::FIO_PREFIX;
use ssdlab_plan::schedule::FileHashes;

use self::job_file::check;
use super::printed::fio::FioGroup;
use super::{PhaseOutcome, WorkloadError, input, printed};

mod job_file;

/// How long fio may take to parse a job file.
const PARSING_LIMIT: Duration = Duration::from_mins(1);

/// The longest job file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a job file that touches nothing outside its working directory and starts no other
/// programs. It is what fio is to be given: the file may be another by then.
pub(super) fn read(
    job: &Path,
    inputs: &FileHashes,
    interrupt: &Interrupt,
) -> Result<String, WorkloadError> {
    let refused = |reason: String| WorkloadError::Job { job: job.to_owned(), reason };
    let mut text = String::new();
    let file = input::private(job, inputs, interrupt)?;
    file.take(MOST_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|cause| refused(cause.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(refused(format!("it has more than {MOST_BYTES} bytes")));
    }
    check(&text).map_err(refused)?;
    Ok(text)
}

/// Reads a job file, and refuses it as a run would, including what this machine's fio does not
/// understand.
pub fn check_job(job: &Path) -> Result<String, WorkloadError> {
    let interrupt = Interrupt::default();
    let text = read(job, &FileHashes::new(), &interrupt)?;
    // fio may only be where the plan will run.
    if let Ok(fio) = program::find("fio", "fio") {
        let mut command = Command::new(fio);
        command.args(["--parse-only", "--output-format=json", "-"]);
        let rules = Rules { marker: "check", limit: PARSING_LIMIT, interrupt: &interrupt };
        match program::run_with_input(command, &text, rules) {
            Err(ProgramError::Failed { output, .. }) => {
                let reason = format!("fio refuses it: {}", program::tail(&output));
                return Err(WorkloadError::Job { job: job.to_owned(), reason });
            }
            other => drop(other?),
        }
    }
    Ok(text)
}

/// Runs a checked job; returns what fio measured.
pub(super) fn run(
    text: &str,
    directory: &Path,
    rules: Rules<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let mut command = Command::new(program::find("fio", "fio")?);
    // It reads the job from its input.
    command.args(["--output-format=json", "-"]).current_dir(directory);
    // It complains on both, before and after the JSON.
    let complaint = |finished: &ProgramOutput| {
        format!("{}\n{}", finished.stderr, printed::fio::messages(&finished.stdout))
    };
    parse(&program::run_with_complaint(command, text, rules, complaint)?.stdout)
}

/// Reads fio's JSON. A metric is `fio.JOB.read_iops`, and with one job `fio.read_iops` as well.
fn parse(printed: &str) -> Result<PhaseOutcome, WorkloadError> {
    let report =
        printed::fio::report(printed).map_err(|reason| WorkloadError::FioOutput { reason })?;
    let mut reported: BTreeMap<String, f64> = report.rates().collect();
    for group in &report.groups {
        for (name, value) in group.values() {
            if report.groups.len() == 1 {
                reported.insert(format!("{FIO_PREFIX}{name}"), value);
            }
            reported.insert(format!("{FIO_PREFIX}{}.{name}", group.name), value);
        }
    }
    let remarks: Vec<String> = report.groups.iter().filter_map(FioGroup::remark).collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    Ok(PhaseOutcome { reported, remark, ..PhaseOutcome::default() })
}

#[cfg(test)]
mod tests;
