//! Where this user's caches are.

use std::path::PathBuf;

/// `$XDG_CACHE_HOME/ssdlab`, or `~/.cache/ssdlab`; `None` where neither variable names an absolute
/// path, since the specification of these variables has relative ones ignored.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("ssdlab"))
}
