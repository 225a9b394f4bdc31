//! The attribute A, which stops access time updates (chattr(1)): sets it, and checks which files
//! inherit it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, IFlags, StatVfsMountFlags, Timespec, Timestamps, UTIME_OMIT, ioctl_getflags,
    ioctl_setflags, statvfs, utimensat,
};
use ssdlab_filesystem::facts::NO_ATIME_INHERITED;
use ssdlab_plan::{Atime, Setup};

use super::LabError;

/// Sets it on the root directory, right after mkfs, if the treatment asks for it.
pub(super) fn set(root: &Path, setup: &Setup) -> Result<(), LabError> {
    if setup.atime != Some(Atime::Attribute) {
        return Ok(());
    }
    let set = || -> io::Result<bool> {
        let directory = File::open(root)?;
        let flags = ioctl_getflags(&directory)?;
        ioctl_setflags(&directory, flags | IFlags::NOATIME)?;
        Ok(ioctl_getflags(&directory)?.contains(IFlags::NOATIME))
    };
    if set().map_err(LabError::step("set the attribute A of", root))? {
        return Ok(());
    }
    Err(LabError::Mismatch {
        what: format!("the attribute A of {}", root.display()),
        asked: "set".to_owned(),
        found: "not set".to_owned(),
    })
}

/// Checks, in a directory that has it and is mounted with strict access times, whose access times
/// are not updated. Returns nothing if the mount itself suppresses updates.
pub(super) fn check(root: &Path) -> io::Result<BTreeMap<String, String>> {
    let kept_anyway = StatVfsMountFlags::NOATIME | StatVfsMountFlags::NODIRATIME;
    if statvfs(root)?.f_flag.intersects(kept_anyway) {
        return Ok(BTreeMap::new());
    }
    let [file, directory, link] = ["read", "listed", "followed"].map(|name| root.join(name));
    fs::write(&file, "x")?;
    fs::create_dir(&directory)?;
    symlink(&file, &link)?;
    for path in [&file, &directory, &link] {
        let past = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: 0 },
            last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        };
        utimensat(CWD, path, &past, AtFlags::SYMLINK_NOFOLLOW)?;
    }
    fs::read(&file)?;
    fs::read_dir(&directory)?.for_each(drop);
    fs::read_link(&link)?;
    let mut kept = Vec::new();
    for (path, who) in [(&file, "files"), (&directory, "directories"), (&link, "symbolic links")] {
        if fs::symlink_metadata(path)?.atime() == 0 {
            kept.push(who);
        }
    }
    Ok(BTreeMap::from([(NO_ATIME_INHERITED.to_owned(), kept.join(", "))]))
}
