//! fio's JSON (`--output-format=json`), written by `show_thread_status_json` in its `stat.c`.
//!
//! A 0 is no measurement: of a direction in which nothing was done fio prints zeros, and it prints
//! zeros for rates of less than a millisecond and for latencies that it was told not to measure
//! (`gtod_reduce`, `disable_clat`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use ssdlab_plan::metric::{Metric, Source};

/// What fio printed.
#[derive(Debug)]
pub struct FioReport {
    /// Its version, such as `fio-3.33`.
    pub version: Option<String>,
    /// When it printed, in ms since 1970.
    pub printed_ms: Option<u64>,
    /// Its jobs that did I/O, in order; those of one name that ran concurrently together.
    pub groups: Vec<FioGroup>,
    /// The names of its jobs that did no I/O.
    pub idle: Vec<String>,
}

/// Jobs of one name that ran concurrently: copies (`numjobs`), sections of one name, or the same
/// job on several clients. They are one result, because they shared the drive.
#[derive(Debug)]
pub struct FioGroup {
    /// Their name; a number is added if jobs of that name also ran before.
    pub name: String,
    /// The jobs, at least one.
    pub jobs: Vec<FioJob>,
}

/// What fio printed about a job.
#[derive(Debug)]
pub struct FioJob {
    /// Its name; several copies (`numjobs`) share it.
    pub name: String,
    /// Its group; jobs of a group ran concurrently.
    pub group: u64,
    /// Its options, including those of the `[global]` section.
    pub options: BTreeMap<String, String>,
    /// Whether these are all: fio 2 and the sum over clients do not list a job's own.
    pub has_options: bool,
    /// How long it ran, in ms.
    pub runtime_ms: Option<u64>,
    /// Whether it reached a steady state, if it was told to detect one.
    pub is_steady: Option<bool>,
    /// What it measured: `read_iops`, `read_bytes_per_s`, `read_clat_p99_ns`, ...; `None` for a
    /// rate of what it did and did not measure.
    pub values: BTreeMap<String, Option<f64>>,
}

/// The directions of I/O; `mixed` is over the others (`unified_rw_reporting`), and then usually
/// instead of them.
const DIRECTIONS: [&str; 4] = ["read", "write", "trim", MIXED];
const MIXED: &str = "mixed";

/// What the metrics of rates end in.
const OPERATIONS: &str = "_iops";
const BYTES: &str = "_bytes_per_s";

/// The name of the sum over all clients (`handle_ts` in fio's `client.c`).
const ALL_CLIENTS: &str = "All clients";

/// A program's output, with its JSON object apart from the messages before and after it
/// (axboe/fio#731).
struct Output<'a> {
    before: &'a str,
    object: Result<Value, String>,
    after: &'a str,
}

fn output(printed: &str) -> Output<'_> {
    let mut at = 0;
    let mut lines = printed.split_inclusive('\n');
    let starts = lines.find_map(|line| {
        let start = at;
        at += line.len();
        is_start(line).then_some(start)
    });
    let Some(start) = starts else {
        let object = Err("there is no object in it".to_owned());
        return Output { before: printed, object, after: "" };
    };
    let (before, text) = printed.split_at(start);
    // Line numbers are preserved for error messages.
    let lines = before.matches('\n').count();
    let numbered = format!("{}{text}", "\n".repeat(lines));
    let mut values = serde_json::Deserializer::from_str(&numbered).into_iter::<Value>();
    let object = match values.next() {
        Some(object) => object.map_err(|error| error.to_string()),
        None => Err("it is empty".to_owned()),
    };
    let after = if object.is_ok() { &text[values.byte_offset() - lines..] } else { "" };
    Output { before, object, after }
}

fn is_start(line: &str) -> bool {
    line.trim_start().starts_with('{')
}

/// Finds the JSON object in a program's output.
pub fn object(printed: &str) -> Result<Value, String> {
    let output = output(printed);
    if output.after.lines().any(is_start) {
        // `--status-interval` prints several reports, each cumulative.
        return Err("it has several reports, expected one: keep the last".to_owned());
    }
    output.object
}

/// What a program printed before and after its JSON object.
pub fn messages(printed: &str) -> String {
    let Output { before, after, .. } = output(printed);
    format!("{before}{after}")
}

/// Whether a JSON object is a report of fio, which has its jobs in one of two places.
pub fn is_report(object: &Value) -> bool {
    object["jobs"].is_array() || object["client_stats"].is_array()
}

/// Another of fio's output formats, if a text without JSON is in one.
pub fn other_format(text: &str) -> Option<&'static str> {
    let is_terse = |line: &str| {
        let mut fields = line.split(';');
        let version = fields.next().is_some_and(|version| version.parse::<u8>().is_ok());
        version && fields.next().is_some_and(|fio| fio.starts_with("fio-"))
    };
    let is_normal = |line: &str| line.contains(": (groupid=") && line.contains(": err=");
    if text.lines().any(is_terse) {
        Some("terse")
    } else {
        text.lines().any(is_normal).then_some("normal")
    }
}

