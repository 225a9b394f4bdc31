//! Reads fio's JSON: a file is a treatment, its jobs are phases.

use crate::{PhaseRecord, StatedMethod};
use serde_json::Value;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::fio_job::{self, SYNCS, bytes};
use ssdlab_plan::metric::{self, FIO_PREFIX, Metric, Source};
use ssdlab_workload::printed::fio::{FioGroup, of_object};

use super::error::ImportFault;
use super::sample::{ImportedFile, ImportedSample, phase};

pub(super) fn read(object: &Value) -> Result<ImportedFile, ImportFault> {
    let help = "run fio again, or remove the job from the file";
    let report = of_object(object).map_err(|reason| ImportFault::new(reason, help))?;
    let mut sample = ImportedSample {
        at_ms: report.printed_ms,
        environment: Environment {
            tools: report.version.iter().cloned().collect(),
            ..Environment::default()
        },
        ..ImportedSample::default()
    };
    for group in &report.groups {
        sample.told.insert(group.name.clone(), stated_method(group));
        sample.phases.push(measured(group));
    }
    let idle = report.idle.iter().map(|job| format!("the job `{job}` did no I/O: it is left out"));
    Ok(ImportedFile {
        program: "fio",
        version: report.version,
        metric: Metric::from(Source::OpsRate),
        is_in_order: true,
        samples: vec![sample],
        notes: idle.collect(),
    })
}

fn measured(group: &FioGroup) -> PhaseRecord {
    let own =
        group.values().into_iter().map(|(name, value)| (format!("{FIO_PREFIX}{name}"), value));
    let mut phase = phase(&group.name, metric::parsed(own.chain(group.rates())));
    phase.remark = group.remark();
    phase
}

fn stated_method(group: &FioGroup) -> StatedMethod {
    let job = &group.jobs[0];
    let option = |name: &str| job.options.get(name).map(String::as_str);
    let is_on = |name: &str| option(name).is_some_and(fio_job::is_on);
    // What is not listed is off only if all are listed.
    let known = |is_on: bool| (is_on || job.has_options).then_some(is_on);
    let writes = job.writes();
    let copies = group.jobs.len().max(option("numjobs").and_then(|n| n.parse().ok()).unwrap_or(1));
    let kilo = option("kb_base").and_then(|base| base.parse().ok()).unwrap_or(1024);
    let size = option("size").and_then(|size| bytes(size, kilo));
    let shares_file = option("filename").is_some();
    StatedMethod {
        writes,
        syncs: if writes == Some(false) { None } else { known(SYNCS.into_iter().any(is_on)) },
        is_direct: known(is_on("direct") || option("buffered") == Some("0")),
        size_bytes: size
            .and_then(|size| size.checked_mul(if shares_file { 1 } else { copies as u64 })),
        took_ns: job.runtime_ms.and_then(|ms| ms.checked_mul(1_000_000)),
        is_too_fast: false,
        is_steady: job.is_steady,
        options: job.options.clone(),
    }
}

#[cfg(test)]
mod tests;
