//! The file of a baseline: what a load costs on a drive, with all that is needed to measure it
//! again. It is kept in a version control system, so a line of it changes only with what it says.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_operations::calls::{FileActivity, ProgramActivity};
use toml::{Table, Value};

use super::record::{PhaseRecord, Record};

/// The version of a baseline's file.
pub const BASELINE_SCHEMA: u32 = 1;

/// The name of what unmounting costs, which is no phase of the plan.
pub const UNMOUNTING: &str = "(unmounting)";

/// What a load costs, and how it was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of this format.
    pub schema: u32,
    /// The folder that relative paths in the plan start from, as seen from this file's.
    pub folder: String,
    /// The plan's text.
    pub plan: String,
    /// The texts of the drive files that the plan names, by their paths from that folder.
    #[serde(default)]
    pub drives: BTreeMap<String, String>,
    /// What costs depend on beside the program: versions and digests of the lab, of the tools that
    /// make filesystems, and of libraries.
    pub made_with: BTreeMap<String, String>,
    /// What one trial of each treatment costs, in the plan's order.
    pub treatments: Vec<TreatmentCost>,
}

/// What a trial costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreatmentCost {
    /// The treatment's levels.
    pub levels: String,
    /// Equal if everything was the same to the bit.
    pub fingerprint: String,
    /// What each phase costs, and then `(unmounting)`.
    pub phases: Vec<PhaseCost>,
}

/// What a phase costs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseCost {
    /// Its name.
    pub name: String,
    /// How long it took in virtual time, in ns; absent of unmounting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// Bytes written to the drive.
    pub written_bytes: u64,
    /// Flushes of the drive.
    pub flushes: u64,
    /// Syncs of programs; absent if no program was watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// The written bytes by kind: `data`, `journal`, `metadata` or `unattributed`.
    #[serde(default)]
    pub kinds: BTreeMap<String, u64>,
    /// What programs did to each file.
    #[serde(default)]
    pub files: BTreeMap<String, FileActivity>,
}

impl Baseline {
    /// Whether a text is a baseline's, intact or not, and no plan.
    pub fn is_meant(text: &str) -> bool {
        text.parse::<Table>().is_ok_and(|table| table.contains_key("made_with"))
    }

    /// Parses a file; an error says what is wrong and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        match table.get("schema").and_then(Value::as_integer) {
            Some(schema) if schema > i64::from(BASELINE_SCHEMA) => {
                return Err(format!(
                    "it has version {schema}, and this ssdlab reads {BASELINE_SCHEMA}: use a newer \
                     ssdlab"
                ));
            }
            Some(_) => {}
            None => return Err("it has no `schema`, as every baseline has".to_owned()),
        }
        let baseline: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let has_costs = |treatment: &TreatmentCost| !treatment.phases.is_empty();
        if baseline.treatments.is_empty() || !baseline.treatments.iter().all(has_costs) {
            return Err("a treatment in it has no costs".to_owned());
        }
        Ok(baseline)
    }
}

impl TreatmentCost {
    /// What a trial costs; `levels` are its treatment's.
    pub fn of(record: &Record, levels: String) -> Self {
        let mut phases: Vec<PhaseCost> = record.phases.iter().map(PhaseCost::of).collect();
        phases.extend(record.teardown.map(|teardown| PhaseCost {
            name: UNMOUNTING.to_owned(),
            written_bytes: teardown.device.written_bytes,
            flushes: teardown.device.flushes,
            ..PhaseCost::default()
        }));
        let fingerprint = record.fingerprint.clone().unwrap_or_default();
        Self { levels, fingerprint, phases }
    }
}

impl PhaseCost {
    fn of(phase: &PhaseRecord) -> Self {
        let device = phase.device.unwrap_or_default();
        let mut kinds = BTreeMap::new();
        if let Some(by_kind) = phase.ledger.as_ref().and_then(|ledger| ledger.by_kind) {
            for kind in BlockKind::ALL {
                let bytes = by_kind.of(kind).bytes;
                if bytes > 0 {
                    *kinds.entry(called(kind).to_owned()).or_default() += bytes;
                }
            }
        }
        Self {
            name: phase.name.clone(),
            time_ns: phase.time_ns,
            written_bytes: device.written_bytes,
            flushes: device.flushes,
            syncs: phase.programs.as_ref().map(ProgramActivity::syncs),
            kinds,
            files: phase.programs.as_ref().map(|done| done.files.clone()).unwrap_or_default(),
        }
    }
}

/// What people call a kind.
const fn called(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Data => "data",
        BlockKind::Journal => "journal",
        BlockKind::Unattributed => "unattributed",
        BlockKind::Inode
        | BlockKind::Directory
        | BlockKind::Allocation
        | BlockKind::Superblock
        | BlockKind::CowMetadata => "metadata",
    }
}

/// A name as a key, quoted where it has to be: a text in JSON is one in TOML, but for the control
/// character that JSON leaves as it is.
fn key_of(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.to_owned();
    }
    serde_json::to_string(name).unwrap_or_default().replace('\u{7f}', "\\u007f")
}

impl fmt::Display for Baseline {
    /// Writes the file, a line for each file of a phase.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Made by `ssdlab baseline record`; to be checked: ssdlab baseline check FILE"
        )?;
        writeln!(f, "schema = {}", self.schema)?;
        writeln!(f, "folder = {}", Value::from(self.folder.as_str()))?;
        writeln!(f, "plan = {}\n\n[made_with]", Value::from(self.plan.as_str()))?;
        for (name, found) in &self.made_with {
            writeln!(f, "{} = {}", key_of(name), Value::from(found.as_str()))?;
        }
        if !self.drives.is_empty() {
            writeln!(f, "\n[drives]")?;
        }
        for (name, text) in &self.drives {
            writeln!(f, "{} = {}", key_of(name), Value::from(text.as_str()))?;
        }
        for treatment in &self.treatments {
            writeln!(f, "\n[[treatments]]\nlevels = {}", Value::from(treatment.levels.as_str()))?;
            writeln!(f, "fingerprint = {}", Value::from(treatment.fingerprint.as_str()))?;
            treatment.phases.iter().try_for_each(|phase| phase.write(f))?;
        }
        Ok(())
    }
}

impl PhaseCost {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n[[treatments.phases]]\nname = {}", Value::from(self.name.as_str()))?;
        if let Some(time_ns) = self.time_ns {
            writeln!(f, "time_ns = {time_ns}")?;
        }
        writeln!(f, "written_bytes = {}\nflushes = {}", self.written_bytes, self.flushes)?;
        if let Some(syncs) = self.syncs {
            writeln!(f, "syncs = {syncs}")?;
        }
        let kinds = self.kinds.iter().map(|(kind, bytes)| format!("{} = {bytes}", key_of(kind)));
        let kinds: Vec<String> = kinds.collect();
        if !kinds.is_empty() {
            writeln!(f, "kinds = {{ {} }}", kinds.join(", "))?;
        }
        if !self.files.is_empty() {
            writeln!(f, "[treatments.phases.files]")?;
        }
        self.files.iter().try_for_each(|(name, done)| {
            let FileActivity { written_bytes, writes, syncs } = done;
            writeln!(
                f,
                "{} = {{ written_bytes = {written_bytes}, writes = {writes}, syncs = {syncs} }}",
                key_of(name)
            )
        })
    }
}

#[cfg(test)]
mod tests;
