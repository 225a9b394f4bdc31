//! The location of this user's caches.

use std::path::{Path, PathBuf};

/// `$XDG_CACHE_HOME/ssdlab`, or `~/.cache/ssdlab`; `None` where neither variable names an absolute
/// path, since the specification of these variables has relative ones ignored. Links on the way to
/// it are followed here, once.
#[must_use]
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(real(&cache).join("ssdlab"))
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
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_as_far_as_there_are_any() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        std::fs::create_dir(place.join("real")).unwrap();
        std::os::unix::fs::symlink("real", place.join("link")).unwrap();
        assert_eq!(real(&place.join("link/a/b")), place.join("real/a/b"));
        assert_eq!(real(&place.join("link")), place.join("real"));
    }
}
