//! What a fio job file may contain: options that only concern the job's own files.
//!
//! fio has others that run programs, write logs or change the machine. No job needs a path or a
//! variable: fio even treats a section's name as a file if a device has that name.

use ssdlab_plan::did_you_mean;
use ssdlab_plan::fio_job::{BLANKS, option};

/// I/O engines that only access the files of a job.
const ENGINES: [&str; 9] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"];

/// Options that only concern a job's files and how it accesses them (fio 3.33, options.c, and
/// those of these engines).
#[rustfmt::skip]
const KEYS: [&str; 190] = [
    "name", "description", "rw", "readwrite", "rw_sequencer", "size", "filesize", "io_size",
    "io_limit", "bs", "blocksize", "bsrange", "blocksize_range", "bssplit", "bs_unaligned",
    "blocksize_unaligned", "bs_is_seq_rand", "ba", "blockalign", "filename", "filename_format",
    "unique_filename", "nrfiles", "nr_files", "openfiles", "file_service_type", "file_append",
    "lockfile", "numjobs", "thread", "iodepth", "iodepth_batch", "iodepth_batch_submit",
    "iodepth_batch_complete", "iodepth_batch_complete_min", "iodepth_batch_complete_max",
    "iodepth_low", "serialize_overlap", "io_submit_mode", "direct", "buffered", "atomic", "sync",
    "fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync_file_range", "write_barrier",
    "ioengine", "hipri", "fixedbufs", "registerfiles", "sqthread_poll", "sqthread_poll_cpu",
    "nonvectored", "uncached", "nowait", "force_async", "userspace_reap", "cmdprio",
    "cmdprio_class", "cmdprio_percentage", "cmdprio_bssplit", "runtime", "time_based", "ramp_time",
    "startdelay", "loops", "number_ios", "stonewall", "wait_for_previous", "wait_for",
    "group_reporting", "new_group", "exitall", "exit_what", "exitall_on_error", "rwmixread",
    "rwmixwrite", "rate", "rate_min", "rate_iops", "rate_iops_min", "rate_process", "rate_cycle",
    "rate_ignore_thinktime", "max_latency", "latency_target", "latency_window",
    "latency_percentile", "latency_run", "thinktime", "thinktime_spin", "thinktime_blocks",
    "thinktime_blocks_type", "thinktime_iotime", "flow", "flow_id", "flow_sleep", "steadystate",
    "steadystate_duration", "steadystate_ramp_time", "ss", "ss_dur", "ss_ramp", "randrepeat",
    "allrandrepeat", "randseed", "random_generator", "norandommap", "softrandommap",
    "random_distribution", "percentage_random", "offset", "offset_increment", "offset_align",
    "overwrite", "fallocate", "fadvise_hint", "fadvise", "write_hint", "invalidate", "pre_read",
    "create_serialize", "create_fsync", "create_on_open", "create_only", "allow_file_create",
    "unlink", "unlink_each_loop", "refill_buffers", "zero_buffers", "scramble_buffers",
    "buffer_pattern", "buffer_compress_percentage", "buffer_compress_chunk", "dedupe_percentage",
    "dedupe_mode", "dedupe_working_set_percentage", "dedupe_global", "verify", "do_verify",
    "verify_only", "verifysort", "verifysort_nr", "verify_interval", "verify_offset",
    "verify_pattern", "verify_fatal", "verify_async", "verify_backlog", "verify_backlog_batch",
    "experimental_verify", "zonemode", "zonesize", "zonerange", "zoneskip", "mem", "iomem",
    "mem_align", "iomem_align", "clocksource", "nice", "prio", "prioclass", "cpumask",
    "cpus_allowed", "cpus_allowed_policy", "kb_base", "unit_base", "percentile_list",
    "clat_percentiles", "lat_percentiles", "slat_percentiles", "significant_figures", "stats",
    "disk_util", "gtod_reduce", "disable_lat", "disable_clat", "disable_slat", "disable_bw",
    "disable_bw_measurement", "unified_rw_reporting", "bwavgtime", "iopsavgtime", "log_avg_msec",
    "log_hist_msec", "per_job_logs",
];

/// Options whose values have slashes and are no paths: shares, and text.
const WITH_SLASHES: [&str; 4] =
    ["bssplit", "cmdprio_bssplit", "random_distribution", "description"];

/// What fio replaces in `filename_format`, without help. In other options it replaces `${NAME}` by
/// the environment's, and has a shell compute with `$ncpus` and the like.
const OF_FILE_NAMES: [&str; 4] = ["$jobname", "$clientuid", "$jobnum", "$filenum"];

/// The longest line, in bytes. fio reads a longer one as several, the first of which may be a
/// comment (fio 3.33, init.c: 4096 bytes).
const MOST_LINE_BYTES: usize = 1000;

/// Refuses a job that could access anything outside its working directory, start other programs or
/// change the machine.
pub fn check(text: &str) -> Result<(), String> {
    for (index, line) in text.split('\n').enumerate() {
        if let Some(why) = fault(line) {
            let shown = line.trim_matches(BLANKS);
            let shown: String = shown.chars().filter(|c| !c.is_control()).take(100).collect();
            return Err(format!("line {}: `{shown}` {why}", index + 1));
        }
    }
    Ok(())
}

/// Why a line is refused.
fn fault(line: &str) -> Option<String> {
    if line.contains(|c: char| c.is_control() && c != '\t') {
        return Some("has a control character, at which fio may truncate or split it".to_owned());
    }
    if line.len() > MOST_LINE_BYTES {
        return Some("is longer than 1000 bytes, and fio splits long lines".to_owned());
    }
    let (key, value) = option(line)?;
    let is_section = key.starts_with('[');
    if let Some(why) = unsupported(key, value).filter(|_| !is_section) {
        return Some(why.to_owned());
    }
    if !is_section && !KEYS.contains(&key) {
        let why = format!(
            "is not among the keys that only concern a job's files; {}",
            did_you_mean(key, KEYS)
        );
        return Some(why.trim_end_matches([' ', ';']).to_owned());
    }
    let named = match key {
        "filename_format" => OF_FILE_NAMES
            .iter()
            .fold(value.to_owned(), |value, keyword| value.replace(keyword, "x")),
        _ => format!("{key}={value}"),
    };
    let why = if named.contains(['$', '`']) {
        "depends on the environment"
    } else if !WITH_SLASHES.contains(&key) && (named.contains('/') || named.contains("..")) {
        "leads out of the trial's directory"
    } else if key == "ioengine" && !ENGINES.contains(&value) {
        "names an I/O engine that is not known to access only files"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// Why an option of fio cannot be supported.
fn unsupported(key: &str, value: &str) -> Option<&'static str> {
    let first = key.split(BLANKS).next().unwrap_or(key);
    match first {
        "include" => Some("includes another file, which is not supported: put its lines here"),
        "directory" => Some("names a directory: leave it out, the job runs in the trial's own"),
        "exec_prerun" | "exec_postrun" => {
            Some("starts a program: make it a phase of the plan, do = \"command\"")
        }
        "ioscheduler" => Some("changes the machine: use the plan's factor `scheduler`"),
        "zonemode" if value == "zbd" => {
            Some("needs a zoned block device: a job's files are regular files")
        }
        "fill_device" | "fill_fs" => Some("fills the filesystem: give a `size`"),
        "read_iolog" | "write_iolog" | "write_bw_log" | "write_lat_log" | "write_iops_log"
        | "write_hist_log" => Some("is a log beside the job's own files, which would be measured"),
        "continue_on_error" | "ignore_error" => {
            Some("hides errors: the rate of what failed would count")
        }
        _ => None,
    }
}
