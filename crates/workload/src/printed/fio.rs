//! fio's JSON (`--output-format=json`), written by `show_thread_status_json` in its `stat.c`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// What fio printed.
#[derive(Debug)]
pub struct Report {
    /// Its version, such as `fio-3.33`.
    pub version: Option<String>,
    /// When it printed, in ms since 1970.
    pub printed_ms: Option<u64>,
    /// Its jobs, in order.
    pub jobs: Vec<Job>,
}

/// What fio printed about a job.
#[derive(Debug)]
pub struct Job {
    /// Its name; several copies (`numjobs`) share it.
    pub name: String,
    /// Its group; jobs of a group ran concurrently.
    pub group: u64,
    /// Its options, including those of the `[global]` section.
    pub options: BTreeMap<String, String>,
    /// How long it ran, in ms.
    pub runtime_ms: Option<u64>,
    /// Whether it reached a steady state, if it was told to detect one.
    pub is_steady: Option<bool>,
    /// What it measured: `read_iops`, `read_bytes_per_s`, `read_clat_p99_ns`, ...
    pub values: BTreeMap<String, f64>,
}

/// Finds the JSON object in a program's output. fio may print messages before and after it
/// (axboe/fio#731), which are skipped.
pub fn object(printed: &str) -> Result<Value, String> {
    let is_start = |line: &str| line.starts_with('{');
    let start = printed.lines().position(is_start).ok_or("there is no object in it")?;
    // Line numbers are preserved for error messages.
    let text: String =
        (0..start).map(|_| "\n").chain(printed.split_inclusive('\n').skip(start)).collect();
    let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let object = match values.next() {
        Some(Ok(object)) => object,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("it is empty".to_owned()),
    };
    if text[values.byte_offset()..].lines().any(is_start) {
        // `--status-interval` prints several reports, each cumulative.
        return Err("it has several reports, expected one: keep the last".to_owned());
    }
    Ok(object)
}

/// Reads fio's JSON.
pub fn report(printed: &str) -> Result<Report, String> {
    of_object(&object(printed)?)
}

/// Reads fio's report from its JSON object.
pub fn of_object(report: &Value) -> Result<Report, String> {
    let jobs = report["jobs"].as_array().ok_or("it lists no jobs")?;
    let global = report["global options"].as_object();
    let jobs = jobs.iter().map(|job| of_job(job, global)).collect::<Result<Vec<Job>, _>>()?;
    if jobs.iter().all(|job| job.values.is_empty()) {
        return Err("no job read or wrote anything".to_owned());
    }
    Ok(Report {
        version: report["fio version"].as_str().map(str::to_owned),
        printed_ms: report["timestamp_ms"].as_u64(),
        jobs,
    })
}

fn of_job(job: &Value, global: Option<&Map<String, Value>>) -> Result<Job, String> {
    let name = job["jobname"].as_str().unwrap_or("job").to_owned();
    if !["null", "0", "\"0\""].contains(&job["error"].to_string().as_str()) {
        return Err(format!("the job {name} ended with error {}", job["error"]));
    }
    let mut values = BTreeMap::new();
    for direction in ["read", "write", "trim"] {
        of_direction(&job[direction], direction, &mut values);
    }
    add(&mut values, "sync_p99_ns", &job["sync"]["lat_ns"]["percentile"]["99.000000"]);
    let own = job["job options"].as_object();
    let options = global.into_iter().chain(own).flatten();
    Ok(Job {
        name,
        group: job["groupid"].as_u64().unwrap_or(0),
        options: options.map(|(key, value)| (key.clone(), word(value))).collect(),
        // `job_runtime` adds up the jobs of a group (`sum_thread_stats` in fio's stat.c).
        runtime_ms: ["read", "write", "trim"]
            .iter()
            .filter_map(|side| job[side]["runtime"].as_u64())
            .max(),
        is_steady: job["steadystate"]["attained"].as_u64().map(|attained| attained == 1),
        values,
    })
}

/// fio writes options as text; anything else is kept as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn of_direction(side: &Value, name: &str, values: &mut BTreeMap<String, f64>) {
    if side["total_ios"].as_u64().unwrap_or(0) == 0 {
        return;
    }
    let percentiles = &side["clat_ns"]["percentile"];
    let measured = [
        ("iops", &side["iops"]),
        ("bytes_per_s", &side["bw_bytes"]),
        ("clat_mean_ns", &side["clat_ns"]["mean"]),
        ("clat_p50_ns", &percentiles["50.000000"]),
        ("clat_p99_ns", &percentiles["99.000000"]),
        ("clat_p999_ns", &percentiles["99.900000"]),
    ];
    for (metric, value) in measured {
        add(values, &format!("{name}_{metric}"), value);
    }
}

fn add(values: &mut BTreeMap<String, f64>, name: &str, value: &Value) {
    if let Some(number) = value.as_f64() {
        values.insert(name.to_owned(), number);
    }
}

#[cfg(test)]
mod tests;
