//! The computers that the virtual lab can model: the time that executing the kernel takes them.
//!
//! A guest computes in no time; the lab kernel counts what it executes, and lets as much virtual
//! time pass as the host would take. kernel/README.md says what is counted and what is not.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use ssdlab_flash::evidence::{Evidence, EvidenceByKey, Value};
use ssdlab_flash::grounded::{self, EvidencedValue};
use ssdlab_flash::plausible::UncertainValue;
use ssdlab_quantity::{Bytes, in_words, was_meant};
use toml::Spanned;

use super::error::PlanFault;

mod costs;
mod figure;

pub use costs::Costs;
use costs::picoseconds;
use figure::{HostFigure, HostFigures};

/// A computer, as the virtual lab knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostModel {
    /// The name in plans.
    pub name: String,
    /// What it stands for.
    pub description: String,
    /// The costs of its processor.
    pub costs: Costs,
    /// The memory of the guest in bytes; how much may be dirty follows from it.
    pub memory_bytes: u64,
    /// The values of its file, by their dotted keys.
    published: BTreeMap<String, Value>,
    /// The uncertain costs.
    uncertain: Vec<UncertainValue>,
    /// The figures that they were fitted to, by name.
    figures: BTreeMap<String, HostFigure>,
}

/// The prefix of a host value's key in a draw; its key in the host's file follows.
const DRAWN: &str = "host.";

/// The key of the guest's memory, which is not drawn.
const MEMORY: &str = "memory";

/// How often a host's costs are drawn until they give the figures that they were fitted to.
const ROUNDS: u32 = 1000;

impl HostModel {
    /// The host of a draw, and the values that make it this one: of the hosts that the evidence
    /// leaves possible, one that still gives the figures that its costs were fitted to. Fails if
    /// none is found.
    pub fn drawn(&self, seed: u64, draw: u32) -> Result<(Self, BTreeMap<String, Value>), String> {
        for round in 0..ROUNDS {
            let value = |of: &UncertainValue| (of.key.clone(), of.draw(seed, draw, round));
            let values: BTreeMap<String, Value> = self.uncertain.iter().map(value).collect();
            let host = self.with(&values);
            if self.figures.values().all(|figure| figure.is_given_by(&host.costs)) {
                let named = |(key, value): (String, Value)| (format!("{DRAWN}{key}"), value);
                return Ok((host, values.into_iter().map(named).collect()));
            }
        }
        let names: Vec<&str> = self.figures.keys().map(String::as_str).collect();
        Err(format!(
            "no plausible host {} was found in {ROUNDS} draws, as none gives the figures that its \
             costs were fitted to ({}); widen their `within`, or narrow the ranges of these costs",
            self.name,
            names.join(", ")
        ))
    }

    /// The costs that vary, in the order of their keys.
    pub fn uncertain(&self) -> &[UncertainValue] {
        &self.uncertain
    }

    /// The value of the file, by its dotted key.
    pub fn published(&self, key: &str) -> Option<&Value> {
        self.published.get(key)
    }

    /// Whether the cost with this dotted key may have this value.
    pub fn may_cost(key: &str, value: &Value) -> bool {
        value.number().is_some_and(|ns| is_cost(ns, most_ns(key)))
    }

    /// The host with these costs, by dotted key, and its own for all others.
    #[must_use]
    pub fn with(&self, values: &BTreeMap<String, Value>) -> Self {
        let mut host = self.clone();
        for (key, value) in values {
            if let Some(number) = value.number() {
                host.costs.set(key, number);
            }
        }
        host
    }
}

/// A computer's name and its file.
struct Preset {
    name: &'static str,
    text: &'static str,
}

/// The files of the shipped hosts, in the order they are listed.
const PRESETS: [Preset; 3] = [
    Preset { name: "phenom-ii-x4-965", text: include_str!("hosts/phenom-ii-x4-965.toml") },
    Preset { name: "modern-2020s", text: include_str!("hosts/modern-2020s.toml") },
    Preset { name: "infinite", text: include_str!("hosts/infinite.toml") },
];

