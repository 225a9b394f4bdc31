//! The readers of other programs' results, by content. Nothing is lost of sound ones: the times of
//! hyperfine, the runs of the Phoronix Test Suite and the rates of bonnie++ add up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use ssdlab_results::import::{self as import, ImportSource};
use ssdlab_results::{PhaseRecord, Record};

/// As many values as keep an input fast.
const MOST_VALUES: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    import::fuzz(bytes);
    let values = &bytes[..bytes.len().min(MOST_VALUES)];
    if !values.is_empty() {
        check_hyperfine(values);
        check_phoronix(values);
        check_bonnie(values);
    }
});

/// The records of a sound file, of which each has one phase.
fn records(text: &str) -> Vec<Record> {
    let source = ImportSource { name: "file", label: None, contents: text.as_bytes() };
    import::import(None, &[source]).expect("a sound file").records
}

/// A sum over the phases of records.
fn sum(records: &[Record], of: impl Fn(&PhaseRecord) -> f64) -> f64 {
    records.iter().flat_map(|record| &record.phases).map(of).sum()
}

fn total(values: &[u8]) -> f64 {
    values.iter().map(|value| f64::from(*value)).sum()
}

/// Each value is a time in eighths of a second, of one of two commands.
fn check_hyperfine(values: &[u8]) {
    let (first, second) = values.split_at(values.len() / 2);
    let times =
        |part: &[u8]| -> Vec<f64> { part.iter().map(|value| f64::from(*value) / 8.0).collect() };
    let results: Vec<_> = [("a", first), ("b", second)]
        .into_iter()
        .filter(|(_, part)| !part.is_empty())
        .map(|(command, part)| json!({ "command": command, "times": times(part) }))
        .collect();
    let found = records(&json!({ "results": results }).to_string());
    assert_eq!(found.len(), values.len());
    let time_ns = |phase: &PhaseRecord| phase.time_ns.expect("each has a time") as f64;
    assert_eq!(sum(&found, time_ns), total(values) * 125e6);
}

/// Each value is a run of a test, of one of two systems.
fn check_phoronix(values: &[u8]) {
    let (first, second) = values.split_at(values.len() / 2);
    let entry = |(system, part): (&str, &[u8])| {
        let raw: Vec<String> = part.iter().map(ToString::to_string).collect();
        format!(
            "<Entry><Identifier>{system}</Identifier><Value>1</Value><RawString>{}</RawString>\
             </Entry>",
            raw.join(":")
        )
    };
    let parts = [("a", first), ("b", second)].into_iter().filter(|(_, part)| !part.is_empty());
    let entries: String = parts.map(entry).collect();
    let found = records(&format!(
        "<PhoronixTestSuite><Result><Title>t</Title><Scale>MB/s</Scale><Proportion>HIB\
         </Proportion><DisplayFormat>BAR_GRAPH</DisplayFormat><Data>{entries}</Data></Result>\
         </PhoronixTestSuite>"
    ));
    assert_eq!(found.len(), values.len());
    assert_eq!(sum(&found, |phase| phase.reported.values().sum()), total(values));
}

/// Each value is the rate of one test in KiB a second, in a line of its own.
fn check_bonnie(values: &[u8]) {
    let line = |value: &u8| {
        let mut fields = vec![String::new(); 48];
        for (place, text) in [(0, "1.96"), (1, "1.96"), (2, "a"), (3, "1"), (5, "4G")] {
            text.clone_into(&mut fields[place]);
        }
        fields[9] = value.to_string();
        fields.join(",") + "\n"
    };
    let found = records(&values.iter().map(line).collect::<String>());
    assert_eq!(found.len(), values.len());
    let rate = |phase: &PhaseRecord| {
        let metrics = phase.reported.iter();
        let rates = metrics.filter(|(metric, _)| metric.to_string() == "bytes_per_second");
        rates.map(|(_, rate)| rate).sum()
    };
    assert_eq!(sum(&found, rate), total(values) * 1024.0);
}
