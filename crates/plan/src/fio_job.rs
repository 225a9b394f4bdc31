//! fio's job files: their lines, what of them a plan depends on, and simple jobs as phases of the
//! virtual lab, which has no fio. Whether a job is safe is checked by who performs it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ssdlab_quantity::{Bytes, PerSecond, Share, Span};

use super::error::PlanFault;
use super::io::{IoContents, IoPattern, IoSyncPolicy, Sizes, SyncBy, WrittenIo};
use super::written::Plan;

/// Returns the text of a job file; `None` if there is none, since it may be where the plan will
/// run. The error is why no run can perform it.
pub type ReadJob = fn(&Path) -> Result<Option<String>, String>;

/// The texts of job files, by path.
pub(super) type Jobs = BTreeMap<PathBuf, String>;

/// Options that change nothing in how `io` works on a file, or only what fio reports.
#[rustfmt::skip]
const WITHOUT_EFFECT: [&str; 28] = [
    "description", "filename_format", "thread", "group_reporting", "new_group",
    "stonewall", "wait_for_previous", "randrepeat", "allrandrepeat", "randseed", "norandommap",
    "overwrite", "fallocate", "fadvise_hint", "create_serialize", "create_fsync", "refill_buffers",
    "scramble_buffers", "percentile_list", "clat_percentiles", "lat_percentiles",
    "slat_percentiles", "significant_figures", "stats", "disk_util", "unified_rw_reporting",
    "kb_base", "log_avg_msec",
];

/// Reads the job files that a plan names.
pub(super) fn read(plan: &Plan, read: Option<ReadJob>, base: &Path) -> Result<Jobs, PlanFault> {
    let mut jobs = Jobs::new();
    for entry in plan.workload.phases.get_ref() {
        let Some((read, job)) = read.zip(entry.get_ref().job.as_ref()) else { continue };
        let path = base.join(job);
        let help = "change the job file; what a job may do: files in the trial's directory, by \
                    relative names";
        let text = read(&path).map_err(|message| PlanFault::at(entry.span(), message, help))?;
        jobs.extend(text.map(|text| (path, text)));
    }
    Ok(jobs)
}

/// The option or section of a line, and its value; `None` if it has neither. Blanks and comments
/// are those of fio (`strip_blank_end` in its `parse.c`).
pub fn option(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_matches(BLANKS);
    let line = if line.starts_with('[') { line } else { line.split([';', '#']).next()? };
    let line = line.trim_matches(BLANKS);
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    (!line.is_empty()).then_some((key.trim_matches(BLANKS), value.trim_matches(BLANKS)))
}

/// What fio takes for blanks within a line.
pub const BLANKS: [char; 2] = [' ', '\t'];

/// Whether some job runs for as long as its file says, whatever it gets done.
pub(super) fn is_time_based(text: &str) -> bool {
    text.lines().filter_map(option).any(|(key, value)| key == "time_based" && value != "0")
}

/// Options after which written data is on the device when the clock stops (fio's HOWTO, "Buffers
/// and memory" and "I/O type"); `sync` opens files with `O_SYNC`.
pub const SYNCS: [&str; 5] = ["end_fsync", "fsync", "fdatasync", "fsync_on_close", "sync"];

/// Whether a flag or a number is not off; an option without a value is on.
pub fn is_on(value: &str) -> bool {
    !["0", "none"].contains(&value)
}

/// Whether each job syncs what it writes, bypasses the page cache or only reads.
pub(super) fn syncs(text: &str) -> bool {
    jobs(text).iter().all(|job| {
        let has = |name: &str| job.get(name).is_some_and(|value| is_on(value));
        let pattern = job.get("rw").or_else(|| job.get("readwrite")).unwrap_or(&"read");
        let writes = pattern.contains("rw") || pattern.contains("write");
        let is_direct = has("direct") || job.get("buffered") == Some(&"0");
        !writes || is_direct || SYNCS.into_iter().any(has)
    })
}

