//! fio: runs a job file in the trial's directory and reads what fio reports.
//!
//! A job file can name any file, even a disk, and this program runs as root: names that lead out of
//! the trial's directory are refused before fio starts.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, Rules};
use ssdlab_plan::metric::FIO_PREFIX;
use ssdlab_plan::schedule::Hashes;

use super::printed::fio::Job;
use super::{WorkloadError, input, printed};

/// I/O engines that only access the files of a job.
const ENGINES: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"];

/// Keys of a job file that only concern its files; fio has others that run programs, switch the
/// scheduler or write logs elsewhere.
const KEYS: [&str; 69] = [
    "name",
    "rw",
    "readwrite",
    "size",
    "filesize",
    "io_size",
    "io_limit",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "ba",
    "blockalign",
    "filename",
    "nrfiles",
    "openfiles",
    "file_service_type",
    "numjobs",
    "thread",
    "iodepth",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_low",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "end_fsync",
    "fsync_on_close",
    "sync_file_range",
    "ioengine",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "runtime",
    "time_based",
    "ramp_time",
    "startdelay",
    "loops",
    "number_ios",
    "stonewall",
    "wait_for_previous",
    "group_reporting",
    "new_group",
    "rwmixread",
    "rwmixwrite",
    "rate",
    "rate_iops",
    "rate_min",
    "thinktime",
    "thinktime_blocks",
    "randrepeat",
    "randseed",
    "norandommap",
    "random_distribution",
    "percentage_random",
    "offset",
    "offset_increment",
    "overwrite",
    "fallocate",
    "invalidate",
    "refill_buffers",
    "zero_buffers",
    "buffer_compress_percentage",
    "percentile_list",
];

/// The longest line, in bytes. fio reads a longer one as several, the first of which may be a
/// comment (fio 3.33, init.c: 4096 bytes).
const MOST_LINE_BYTES: usize = 1000;

/// The longest job file, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a job file that touches nothing outside its working directory and starts no other
/// programs. It is what fio is to be given: the file may be another by then.
pub(super) fn read(
    job: &Path,
    inputs: &Hashes,
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

/// Refuses a job that could access anything outside its working directory or start other programs.
/// No job needs a slash or a variable: fio even treats a section's name as a file if a device has
/// that name. Lines and blanks are defined as in fio.
fn check(text: &str) -> Result<(), String> {
    for (index, line) in text.split('\n').enumerate() {
        let is_blank = |c: char| c == ' ' || c == '\t';
        let trimmed = line.trim_matches(is_blank);
        let (key, value) = trimmed
            .split_once('=')
            .map_or((trimmed, ""), |(k, v)| (k.trim_matches(is_blank), v.trim_matches(is_blank)));
        let why = if line.contains(|c: char| c.is_control() && c != '\t') {
            "has a control character, at which fio may truncate or split it"
        } else if line.len() > MOST_LINE_BYTES {
            "is longer than 1000 bytes, and fio splits long lines"
        } else if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        } else if line.contains('/') || line.contains("..") {
            "leads out of the trial's directory"
        } else if line.contains(['$', '`']) {
            "depends on the environment"
        } else if !key.starts_with('[') && !KEYS.contains(&key) {
            "is not among the keys that only concern a job's files"
        } else if key == "ioengine" && !ENGINES.contains(&value) {
            "names an I/O engine that is not known to access only files"
        } else {
            continue;
        };
        let shown: String = trimmed.chars().filter(|c| !c.is_control()).take(100).collect();
        return Err(format!("line {}: `{shown}` {why}", index + 1));
    }
    Ok(())
}

/// Runs a checked job; returns fio's results as metrics.
pub(super) fn run(
    text: &str,
    directory: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, f64>, WorkloadError> {
    let mut command = Command::new(program::find("fio", "fio")?);
    // It reads the job from its input.
    command.args(["--output-format=json", "-"]).current_dir(directory);
    parse(&program::run_with_input(command, text, rules)?.stdout)
}

/// Reads fio's JSON. With one job a metric is `fio.read_iops`, with several `fio.JOB.read_iops`:
/// percentiles of several jobs cannot be combined (axboe/fio#752).
pub(super) fn parse(printed: &str) -> Result<BTreeMap<String, f64>, WorkloadError> {
    let report =
        printed::fio::report(printed).map_err(|reason| WorkloadError::FioOutput { reason })?;
    let is_alone = report.jobs.len() == 1;
    let of_job = |job: Job| {
        let prefix =
            if is_alone { FIO_PREFIX.to_owned() } else { format!("{FIO_PREFIX}{}.", job.name) };
        job.values.into_iter().map(move |(name, value)| (format!("{prefix}{name}"), value))
    };
    Ok(report.jobs.into_iter().flat_map(of_job).collect())
}

#[cfg(test)]
mod tests;
