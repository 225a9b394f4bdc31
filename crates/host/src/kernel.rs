//! The running kernel: its version, features, and the filesystems in which it tells of them.

use std::fs;
use std::path::Path;

/// Whether this kernel has a filesystem built in, loaded, or as a loadable module.
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

/// The kernel's own filesystems, with a folder that each has.
const OWN: [(&str, &str, &str); 2] =
    [("/proc", "proc", "/proc/self/fd"), ("/sys", "sysfs", "/sys/dev/block")];

/// Says which of `/proc` and `/sys` is not mounted here, as in a bare chroot, and what to do.
pub fn not_mounted() -> Option<String> {
    let missing = |(_, _, folder): &&(&str, &str, &str)| !Path::new(folder).exists();
    OWN.iter().find(missing).map(|(place, kind, folder)| {
        format!(
            "{place} is not mounted here ({folder} is missing), so that this machine cannot be \
             examined: mount -t {kind} {kind} {place}"
        )
    })
}