/// A size in fio's notation: `4k`, `1g`. By default a kilobyte is 1024 bytes and a kibibyte 1000,
/// the opposite of the standards, which `kb_base=1000` follows (fio's HOWTO, "Parameter types").
pub fn bytes(size: &str, kb_base: u64) -> Option<u64> {
    let size = size.trim().to_ascii_lowercase();
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (prefix, kilo) = match size[digits.len()..].strip_suffix("ib") {
        Some(prefix) => (prefix, if kb_base == 1024 { 1000 } else { 1024 }),
        None => (size[digits.len()..].trim_end_matches('b').trim_end_matches('i'), kb_base),
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(kilo.checked_pow(power)?)
}

/// A time in fio's notation: seconds, unless it has a unit.
fn time(time: &str) -> Option<Duration> {
    let digits = time.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let seconds = |unit: u64| number.checked_mul(unit).map(Duration::from_secs);
    match &time[digits.len()..] {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        "d" => seconds(86_400),
        _ => None,
    }
}

/// The options of each job, which include those of the `[global]` sections before it.
fn jobs(text: &str) -> Vec<BTreeMap<&str, &str>> {
    let mut global = BTreeMap::new();
    let mut jobs = Vec::new();
    let mut is_global = true;
    for (key, value) in text.lines().filter_map(option) {
        if let Some(section) = key.strip_prefix('[') {
            is_global = section.starts_with("global]");
            if !is_global {
                let name = section.split(']').next().unwrap_or(section);
                let mut own = global.clone();
                own.insert("name", name);
                jobs.push(own);
            }
            continue;
        }
        let own = if is_global { Some(&mut global) } else { jobs.last_mut() };
        if let Some(own) = own {
            own.insert(key, value);
        }
    }
    jobs
}

/// A job file with one simple job as the table of an `io` phase. The error says which option stands
/// in the way, and what would do.
pub(super) fn translated(text: &str) -> Result<WrittenIo, String> {
    let mut jobs = jobs(text);
    let own = match jobs.pop() {
        Some(own) if jobs.is_empty() => own,
        _ => return Err("it must have one job: give each a file and a phase of its own".to_owned()),
    };
    let mut options = Options { own };
    let io = options.translate()?;
    match options.own.keys().find(|key| !WITHOUT_EFFECT.contains(*key)) {
        Some(key) => Err(format!("`{key}` has no equivalent there: leave it out")),
        None => Ok(io),
    }
}

/// Options of a job; those that are translated are taken away.
struct Options<'a> {
    own: BTreeMap<&'a str, &'a str>,
}

