//! fio: runs a job file in the trial's directory and reads what fio reports.
//!
//! A job file can name any file, a disk included, and this program runs as root: names that
//! lead out of the trial's directory are refused before fio starts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::printed::fio::Job;
use super::{WorkloadError, printed};
use crate::host::program::{self, Rules};
use crate::plan::metric::FIO_PREFIX;

/// I/O engines that only read and write the files of a job.
const ENGINES: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"];

/// Keys of a job file that say what is done to its files and nothing else; fio has others that run
/// programs, switch the scheduler or write logs elsewhere.
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

/// Refuses a job file that could touch anything outside its working directory or start other
/// programs. Nothing in a job needs a slash or a variable: fio takes even a section's name for
/// a file where a device has that name.
pub(super) fn check(job: &Path) -> Result<(), WorkloadError> {
    let refused = |reason: String| WorkloadError::Job { job: job.to_owned(), reason };
    if !job.is_file() {
        return Err(refused("it is not a file".to_owned()));
    }
    let text = fs::read_to_string(job).map_err(|cause| refused(cause.to_string()))?;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, ""), |(k, v)| (k.trim(), v.trim()));
        let why = if line.contains('/') || line.contains("..") {
            "leads out of the trial's directory"
        } else if line.contains(['$', '`']) {
            "depends on the environment"
        } else if !key.starts_with('[') && !KEYS.contains(&key) {
            "is not among the keys that only say what is done to a job's files"
        } else if key == "ioengine" && !ENGINES.contains(&value) {
            "names an I/O engine that is not known to stay within files"
        } else {
            continue;
        };
        return Err(refused(format!("line {}: `{line}` {why}", index + 1)));
    }
    Ok(())
}

/// Runs the job; returns fio's results as metrics.
pub(super) fn run(
    job: &Path,
    directory: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, f64>, WorkloadError> {
    check(job)?;
    let mut command = Command::new(program::find("fio", "fio")?);
    command.arg("--output-format=json").arg(job).current_dir(directory);
    parse(&program::run(command, rules)?.stdout)
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
mod tests {
    use super::*;
    use std::io::Write;

    const REPORT: &str = r#"fio: this platform does not support process shared mutexes
{
  "jobs": [ { "jobname": "a", "error": 0,
      "read": { "total_ios": 10, "iops": 123.5, "bw_bytes": 4096,
                "clat_ns": { "mean": 9.0, "percentile": { "50.000000": 8, "99.000000": 20 } } },
      "write": { "total_ios": 0, "iops": 0.0 } } ]
}
fio: some farewell
"#;

    /// axboe/fio#731: text around the JSON.
    #[test]
    fn text_around_the_json_is_passed_over() {
        let metrics = parse(REPORT).unwrap();
        assert_eq!(metrics.get("fio.read_iops"), Some(&123.5));
        assert_eq!(metrics.get("fio.read_clat_p99_ns"), Some(&20.0));
        assert!(!metrics.contains_key("fio.write_iops"));
    }

    #[test]
    fn what_is_no_report_is_an_error() {
        for text in ["", "{\n", "{\n\"jobs\": 3\n}\n", "{\n\"jobs\": []\n}\n", "fio: no\n"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse(&REPORT.replace("\"error\": 0", "\"error\": 5")).is_err());
    }

    #[test]
    fn a_job_that_names_a_disk_is_refused() {
        let job = |text: &str| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            check(file.path())
        };
        assert!(job("[a]\nrw=randwrite\nfilename=data\nsize=1m\n").is_ok());
        assert!(job("# see /etc\n[a]\nioengine = io_uring\nbs=4k\n").is_ok());
        for bad in [
            "filename=/dev/sda",
            "filename = a:/dev/sda",
            "directory=../..",
            "include x.fio",
            "[/dev/sda]",
            "filename=${DISK}",
            "exec_prerun=rm -rf x",
            "ioengine=exec",
            "ioscheduler=kyber",
            "write_bw_log=x",
            "replay_redirect=/dev/sda",
        ] {
            assert!(job(&format!("[a]\n{bad}\n")).is_err(), "{bad}");
        }
        assert!(check(Path::new("/no/such/job.fio")).is_err());
    }
}
