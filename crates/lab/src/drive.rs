//! The drive of a lab as stored in records' settings, and whether a record is about another drive.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use miette::Diagnostic;
use ssdlab_plan::{Bytes, DRIVE_NAME};
use thiserror::Error;

/// The settings of a record that identify the drive of its trial.
const SIZE: &str = "device_bytes";
const MODEL: &str = "model";

/// A drive or partition that exists before a run and after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExistingDrive {
    /// Its current name.
    pub node: PathBuf,
    /// Names that identify it uniquely, also after a reboot.
    pub names: Vec<String>,
    /// The drive's model, if it has one.
    pub model: Option<String>,
    pub size_bytes: u64,
}

/// A drive on which the trials of a run must not go on.
#[derive(Debug, Error, Diagnostic)]
#[error("{} is not the drive of this run: {differences}", node.display())]
#[diagnostic(help(
    "nothing was written; connect the run's drive as {} again to resume the run, or measure this \
     drive in a new one: ssdlab run PLAN --device DEVICE", node.display()
))]
pub struct OtherDrive {
    node: PathBuf,
    differences: Differences,
}

/// A setting, its value in a record, and the value found.
type Difference = (&'static str, String, String);

#[derive(Debug)]
struct Differences(Vec<Difference>);

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (what, recorded, found)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "; " };
            write!(f, "{comma}its records have the {what} {recorded}, this one has {found}")?;
        }
        Ok(())
    }
}

impl ExistingDrive {
    /// Its settings in records.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![(SIZE, self.size_bytes.to_string())];
        facts.extend(self.model.clone().map(|model| (MODEL, model)));
        facts.extend(self.names.first().map(|name| (DRIVE_NAME, name.clone())));
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Refuses a record, by its settings, that was made on another drive. Records of trials that
    /// did not reach their drive have none of these.
    pub fn check(&self, applied: &BTreeMap<String, String>) -> Result<(), OtherDrive> {
        let mut differences: Vec<Difference> = Vec::new();
        if let Some(name) = applied.get(DRIVE_NAME).filter(|name| !self.names.contains(name)) {
            let found =
                if self.names.is_empty() { "none".to_owned() } else { self.names.join(", ") };
            differences.push((DRIVE_NAME, name.clone(), found));
        }
        if let Some(model) = applied.get(MODEL).filter(|model| Some(*model) != self.model.as_ref())
        {
            let found = self.model.clone().unwrap_or_else(|| "none".to_owned());
            differences.push(("model", model.clone(), found));
        }
        let size = applied.get(SIZE).and_then(|size| size.parse().ok());
        if let Some(size) = size.filter(|size| *size != self.size_bytes) {
            differences.push(("size", exactly(size), exactly(self.size_bytes)));
        }
        if differences.is_empty() {
            return Ok(());
        }
        let differences = Differences(differences);
        Err(OtherDrive { node: self.node.clone(), differences })
    }
}

/// Drives of one nominal size differ in the last digits.
fn exactly(bytes: u64) -> String {
    format!("{} ({bytes} bytes)", Bytes(bytes))
}

#[cfg(test)]
mod tests;