impl<'a> Options<'a> {
    fn take(&mut self, names: &[&str]) -> Option<&'a str> {
        names.iter().filter_map(|name| self.own.remove(*name)).next_back()
    }

    /// An option that is on or off; without a value it is on.
    fn is_on(&mut self, name: &str) -> bool {
        self.take(&[name]).is_some_and(|value| value != "0")
    }

    /// An option's number.
    fn number<T>(
        &mut self,
        names: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, String> {
        self.take(names).map_or(Ok(None), |value| {
            let odd = || format!("`{}={value}` has no equivalent there: give one number", names[0]);
            parse(value).map(Some).ok_or_else(odd)
        })
    }

    fn translate(&mut self) -> Result<WrittenIo, String> {
        let kb_base = self.own.get("kb_base").and_then(|base| base.parse().ok()).unwrap_or(1024);
        let of_bytes = |value: &str| bytes(value, kb_base);
        let (pattern, reads) = self.pattern()?;
        let is_direct = self.is_on("direct") || self.take(&["buffered"]) == Some("0");
        let size = self.number(&["size", "filesize"], of_bytes)?;
        let size = size.ok_or("`size` is missing: give the size of its file")?;
        let block = self.number(&["bs", "blocksize"], of_bytes)?.unwrap_or(4096);
        let amount = self.number(&["io_size", "io_limit"], of_bytes)?.unwrap_or(size);
        let runtime = self.number(&["runtime"], time)?.filter(|time| !time.is_zero());
        let is_time_based = self.is_on("time_based");
        let time = match (runtime, is_time_based) {
            (Some(_), false) => {
                return Err("`runtime` is only a limit without `time_based`: add that, or leave \
                            `runtime` out"
                    .to_owned());
            }
            (None, true) => return Err("`time_based` needs a `runtime`".to_owned()),
            (time, _) => time.map(Span),
        };
        let (sync, sync_by) = self.sync()?;
        for (name, only) in
            [("numjobs", "1"), ("nrfiles", "1"), ("loops", "1"), ("invalidate", "1")]
        {
            if let Some(value) = self.take(&[name]).filter(|value| *value != only) {
                return Err(format!("`{name}={value}` has no equivalent there: only {only} has"));
            }
        }
        let per_second = |value: &str| PerSecond::try_from(format!("{value}/s")).ok();
        let rate = self.number(&["rate_iops"], per_second)?;
        let name = self.take(&["name"]);
        let file = self.take(&["filename"]);
        if let Some(files) = file.filter(|name| name.contains(':')) {
            return Err(format!("`filename={files}` has no equivalent there: one file has"));
        }
        // Only whether two phases share a file depends on its name.
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let file = file.or(name).map(|name| name.chars().take(64).map(plain).collect());
        Ok(WrittenIo {
            file,
            files: None,
            size: Some(Bytes(size)),
            pattern,
            reads: Some(Share(reads)),
            block: Some(Sizes::One(format!("{block} B"))),
            contents: if self.is_on("zero_buffers") {
                IoContents::Zeros
            } else {
                IoContents::Random
            },
            depth: self.depth(is_direct)?,
            direct: is_direct,
            sync,
            sync_by,
            amount: time.is_none().then_some(Bytes(amount)),
            operations: None,
            time,
            rate,
        })
    }

    /// The order of places, and the share of operations that read.
    fn pattern(&mut self) -> Result<(IoPattern, f64), String> {
        let share = |percent: &str| percent.parse().ok().filter(|percent| *percent <= 100);
        let reads: Option<u32> = self.number(&["rwmixread"], share)?;
        let writes: Option<u32> = self.number(&["rwmixwrite"], share)?;
        let mixed = reads.or(writes.map(|writes| 100 - writes)).unwrap_or(50);
        match self.take(&["rw", "readwrite"]).unwrap_or("read") {
            "read" => Ok((IoPattern::Sequential, 1.0)),
            "write" => Ok((IoPattern::Sequential, 0.0)),
            "randread" => Ok((IoPattern::Random, 1.0)),
            "randwrite" => Ok((IoPattern::Random, 0.0)),
            "randrw" => Ok((IoPattern::Random, f64::from(mixed) / 100.0)),
            other => Err(format!(
                "`rw={other}` has no equivalent there: only read, write, randread, randwrite and \
                 randrw have"
            )),
        }
    }

    /// Synchronous engines ignore `iodepth`, and so does Linux of libaio with the page cache (fio's
    /// HOWTO, "I/O engine").
    fn depth(&mut self, is_direct: bool) -> Result<Option<u32>, String> {
        let depth = self.number(&["iodepth"], |value| value.parse().ok())?;
        match self.take(&["ioengine"]).unwrap_or("psync") {
            "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Ok(None),
            "libaio" => Ok(depth.filter(|_| is_direct)),
            "io_uring" => Ok(depth),
            other => Err(format!(
                "`ioengine={other}` has no equivalent there: only psync, libaio and io_uring have"
            )),
        }
    }

    fn sync(&mut self) -> Result<(IoSyncPolicy, Option<SyncBy>), String> {
        let mut every = |name: &str,
                         by: SyncBy|
         -> Result<Option<(IoSyncPolicy, SyncBy)>, String> {
            let number = self.number(&[name], |value| value.parse().ok())?;
            Ok(number.filter(|number| *number > 0).map(|number| (IoSyncPolicy::Every(number), by)))
        };
        let fsync = every("fsync", SyncBy::Fsync)?;
        let data = every("fdatasync", SyncBy::Fdatasync)?;
        let end = self.is_on("end_fsync").then_some((IoSyncPolicy::AtEnd, SyncBy::Fsync));
        let flag = match self.take(&["sync"]).unwrap_or("none") {
            "0" | "none" => None,
            "dsync" => Some((IoSyncPolicy::Every(1), SyncBy::ODsync)),
            other => {
                return Err(format!("`sync={other}` has no equivalent there: sync=dsync has"));
            }
        };
        let mut all = [fsync, data, end, flag].into_iter().flatten();
        match (all.next(), all.next()) {
            (None, _) => Ok((IoSyncPolicy::Never, None)),
            (Some((sync, by)), None) => Ok((sync, Some(by))),
            _ => {
                Err("`fsync`, `fdatasync`, `end_fsync` and `sync` exclude each other there: keep \
                      one"
                .to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests;
