//! Reads bonnie++'s CSV lines: a name is a treatment, a line a trial, a test a phase.

use std::collections::BTreeMap;

use crate::StatedMethod;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::metric::{Metric, Source};
use ssdlab_workload::printed::bonnie::{self, BonnieRate, BonnieResult, BonnieTestResult};

use super::error::ImportFault;
use super::sample::{ImportedFile, ImportedSample, check_trials, phase};

const HELP: &str =
    "expected the CSV lines that bonnie++ 1.93 to 2.00 prints last; other lines start with #";

pub(super) fn read(text: &str) -> Result<ImportedFile, ImportFault> {
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        // What bon_csv2txt(1) skips, and the table that bonnie++ prints above its CSV.
        if !bonnie::is_line(line) {
            let is_passed_over =
                ["#", "name,", "format_version,"].iter().any(|word| line.starts_with(word));
            let is_list = line.split(',').count() > 3 && !is_passed_over;
            if is_list {
                return Err(ImportFault::new(
                    format!("line {}: its first value is not a version of the format", index + 1),
                    HELP,
                ));
            }
            continue;
        }
        let line = bonnie::line(line)
            .map_err(|reason| ImportFault::new(format!("line {}: {reason}", index + 1), HELP))?;
        lines.push(line);
        check_trials(lines.len())?;
    }
    let is_empty = |test: &BonnieTestResult| test.rate.is_none() && test.longest_ns.is_none();
    if lines.iter().flat_map(|line| &line.tests).all(is_empty) {
        return Err(ImportFault::new(
            "it has no numbers: no test took long enough to be measured",
            "run bonnie++ with a larger -s and -n",
        ));
    }
    let version = lines.first().map(|line| line.version.clone());
    let mut notes = Vec::new();
    if lines.iter().any(|line| Some(&line.version) != version.as_ref()) {
        notes.push("the lines are from different versions of bonnie++".to_owned());
    }
    Ok(ImportedFile {
        program: "bonnie++",
        version,
        metric: Metric::from(Source::OpsRate),
        // A line does not say when it was printed.
        is_in_order: false,
        samples: lines.into_iter().map(sample).collect(),
        notes,
    })
}

fn sample(line: BonnieResult) -> ImportedSample {
    let chunk = line.chunk_bytes.filter(|bytes| *bytes > 0);
    let mut sample = ImportedSample {
        environment: Environment {
            tools: vec![format!("bonnie++ {}", line.version)],
            ..Environment::default()
        },
        ..ImportedSample::default()
    };
    for tested in &line.tests {
        let mut reported = BTreeMap::new();
        match tested.rate {
            Some(BonnieRate::Operations(rate)) => {
                reported.insert(Metric::from(Source::OpsRate), rate);
            }
            Some(BonnieRate::Bytes(rate)) => {
                reported.insert(Metric::from(Source::ByteRate), rate);
                // ssdlab counts chunks even for tests by character.
                let operations = chunk.map(|bytes| rate / bytes as f64);
                reported.extend(operations.map(|rate| (Metric::from(Source::OpsRate), rate)));
            }
            None => {}
        }
        if let Some(longest) = tested.longest_ns {
            reported.insert(Metric::from(Source::LatencyMax), longest);
        }
        let name = tested.test.name();
        let is_of_file = tested.test.is_of_the_file();
        let told = StatedMethod {
            writes: Some(!matches!(
                name,
                "seq_input_char" | "seq_input_block" | "seq_stat" | "random_stat"
            )),
            // Each test ends with a sync (`bonnie++.cpp`).
            syncs: Some(true),
            is_direct: Some(false),
            size_bytes: line.size_bytes.filter(|_| is_of_file),
            is_too_fast: tested.rate.is_none(),
            options: line
                .settings
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
            ..StatedMethod::default()
        };
        sample.told.insert(name.to_owned(), told);
        sample.phases.push(phase(name, reported));
    }
    sample.name = Some(line.name).filter(|name| !name.trim().is_empty());
    sample
}

#[cfg(test)]
mod tests;
