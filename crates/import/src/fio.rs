//! Reads fio's JSON: a file is a treatment, its jobs are phases.

use std::collections::BTreeMap;

use serde_json::Value;
use ssdlab_plan::metric::FIO_PREFIX;
use ssdlab_results::{Phase, Told};
use ssdlab_workload::printed::fio::{Job, of_object};

use super::error::Fault;
use super::{Environment, Found, Sample, phase};

/// Options after which written data is on the device when the clock stops (fio's HOWTO, "Buffers
/// and memory" and "I/O type"); `sync` opens files with `O_SYNC`.
const SYNCS: [&str; 5] = ["end_fsync", "fsync", "fdatasync", "fsync_on_close", "sync"];

pub(super) fn read(object: &Value) -> Result<Found, Fault> {
    let help = "run fio again, or remove the job from the file";
    let report = of_object(object).map_err(|reason| Fault::new(reason, help))?;
    let mut sample = Sample {
        at_ms: report.printed_ms,
        environment: Environment {
            tools: report.version.iter().cloned().collect(),
            ..Environment::default()
        },
        ..Sample::default()
    };
    for group in groups(&report.jobs)? {
        sample.told.insert(group.name.clone(), told(&group));
        sample.phases.push(measured(&group));
    }
    Ok(Found {
        program: "fio",
        version: report.version,
        metric: "ops_per_second",
        is_in_order: true,
        samples: vec![sample],
        notes: Vec::new(),
    })
}

/// Copies of a job that ran at the same time.
struct Group<'a> {
    name: String,
    jobs: Vec<&'a Job>,
}

/// Copies (`numjobs` without `group_reporting`) are one phase, not repetitions: they shared the
/// drive.
fn groups(jobs: &[Job]) -> Result<Vec<Group<'_>>, Fault> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.values.is_empty()) {
        let index = *known.entry(&job.name).or_insert(groups.len());
        match groups.get_mut(index) {
            None => groups.push(Group { name: job.name.clone(), jobs: vec![job] }),
            Some(group) if group.jobs[0].group == job.group => group.jobs.push(job),
            Some(_) => {
                return Err(Fault::new(
                    format!("two consecutive jobs are called `{}`", job.name),
                    "give them different names, or export each run of fio to its own file and \
                     import them as trials of one label: LABEL=FILE LABEL=FILE",
                ));
            }
        }
    }
    Ok(groups)
}

/// Rates of copies add up; their latencies cannot be combined (axboe/fio#752).
fn measured(group: &Group<'_>) -> Phase {
    let mut reported = BTreeMap::new();
    let is_alone = group.jobs.len() == 1;
    for (name, value) in group.jobs.iter().flat_map(|job| &job.values) {
        let rate = match name.rsplit_once('_') {
            Some((_, "iops")) => Some("ops_per_second"),
            _ => name.ends_with("_bytes_per_s").then_some("bytes_per_second"),
        };
        if let Some(all) = rate {
            *reported.entry(all.to_owned()).or_default() += value;
        }
        if rate.is_some() || is_alone {
            *reported.entry(format!("{FIO_PREFIX}{name}")).or_default() += value;
        }
    }
    let mut phase = phase(&group.name, reported);
    phase.remark = (!is_alone).then(|| {
        format!(
            "`{}` is {} concurrent jobs: their rates are added, their latencies cannot be combined",
            group.name,
            group.jobs.len()
        )
    });
    phase
}

fn told(group: &Group<'_>) -> Told {
    let job = group.jobs[0];
    let option = |name: &str| job.options.get(name).map(String::as_str);
    // An option without a value is on.
    let is_on = |name: &str| option(name).is_some_and(|value| !["0", "none"].contains(&value));
    let writes = job.values.contains_key("write_iops");
    let copies = group.jobs.len().max(option("numjobs").and_then(|n| n.parse().ok()).unwrap_or(1));
    let size = option("size").and_then(bytes);
    let shares_file = option("filename").is_some();
    Told {
        writes: Some(writes),
        syncs: writes.then(|| SYNCS.into_iter().any(is_on)),
        is_direct: Some(is_on("direct") || option("buffered") == Some("0")),
        size_bytes: size
            .and_then(|size| size.checked_mul(if shares_file { 1 } else { copies as u64 })),
        took_ns: job.runtime_ms.and_then(|ms| ms.checked_mul(1_000_000)),
        is_too_fast: false,
        is_steady: job.is_steady,
        options: job.options.clone(),
    }
}

/// A size in fio's notation: `4k`, `1g`; by default a kilobyte is 1024 bytes.
fn bytes(size: &str) -> Option<u64> {
    let size = size.trim().to_ascii_lowercase();
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match size[digits.len()..].trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1024_u64.pow(power))
}
