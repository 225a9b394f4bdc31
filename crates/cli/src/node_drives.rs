//! Which drives of a node plans may wipe: the node's administrator names them, by kind, in a file
//! that only root can write.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use miette::Report;
use serde::Deserialize;
use ssdlab_host::trust::exposed;
use ssdlab_lab::LabError;

const ROOT: u32 = 0;

/// The file of a node.
const FILE: &str = "/etc/ssdlab/drives.toml";

/// Where persistent names of drives are.
const BY_ID: &str = "/dev/disk/by-id";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The drives that may be wiped: their names in /dev/disk/by-id, by kind.
    drives: BTreeMap<String, String>,
}

/// A drive that may be wiped.
pub struct PermittedDrive {
    /// Its name in /dev/disk/by-id, which also proves that this drive is meant.
    pub id: String,
}

impl PermittedDrive {
    /// The device.
    pub fn path(&self) -> PathBuf {
        Path::new(BY_ID).join(&self.id)
    }
}

/// The drive of a kind that may be wiped on this node.
pub fn find(kind: Option<&str>) -> Result<PermittedDrive, Report> {
    find_in(Path::new(FILE), kind.unwrap_or_default())
        .map_err(|reason| LabError::Unavailable { reason }.into())
}

fn find_in(file: &Path, kind: &str) -> Result<PermittedDrive, String> {
    let of_file = |what: &dyn std::fmt::Display| format!("{}: {what}", file.display());
    let no_file = "no drive of this node may be wiped for plans submitted through Slurm; its \
        administrator has to name those that may (docs/fleet.md)";
    if let Some(exposed) = exposed(file, ROOT).map_err(|_| of_file(&no_file))? {
        let says =
            format!("users other than root can write to it: {exposed}; chmod go-w, chown root");
        return Err(of_file(&says));
    }
    let text = fs::read_to_string(file).map_err(|error| of_file(&error))?;
    let written: Written = toml::from_str(&text).map_err(|error| of_file(&error.message()))?;
    let Some(id) = written.drives.get(kind) else {
        let known: Vec<&str> = written.drives.keys().map(String::as_str).collect();
        return Err(of_file(&format!("no drive `{kind}` (known: {})", known.join(", "))));
    };
    if id.is_empty() || id.contains('/') || id.starts_with('.') {
        return Err(of_file(&format!("`{id}` is not a name in {BY_ID}")));
    }
    Ok(PermittedDrive { id: id.clone() })
}

#[cfg(test)]
mod tests;
