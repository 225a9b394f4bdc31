//! The running kernel: its version and features.

use std::fs;
use std::path::Path;

/// Whether this kernel has a filesystem built in, loaded, or as a loadable module.
#[must_use]
pub fn has_filesystem(name: &str) -> bool {
    let listed = fs::read_to_string("/proc/filesystems")
        .is_ok_and(|text| text.split_whitespace().any(|word| word == name));
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let aliases = Path::new("/lib/modules").join(release).join("modules.alias");
    let alias = format!("alias fs-{name} ");
    listed
        || fs::read_to_string(aliases)
            .is_ok_and(|text| text.lines().any(|line| line.starts_with(&alias)))
}