/// The shipped hosts, in the order they are listed.
pub static HOSTS: LazyLock<[HostModel; 3]> = LazyLock::new(|| {
    PRESETS
        .map(|preset| HostModel::parse(preset.name, preset.text).expect("a test reads every host"))
});

impl HostModel {
    /// Reads a host file; `name` is what the host is called.
    ///
    /// Fails, at the place in the file, if a key is unknown or missing, a cost or the memory is out
    /// of range, or evidence is for a value that the file does not set or contradicts it.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanFault> {
        let (file, published) = HostFile::parse(text)?;
        file.model(name, published)
    }
}

/// The values of a host file in the order of their keys, each with its evidence.
///
/// Fails as [`HostModel::parse`] does.
pub fn grounded_host(text: &str) -> Result<Vec<EvidencedValue>, PlanFault> {
    let (file, values) = HostFile::parse(text)?;
    Ok(grounded::with_evidence(values, &file.evidence))
}

/// The file of a shipped host.
pub fn shipped_host(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|preset| preset.name == name).map(|preset| preset.text)
}

/// Finds a shipped host by its name in plans.
pub fn find(name: &str) -> Option<&'static HostModel> {
    HOSTS.iter().find(|host| host.name == name)
}

/// The JSON schema of a host file.
pub fn host_file_schema() -> Schema {
    schema_for!(HostFile)
}

/// A host file. Every key but `evidence` is required.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HostFile {
    /// What it stands for.
    #[schemars(example = &"a laptop of 2026")]
    description: String,
    /// The time of a basic block of the kernel's code, in ns.
    #[schemars(with = "f64")]
    ns_per_block: Spanned<f64>,
    /// The time of a system call besides the blocks it executes, in ns.
    #[schemars(with = "u64")]
    ns_per_call: Spanned<u64>,
    /// What real processors have special instructions for.
    ns_per_kib: NsPerKib,
    /// The memory of the guest; how much may be dirty follows from it.
    #[schemars(with = "Bytes")]
    memory: Spanned<Bytes>,
    /// The evidence for values, by their dotted keys: [`[evidence.KEY]`](#evidencekey).
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Evidence>")]
    evidence: EvidenceByKey,
    /// Published times that costs were fitted to, by the names in `fitted_to`:
    /// [`[figures.NAME]`](#figuresname).
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, HostFigure>")]
    figures: HostFigures,
}

/// The times per KiB of copying, digesting and encrypting, for which real processors have special
/// instructions, in ns.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NsPerKib {
    /// Copying or zeroing.
    #[schemars(with = "u64")]
    copy: Spanned<u64>,
    /// CRC-32 or CRC-32C, the checksums of ext4, xfs and btrfs.
    #[schemars(with = "u64")]
    crc32: Spanned<u64>,
    /// `xxHash`.
    #[schemars(with = "u64")]
    xxhash: Spanned<u64>,
    /// SHA-256.
    #[schemars(with = "u64")]
    sha256: Spanned<u64>,
    /// `BLAKE2b`.
    #[schemars(with = "u64")]
    blake2: Spanned<u64>,
    /// AES-256-XTS, as dm-crypt encrypts with.
    #[schemars(with = "u64")]
    aes: Spanned<u64>,
}

/// The most that a basic block may cost, in ns: the lab kernel refuses to boot with more.
const MOST_BLOCK_NS: u64 = 1_000;

/// The most that anything else may cost, in ns: a millisecond.
const MOST_NS: u64 = 1_000_000;

/// The memory that a guest can have: the lab kernel and its filesystems need the lower limit.
const MEMORY_BYTES: RangeInclusive<u64> = 256 << 20..=1 << 40;

