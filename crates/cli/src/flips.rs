//! What `ssdlab flip` has found of a run, as its folder keeps it.

use std::io;
use std::path::Path;

use ssdlab_advice::{Analysis, Flip};
use ssdlab_host::regular_file::read_own;
use ssdlab_host::whole_file::WholeFile;

/// Where a run keeps what was found.
const KEPT: &str = "flips.json";

/// What was found before, less the claims of which there is something new.
pub fn merged(mut kept: Vec<Flip>, new: Vec<Flip>) -> Vec<Flip> {
    kept.retain(|one| !new.iter().any(|found| found.claim == one.claim));
    kept.extend(new);
    kept
}

/// Keeps what was found.
pub fn keep(folder: &Path, found: &[Flip]) -> io::Result<()> {
    let mut file = WholeFile::begin(&folder.join(KEPT))?;
    serde_json::to_writer_pretty(&mut file, found)?;
    file.keep()
}

/// What was found; nothing where nobody has looked.
pub fn kept(folder: &Path) -> Vec<Flip> {
    let text = read_own(&folder.join(KEPT)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Adds to an analysis what was found of its run.
pub fn add(analysis: &mut Analysis, folder: &Path) {
    analysis.add_flips(kept(folder));
}