/// Reads fio's JSON.
pub fn report(printed: &str) -> Result<FioReport, String> {
    of_object(&object(printed)?)
}

/// Reads fio's report from its JSON object.
pub fn of_object(report: &Value) -> Result<FioReport, String> {
    let global = report["global options"].as_object();
    let listed = |key: &str| -> Result<Vec<FioJob>, String> {
        let jobs = report[key].as_array().into_iter().flatten();
        jobs.map(|job| of_job(job, global)).collect()
    };
    if !is_report(report) {
        return Err("it lists no jobs".to_owned());
    }
    let mut jobs = listed("jobs")?;
    jobs.extend(of_clients(listed("client_stats")?));
    let (busy, idle): (Vec<FioJob>, Vec<FioJob>) =
        jobs.into_iter().partition(|job| !job.values.is_empty());
    if busy.is_empty() {
        return Err("no job did any I/O".to_owned());
    }
    Ok(FioReport {
        version: report["fio version"].as_str().map(str::to_owned),
        printed_ms: report["timestamp_ms"].as_u64(),
        groups: grouped(busy),
        idle: idle.into_iter().map(|job| job.name).collect(),
    })
}

/// Removes what would count twice: the sum over clients. If it is over concurrent jobs of one name,
/// it is that job's result, with percentiles that cannot be computed from those of its parts.
fn of_clients(jobs: Vec<FioJob>) -> Vec<FioJob> {
    let (mut sums, own): (Vec<FioJob>, Vec<FioJob>) =
        jobs.into_iter().partition(|job| job.name == ALL_CLIENTS);
    let is_one = own.windows(2).all(|two| is_together(&two[0], &two[1]));
    match sums.pop() {
        Some(sum) if own.is_empty() => vec![sum],
        Some(sum) if is_one => {
            let first = own.into_iter().take(1);
            first.map(|own| FioJob { values: sum.values.clone(), ..own }).collect()
        }
        _ => own,
    }
}

fn is_together(one: &FioJob, other: &FioJob) -> bool {
    one.name == other.name && one.group == other.group
}

fn grouped(jobs: Vec<FioJob>) -> Vec<FioGroup> {
    let mut groups: Vec<FioGroup> = Vec::new();
    for job in jobs {
        if let Some(group) = groups.iter_mut().find(|group| is_together(&group.jobs[0], &job)) {
            group.jobs.push(job);
            continue;
        }
        let is_free = |name: &String| groups.iter().all(|group| group.name != *name);
        let numbered = (2..).map(|number: usize| format!("{}-{number}", job.name));
        let mut names = std::iter::once(job.name.clone()).chain(numbered);
        let name = names.find(is_free).unwrap_or_default();
        groups.push(FioGroup { name, jobs: vec![job] });
    }
    groups
}

impl FioReport {
    /// Operations and bytes a second as metrics, over all jobs: rates of concurrent ones add up,
    /// of successive ones it is the metric's mean.
    pub fn rates(&self) -> impl Iterator<Item = (String, f64)> {
        [Source::OpsRate, Source::ByteRate].map(Metric::from).into_iter().filter_map(|metric| {
            let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
            for group in &self.groups {
                let (_, rate) = group.rates().find(|(name, _)| name == metric.name)?;
                *sums.entry(group.jobs[0].group).or_default() += rate;
            }
            let sums: Vec<f64> = sums.into_values().collect();
            Some((metric.name.to_owned(), metric.taken_together(&sums)?))
        })
    }
}

impl FioGroup {
    /// What the jobs measured together. Rates add up, and are absent if that of any is; latencies
    /// of several jobs cannot be combined (axboe/fio#752).
    pub fn values(&self) -> BTreeMap<String, f64> {
        let mut all: BTreeMap<&str, Option<f64>> = BTreeMap::new();
        for (name, value) in self.jobs.iter().flat_map(|job| &job.values) {
            if self.jobs.len() == 1 || name.ends_with(OPERATIONS) || name.ends_with(BYTES) {
                let sum = all.entry(name).or_insert(Some(0.0));
                *sum = sum.zip(*value).map(|(sum, value)| sum + value);
            }
        }
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// Operations and bytes a second in all directions, as metrics; one of which fio has no rate in
    /// some direction is absent.
    pub fn rates(&self) -> impl Iterator<Item = (String, f64)> {
        let all = [("ops_per_second", OPERATIONS), ("bytes_per_second", BYTES)];
        all.into_iter().filter_map(|(name, suffix)| {
            let rates = self.jobs.iter().map(|job| job.total(suffix));
            Some((name.to_owned(), rates.sum::<Option<f64>>()?))
        })
    }

    /// A caveat about the numbers.
    pub fn remark(&self) -> Option<String> {
        let Self { name, jobs } = self;
        if self.rates().count() < 2 {
            return Some(format!(
                "fio gives no rate of `{name}`, as of what runs for less than a millisecond"
            ));
        }
        (jobs.len() > 1).then(|| {
            format!(
                "`{name}` is {} concurrent jobs: their rates are added, their latencies cannot be \
                 combined",
                jobs.len()
            )
        })
    }
}

impl FioJob {
    /// Whether it wrote; `None` if its directions are not reported apart and its options are
    /// unknown.
    pub fn writes(&self) -> Option<bool> {
        let did = |direction: &str| self.values.contains_key(&format!("{direction}{OPERATIONS}"));
        if did("read") || did("write") || did("trim") {
            return Some(did("write"));
        }
        let pattern = self.options.get("rw").or_else(|| self.options.get("readwrite"))?;
        Some(pattern.contains("rw") || pattern.contains("write"))
    }