impl HostFile {
    /// The file, and its values by their dotted keys.
    fn parse(text: &str) -> Result<(Self, BTreeMap<String, Value>), PlanFault> {
        let file: Self = toml::from_str(text).map_err(|error| PlanFault {
            message: in_words(error.message()),
            at: error.span(),
            help: Some(was_meant(error.message()).unwrap_or_else(|| {
                "`ssdlab host show modern-2020s` prints a file with every key".to_owned()
            })),
        })?;
        let values = grounded::values(&toml::from_str(text).expect("it is TOML, as above"));
        for (key, evidence) in &file.evidence {
            let fault = grounded::fault(&values, key, evidence.get_ref(), "ns_per_kib.copy");
            if let Some((message, help)) = fault {
                return Err(PlanFault::at(evidence.span(), message, help));
            }
            let may_cost = |value: &Value| HostModel::may_cost(key, value);
            if key != MEMORY && !evidence.get_ref().alternatives().all(may_cost) {
                return Err(out_of_range(evidence.span(), most_ns(key)));
            }
        }
        Ok((file, values))
    }

    fn model(self, name: &str, published: BTreeMap<String, Value>) -> Result<HostModel, PlanFault> {
        let NsPerKib { copy, crc32, xxhash, sha256, blake2, aes } = self.ns_per_kib;
        let memory_bytes = self.memory.get_ref().0;
        if !MEMORY_BYTES.contains(&memory_bytes) {
            let [least, most] = [MEMORY_BYTES.start(), MEMORY_BYTES.end()].map(|of| Bytes(*of));
            return Err(PlanFault::at(
                self.memory.span(),
                "a guest cannot have this much memory",
                format!("give an amount from {least} to {most}"),
            ));
        }
        let costs = Costs {
            block_ps: block_cost(&self.ns_per_block)?,
            call_ns: cost(&self.ns_per_call)?,
            copy_ns: cost(&copy)?,
            crc32_ns: cost(&crc32)?,
            xxhash_ns: cost(&xxhash)?,
            sha256_ns: cost(&sha256)?,
            blake2_ns: cost(&blake2)?,
            aes_ns: cost(&aes)?,
        };
        for (name, figure) in &self.figures {
            if let Some(fault) = figure.get_ref().fault(name, figure.span()) {
                return Err(fault);
            }
        }
        let figures = self.figures.into_iter().map(|(name, figure)| (name, figure.into_inner()));
        Ok(HostModel {
            name: name.to_owned(),
            description: self.description,
            costs,
            memory_bytes,
            published,
            uncertain: self
                .evidence
                .into_iter()
                .filter(|(key, _)| key != MEMORY)
                .filter_map(|(key, evidence)| UncertainValue::of(key, evidence.into_inner()))
                .collect(),
            figures: figures.collect(),
        })
    }
}

/// The most that the cost with this dotted key may be, in ns.
fn most_ns(key: &str) -> u64 {
    if key == "ns_per_block" { MOST_BLOCK_NS } else { MOST_NS }
}

/// Whether something may take so many ns.
fn is_cost(ns: f64, most: u64) -> bool {
    (0.0..=most as f64).contains(&ns)
}

fn cost(written: &Spanned<u64>) -> Result<u64, PlanFault> {
    let (nanos, most) = (*written.get_ref(), MOST_NS);
    if is_cost(nanos as f64, most) { Ok(nanos) } else { Err(out_of_range(written.span(), most)) }
}

/// The cost of a block, in ps.
fn block_cost(written: &Spanned<f64>) -> Result<u64, PlanFault> {
    let (nanos, most) = (*written.get_ref(), MOST_BLOCK_NS);
    if is_cost(nanos, most) {
        Ok(picoseconds(nanos))
    } else {
        Err(out_of_range(written.span(), most))
    }
}

fn out_of_range(span: Range<usize>, most: u64) -> PlanFault {
    PlanFault::at(span, "this cost is out of range", format!("give ns from 0 to {most}"))
}

#[cfg(test)]
mod tests;
