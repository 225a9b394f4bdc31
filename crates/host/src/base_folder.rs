//! The base folders of this user's files: the rules of the XDG Base Directory Specification.

use std::path::{Path, PathBuf};

/// The folder that a variable names, such as `XDG_DATA_HOME`. The specification has relative ones
/// ignored.
pub fn named_by(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// The same, by default one below the user's home.
pub fn base_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    named_by(variable).or_else(|| Some(named_by("HOME")?.join(below_home)))
}

/// `$XDG_CACHE_HOME/ssdlab`, or `~/.cache/ssdlab`; `None` where neither variable names an absolute
/// path. Links on the way to it are followed here, once.
pub fn cache_folder() -> Option<PathBuf> {
    Some(real(&base_folder("XDG_CACHE_HOME", ".cache")?).join("ssdlab"))
}

/// The same path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let of = |above: &Path| {
        let rest = path.strip_prefix(above).ok()?;
        Some(above.canonicalize().ok()?.components().chain(rest.components()).collect())
    };
    path.ancestors().find_map(of).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests;
