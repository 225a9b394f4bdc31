//! The findings of `ssdlab flip`, as kept in a run's folder.

use std::io;
use std::path::Path;

use ssdlab_advice::{Analysis, Flip};
use ssdlab_host::regular_file::read_own;
use ssdlab_host::whole_file::WholeFile;

/// The file of findings in a run's folder.
const FLIPS_FILE: &str = "flips.json";

/// Earlier findings, with those of the same claims replaced by new ones.
pub fn merged(mut kept: Vec<Flip>, new: Vec<Flip>) -> Vec<Flip> {
    kept.retain(|one| !new.iter().any(|found| found.claim == one.claim));
    kept.extend(new);
    kept
}

/// Stores findings.
pub fn keep(folder: &Path, found: &[Flip]) -> io::Result<()> {
    let mut file = WholeFile::begin(&folder.join(FLIPS_FILE))?;
    serde_json::to_writer_pretty(&mut file, found)?;
    file.keep()
}

/// The stored findings; empty if there are none.
pub fn stored(folder: &Path) -> Vec<Flip> {
    let text = read_own(&folder.join(FLIPS_FILE)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Adds the findings about a run to its analysis.
pub fn add(analysis: &mut Analysis, folder: &Path) {
    analysis.add_flips(stored(folder));
}
