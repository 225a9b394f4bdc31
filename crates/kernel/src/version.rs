//! Kernels by their version, as far as it is written.

use std::path::Path;

use super::origin::tarball;
use super::{KernelError, LabKernel};

/// Whether a version begins with these parts: 6.1.192-ssdlab is a 6.1, and 6.12 is none.
fn is_of(version: &str, parts: &str) -> bool {
    version.strip_prefix(parts).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

/// The one kernel whose version begins with these parts; `sources` is where a source of it may be.
pub fn choose(
    parts: &str,
    kernels: Vec<LabKernel>,
    sources: &Path,
) -> Result<LabKernel, KernelError> {
    let versions = |kernels: &[LabKernel]| {
        let versions: Vec<&str> = kernels.iter().map(|kernel| kernel.version.as_str()).collect();
        if versions.is_empty() { "none".to_owned() } else { versions.join(", ") }
    };
    let found = versions(&kernels);
    let mut named: Vec<LabKernel> =
        kernels.into_iter().filter(|kernel| is_of(&kernel.version, parts)).collect();
    match named.len() {
        0 => {
            let from = tarball(sources, parts);
            let from = from.map_or("PATH".to_owned(), |path| path.display().to_string());
            Err(KernelError::NoVersion { version: parts.to_owned(), found, from })
        }
        1 => Ok(named.swap_remove(0)),
        _ => Err(KernelError::Ambiguous { version: parts.to_owned(), found: versions(&named) }),
    }
}

#[cfg(test)]
mod tests;