    /// Its rate in all directions. What is mixed is over the others, if they are reported, too.
    fn total(&self, suffix: &str) -> Option<f64> {
        let mixed = format!("{MIXED}{suffix}");
        let rates = || self.values.iter().filter(|(name, _)| name.ends_with(suffix));
        let is_mixed = rates().all(|(name, _)| *name == mixed);
        let counted = rates().filter(|(name, _)| is_mixed || **name != mixed);
        counted.map(|(_, value)| *value).sum()
    }
}

fn of_job(job: &Value, global: Option<&Map<String, Value>>) -> Result<FioJob, String> {
    let name = job["jobname"].as_str().unwrap_or("job").to_owned();
    if !["null", "0", "\"0\""].contains(&job["error"].to_string().as_str()) {
        return Err(format!("the job {name} ended with error {}", job["error"]));
    }
    // With `continue_on_error` the job's own is 0.
    if let Some(errors) = job["total_err"].as_u64().filter(|errors| *errors > 0) {
        let first = &job["first_error"];
        return Err(format!("the job {name} had {errors} errors, the first of them {first}"));
    }
    let mut values = BTreeMap::new();
    for direction in DIRECTIONS {
        of_direction(&job[direction], direction, &mut values);
    }
    if !values.is_empty() {
        let sync = &job["sync"]["lat_ns"]["percentile"]["99.000000"];
        values.extend(measured(sync, 1.0).map(|p99| ("sync_p99_ns".to_owned(), Some(p99))));
    }
    let own = job["job options"].as_object();
    let options = global.into_iter().chain(own).flatten();
    Ok(FioJob {
        name,
        group: job["groupid"].as_u64().unwrap_or(0),
        options: options.map(|(key, value)| (key.clone(), word(value))).collect(),
        has_options: own.is_some(),
        // `job_runtime` adds up the jobs of a group (`sum_thread_stats` in fio's stat.c).
        runtime_ms: DIRECTIONS.iter().filter_map(|side| job[side]["runtime"].as_u64()).max(),
        is_steady: job["steadystate"]["attained"].as_u64().map(|attained| attained == 1),
        values,
    })
}

/// fio writes options as text; anything else is kept as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// fio 2 gives latencies in us (`clat`), fio 3 in ns (`clat_ns`). Before fio 3.2 the rate of bytes
/// is in KiB/s only (`bw`), which later versions have as well. The first versions with JSON do not
/// count operations.
fn of_direction(side: &Value, name: &str, values: &mut BTreeMap<String, Option<f64>>) {
    let done = side["total_ios"].as_u64().or_else(|| side["io_bytes"].as_u64());
    if done.unwrap_or(0) == 0 {
        return;
    }
    let kib = || measured(&side["bw"], 1024.0);
    let rates = [
        (OPERATIONS, measured(&side["iops"], 1.0)),
        (BYTES, measured(&side["bw_bytes"], 1.0).or_else(kib)),
    ];
    values.extend(rates.map(|(suffix, rate)| (format!("{name}{suffix}"), rate)));
    let (latency, ns) = match &side["clat_ns"] {
        Value::Null => (&side["clat"], 1000.0),
        latency => (latency, 1.0),
    };
    let percentiles = &latency["percentile"];
    let latencies = [
        ("mean", &latency["mean"]),
        ("p50", &percentiles["50.000000"]),
        ("p99", &percentiles["99.000000"]),
        ("p999", &percentiles["99.900000"]),
    ];
    for (statistic, value) in latencies {
        if let Some(value) = measured(value, ns) {
            values.insert(format!("{name}_clat_{statistic}_ns"), Some(value));
        }
    }
}

/// A number in its unit; `None` if it is missing, or 0 and thus no measurement. A negative one is
/// kept, so that it is found wrong.
fn measured(value: &Value, unit: f64) -> Option<f64> {
    value.as_f64().filter(|number| *number != 0.0).map(|number| number * unit)
}

#[cfg(test)]
mod tests;
