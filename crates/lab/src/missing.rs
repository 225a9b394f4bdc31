//! What a machine or a guest lacks to make and mount a filesystem.

use ssdlab_filesystem::Filesystem;
use ssdlab_host::kernel;
use ssdlab_host::program::ProgramError;
use ssdlab_host::toolbox::Toolbox;

use super::pool;

/// The reason why this machine cannot make and mount a filesystem; `None` if it can.
#[must_use]
pub fn missing(filesystem: &Filesystem) -> Option<String> {
    let is_driven = kernel::has_filesystem(filesystem.name);
    match filesystem.pool {
        // The daemon's programs are not needed if the kernel has the driver.
        _ if is_driven => lacking(filesystem.package, &[filesystem.mkfs], &Toolbox::Machine),
        Some(pool) => lacking(filesystem.package, &filesystem.programs(), &Toolbox::Machine)
            .or_else(|| pool::missing(pool)),
        // No package helps.
        None => Some(format!("this kernel has no {}", filesystem.name)),
    }
}

/// The same for a guest whose kernel has these filesystems, with the programs of a toolbox.
#[must_use]
pub fn missing_in_guest(
    filesystem: &Filesystem,
    of_kernel: &[&str],
    toolbox: &Toolbox,
) -> Option<String> {
    let driver = if filesystem.pool.is_some() { "fuse" } else { filesystem.name };
    if !of_kernel.contains(&driver) {
        return Some(format!("the lab kernel has no {driver}"));
    }
    lacking(filesystem.package, &filesystem.programs(), toolbox)
}

/// The first of a package's programs that is not installed, as a reason.
pub(super) fn lacking(
    package: &'static str,
    programs: &[&str],
    toolbox: &Toolbox,
) -> Option<String> {
    let lacking = |program: &&str| match toolbox.find(program, package) {
        Err(ProgramError::Missing { program, package }) => {
            Some(format!("{program} is not installed (package {package})"))
        }
        _ => None,
    };
    programs.iter().find_map(lacking)
}
