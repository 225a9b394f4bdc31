//! The contents of a device: signatures known to libblkid, and unknown data.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use ssdlab_host::program;
use ssdlab_host::sysfs::BlockDevice;

use super::relatives::lasting_identity;
use crate::safety::{Relation, Signature};
use crate::{LabError, Tools, blank};

#[derive(Deserialize)]
struct Wipefs {
    signatures: Vec<WipefsSignature>,
}

#[derive(Deserialize)]
struct WipefsSignature {
    #[serde(rename = "type")]
    kind: String,
    label: Option<String>,
}

/// The signatures libblkid finds on the device and its partitions (`wipefs --no-act` only reads);
/// if there are none, any other data.
pub(super) fn of(
    device: &BlockDevice,
    held: &File,
    relatives: &[(Relation, BlockDevice)],
    tools: &Tools<'_>,
) -> Result<Vec<Signature>, LabError> {
    let wipefs = program::find("wipefs", "util-linux")?;
    let mut signatures = Vec::new();
    for (relation, relative) in relatives {
        if !matches!(relation, Relation::Itself | Relation::Partition) {
            continue;
        }
        let node = match relation {
            Relation::Itself => device.node.clone(),
            _ => Path::new("/dev").join(&relative.name),
        };
        let mut command = Command::new(&wipefs);
        command.args(["--no-act", "--json"]).arg(&node);
        let printed = program::run(command, tools.rules)?.stdout;
        signatures.extend(parse(&printed, &relative.name).map_err(|cause| {
            LabError::step("read the signatures of", &node)(io::Error::other(cause))
        })?);
    }
    if signatures.is_empty() {
        // libblkid does not detect plain dm-crypt, a database on a raw device, or a disk that lost
        // its partition table.
        let data = blank::first_data(held, &lasting_identity(device))
            .map_err(LabError::step("read", &device.node))?;
        signatures.extend(data.map(|offset| Signature {
            device: device.name.clone(),
            kind: format!("data of an unknown kind at byte {offset}"),
            label: None,
        }));
    }
    Ok(signatures)
}

/// wipefs prints nothing at all if it finds nothing.
fn parse(printed: &str, device: &str) -> Result<Vec<Signature>, serde_json::Error> {
    if printed.trim().is_empty() {
        return Ok(Vec::new());
    }
    let found: Wipefs = serde_json::from_str(printed)?;
    let signature = |found: WipefsSignature| Signature {
        device: device.to_owned(),
        kind: found.kind,
        label: found.label,
    };
    Ok(found.signatures.into_iter().map(signature).collect())
}

#[cfg(test)]
mod tests;
