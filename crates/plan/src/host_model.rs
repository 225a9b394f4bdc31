//! The computers that the virtual lab can stand in for: what executing the kernel takes them.
//!
//! A guest computes in no time; the lab kernel counts what it executes, and lets as much virtual
//! time pass as it takes the host. What is counted, and what is not, kernel/README.md says.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use ssdlab_flash::evidence::{EvidenceByKey, Value};
use ssdlab_flash::grounded::{self, Grounded};
use ssdlab_flash::plausible::Uncertain;
use ssdlab_quantity::Bytes;

/// A computer, as the virtual lab knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostModel {
    /// The name in plans.
    pub name: String,
    /// What it stands for.
    pub description: String,
    /// What its processor takes.
    pub costs: Costs,
    /// The memory of the guest in bytes; how much may be dirty follows from it.
    pub memory_bytes: u64,
    /// What of the costs may be otherwise.
    uncertain: Vec<Uncertain>,
}

/// A value of a draw is filed under its key in the host's file after this.
const DRAWN: &str = "host.";

/// The memory of a guest is this machine's, and is not drawn.
const MEMORY: &str = "memory";

impl HostModel {
    /// The host of a draw, and the values that make it this one. The figures to which its values
    /// were fitted are processor times of other machines, so it is held to none.
    #[must_use]
    pub fn drawn(&self, seed: u64, draw: u32) -> (Self, BTreeMap<String, Value>) {
        let mut host = self.clone();
        let mut values = BTreeMap::new();
        for uncertain in &self.uncertain {
            let value = uncertain.draw(seed, draw);
            if let Some(number) = value.number() {
                host.costs.set(&uncertain.key, number);
            }
            values.insert(format!("{DRAWN}{}", uncertain.key), value);
        }
        (host, values)
    }
}

/// What the processor of a computer takes for what the kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// A basic block of the kernel's code, in ps.
    pub block_ps: u64,
    /// Entering the kernel and leaving it, in ns.
    pub call_ns: u64,
    /// A KiB copied or zeroed, in ns.
    pub copy_ns: u64,
    /// A KiB of CRC-32 or CRC-32C, in ns.
    pub crc32_ns: u64,
    /// A KiB of `xxHash`, in ns.
    pub xxhash_ns: u64,
    /// A KiB of SHA-256, in ns.
    pub sha256_ns: u64,
    /// A KiB of `BLAKE2b`, in ns.
    pub blake2_ns: u64,
}

impl Costs {
    /// Sets a cost by its key in a host file; what is no cost stays.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a cost")]
    fn set(&mut self, key: &str, number: f64) {
        let whole = number.round() as u64;
        match key {
            "ns_per_block" => self.block_ps = (number * 1e3).round() as u64,
            "ns_per_call" => self.call_ns = whole,
            "ns_per_kib.copy" => self.copy_ns = whole,
            "ns_per_kib.crc32" => self.crc32_ns = whole,
            "ns_per_kib.xxhash" => self.xxhash_ns = whole,
            "ns_per_kib.sha256" => self.sha256_ns = whole,
            "ns_per_kib.blake2" => self.blake2_ns = whole,
            _ => {}
        }
    }
}

impl fmt::Display for Costs {
    /// The lab kernel's parameter `ssdlab.cpu`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block_ps, call_ns, copy_ns, crc32_ns, xxhash_ns, sha256_ns, blake2_ns } = self;
        write!(f, "{block_ps},{call_ns},{copy_ns},{crc32_ns},{xxhash_ns},{sha256_ns},{blake2_ns}")
    }
}

/// A computer's name and its file.
struct Preset {
    name: &'static str,
    text: &'static str,
}

/// The files of the hosts there are, in the order they are listed.
const PRESETS: [Preset; 3] = [
    Preset { name: "phenom-ii-x4-965", text: include_str!("hosts/phenom-ii-x4-965.toml") },
    Preset { name: "modern-2020s", text: include_str!("hosts/modern-2020s.toml") },
    Preset { name: "infinite", text: include_str!("hosts/infinite.toml") },
];

/// Every host there is, in the order they are listed.
pub static HOSTS: LazyLock<[HostModel; 3]> = LazyLock::new(|| {
    PRESETS.map(|preset| {
        let file: HostFile = toml::from_str(preset.text).expect("a test reads every host");
        file.model(preset.name)
    })
});

impl HostModel {
    /// Its file, as it comes with the program.
    #[must_use]
    pub fn text(&self) -> &'static str {
        let mut presets = PRESETS.iter();
        presets.find(|preset| preset.name == self.name).map_or("", |preset| preset.text)
    }

    /// The values of its file in the order of their keys, each with what it rests on.
    #[must_use]
    pub fn grounded(&self) -> Vec<Grounded> {
        let file: HostFile = toml::from_str(self.text()).expect("a test reads every host");
        let table = toml::from_str(self.text()).expect("a test reads every host");
        grounded::with_evidence(grounded::values(&table), &file.evidence)
    }
}

/// Finds a host by its name in plans.
#[must_use]
pub fn find(name: &str) -> Option<&'static HostModel> {
    HOSTS.iter().find(|host| host.name == name)
}

/// A host file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostFile {
    /// What it stands for.
    description: String,
    /// What a basic block takes, in ns.
    ns_per_block: f64,
    /// What a system call takes besides what it executes, in ns.
    ns_per_call: u64,
    /// What a KiB takes of which special instructions move or digest many bytes at once, in ns.
    ns_per_kib: NsPerKib,
    /// The memory.
    memory: Bytes,
    /// What the values rest on, by their dotted keys.
    #[serde(default)]
    evidence: EvidenceByKey,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NsPerKib {
    copy: u64,
    crc32: u64,
    xxhash: u64,
    sha256: u64,
    blake2: u64,
}

impl HostFile {
    // A cast keeps to the range of the type.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn model(self, name: &str) -> HostModel {
        let NsPerKib { copy, crc32, xxhash, sha256, blake2 } = self.ns_per_kib;
        HostModel {
            name: name.to_owned(),
            description: self.description,
            costs: Costs {
                block_ps: (self.ns_per_block * 1e3).round() as u64,
                call_ns: self.ns_per_call,
                copy_ns: copy,
                crc32_ns: crc32,
                xxhash_ns: xxhash,
                sha256_ns: sha256,
                blake2_ns: blake2,
            },
            memory_bytes: self.memory.0,
            uncertain: self
                .evidence
                .into_iter()
                .filter(|(key, _)| key != MEMORY)
                .filter_map(|(key, evidence)| Uncertain::of(key, evidence.into_inner()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
