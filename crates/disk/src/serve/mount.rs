//! Defines the mount of a FUSE filesystem, identified by its id, not its path: nothing else mounted
//! there later is ever unmounted.
//!
//! The mount is made here because fuser unmounts by name once more when it is dropped.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Statx, StatxAttributes, StatxFlags, statx};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};

use crate::serve::error::ServeError;

/// The type in the mount table.
pub const KIND: &str = "fuse.ssdlab";

/// A mount of ours.
#[derive(Debug, Clone)]
pub struct FuseMount {
    folder: PathBuf,
    id: u64,
    connection: u32,
}

impl FuseMount {
    /// Mounts on a folder, with this source in the mount table. Also returns the connection for the
    /// kernel's requests.
    pub fn make(folder: &Path, source: &str) -> Result<(Self, OwnedFd), ServeError> {
        let device = Path::new("/dev/fuse");
        let opened = OpenOptions::new().read(true).write(true).open(device);
        let connection = OwnedFd::from(opened.map_err(ServeError::step("open", device))?);
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let options = format!(
            "fd={},rootmode=40000,user_id={},group_id={}",
            connection.as_raw_fd(),
            user.as_raw(),
            group.as_raw()
        );
        let options = CString::new(options).expect("it has no zero byte");
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        rustix::mount::mount(source, folder, KIND, flags, options.as_c_str())
            .and_then(|()| look(folder))
            .map(|found| (Self::found(folder, &found), connection))
            .map_err(|errno| ServeError::step("mount on", folder)(errno.into()))
    }

    fn found(folder: &Path, found: &Statx) -> Self {
        let (id, connection) = (found.stx_mnt_id, found.stx_dev_minor);
        Self { folder: folder.to_owned(), id, connection }
    }

    /// The number of its connection in fusectl.
    pub fn connection(&self) -> u32 {
        self.connection
    }

    /// The mount point.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Unmounts it, unless it is in use. Returns whether it was unmounted.
    pub fn unmount(&self) -> Result<bool, ServeError> {
        match self.unmount_with(UnmountFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::BUSY) => Ok(false),
            Err(errno) => Err(ServeError::step("unmount", &self.folder)(errno.into())),
        }
    }

    /// Ends the connection and detaches the mount. Users of the open file get errors.
    pub fn detach(&self) -> Result<(), ServeError> {
        self.unmount_with(UnmountFlags::FORCE | UnmountFlags::DETACH)
            .map_err(|errno| ServeError::step("unmount", &self.folder)(errno.into()))
    }

    fn unmount_with(&self, flags: UnmountFlags) -> Result<(), Errno> {
        if look(&self.folder)?.stx_mnt_id != self.id {
            return Ok(());
        }
        rustix::mount::unmount(&self.folder, flags | UnmountFlags::NOFOLLOW)
    }
}

/// Refuses a folder that is a mount point or not empty.
pub fn check(folder: &Path) -> Result<(), ServeError> {
    let looked = |cause| ServeError::step("look into", folder)(cause);
    // This comes first: reading the folder would ask the server of a mounted filesystem, which may
    // be dead.
    let found = look(folder).map_err(|errno| looked(errno.into()))?;
    if found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Err(ServeError::Mounted(folder.to_owned()));
    }
    match fs::read_dir(folder).map_err(looked)?.next() {
        Some(_) => Err(ServeError::NotEmpty(folder.to_owned())),
        None => Ok(()),
    }
}

/// Looks at a folder without asking its server, which may be dead or this process: one that waits
/// for itself cannot be killed.
fn look(folder: &Path) -> Result<Statx, Errno> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(CWD, folder, flags, StatxFlags::MNT_ID)
}
