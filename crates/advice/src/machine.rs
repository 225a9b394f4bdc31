//! The machines that trials ran on, if results depend on them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::{DRIVE_NAME, LabKind, Origin};
use ssdlab_results::Record;

use super::counted::counted;

/// A machine and the drive it measured, as far as a record identifies them. Only trials that share
/// both can be compared in real time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MeasuredMachine<'a> {
    node: &'a str,
    model: Option<&'a str>,
    firmware: Option<&'a str>,
    /// What distinguishes the drive from others of its model.
    identity: Option<&'a str>,
}

impl<'a> MeasuredMachine<'a> {
    /// The machine that results depend on: `None` in the virtual lab, where they are the same on
    /// every machine, and if the record names none.
    pub fn of(record: &'a Record) -> Option<Self> {
        let depends = match record.lab {
            Origin::Lab(LabKind::Image | LabKind::Device | LabKind::Directory | LabKind::Live) => {
                true
            }
            Origin::Lab(LabKind::Virtual) | Origin::Imported => false,
        };
        let attempt = record.attempt.as_ref().filter(|_| depends)?;
        Some(Self {
            node: &attempt.node,
            model: record.environment.drive_model.as_deref(),
            firmware: record.environment.drive_firmware.as_deref(),
            identity: record.applied.get(DRIVE_NAME).map(String::as_str),
        })
    }
}

/// A machine that ran trials, with its drive: of two drives it counts as two.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Host {
    /// The machine's name, as its attempts have it.
    pub node: String,
    /// The drive's model and firmware; absent where there is no drive or it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<String>,
    /// The drive's by-id name, which no other has; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
}

impl From<MeasuredMachine<'_>> for Host {
    fn from(machine: MeasuredMachine<'_>) -> Self {
        let drive: Vec<&str> = machine.model.into_iter().chain(machine.firmware).collect();
        let drive = (!drive.is_empty()).then(|| drive.join(" "));
        Self { node: machine.node.to_owned(), drive, identity: machine.identity.map(str::to_owned) }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node)?;
        match (&self.drive, &self.identity) {
            (Some(drive), Some(identity)) => write!(f, " ({drive}, {identity})"),
            (Some(one), None) | (None, Some(one)) => write!(f, " ({one})"),
            (None, None) => Ok(()),
        }
    }
}

/// Software that may differ between trials on one machine, by its name in words.
type Fact = (&'static str, fn(&Record) -> Vec<&str>);
const SOFTWARE: [Fact; 3] = [
    ("kernel", |record| vec![&record.environment.kernel]),
    ("programs", |record| record.environment.tools.iter().map(String::as_str).collect()),
    ("version of ssdlab", |record| vec![&record.environment.ssdlab]),
];

/// The software in which machines differ. A change that all machines went through does not count.
pub(super) fn unlike(records: &[Record]) -> Vec<String> {
    let differ = |(_, fact): &Fact| {
        let mut found: BTreeMap<MeasuredMachine<'_>, BTreeSet<Vec<&str>>> = BTreeMap::new();
        for record in counted(records) {
            if let Some(machine) = MeasuredMachine::of(record) {
                found.entry(machine).or_default().insert(fact(record));
            }
        }
        found.into_values().collect::<BTreeSet<_>>().len() > 1
    };
    SOFTWARE.into_iter().filter(differ).map(|(name, _)| name.to_owned()).collect()
}
