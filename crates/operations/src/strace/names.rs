//! Follows calls on names in the recorded directory.

use super::call::SystemCall;
use super::process::TracedProcess;
use super::session::StraceSession;
use crate::{Omission, Operation, OperationTarget, RelativePath};

impl StraceSession {
    /// Applies a call on a name; false if it is not one or is unknown.
    pub fn name_call(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) -> bool {
        let rmdir = |path| Operation::RemoveDirectory { path };
        let unlink = |path| Operation::Unlink { path };
        let readlink = |path| Operation::ReadLink { path };
        let stat = |path| Operation::Stat { path };
        match call.name {
            "mkdir" => self.make_directory(caller, call, None, 0),
            "mkdirat" => self.make_directory(caller, call, Some(0), 1),
            "rmdir" => self.named(caller, call, None, 0, false, rmdir),
            "unlink" => self.named(caller, call, None, 0, false, unlink),
            "unlinkat" if call.has(2, "AT_REMOVEDIR") => {
                self.named(caller, call, Some(0), 1, false, rmdir);
            }
            "unlinkat" => self.named(caller, call, Some(0), 1, false, unlink),
            "rename" => self.rename(caller, call, [(None, 0), (None, 1)]),
            "renameat" | "renameat2" => {
                self.rename(caller, call, [(Some(0), 1), (Some(2), 3)]);
            }
            "link" => self.link(caller, call, [(None, 0), (None, 1)]),
            "linkat" => self.link(caller, call, [(Some(0), 1), (Some(2), 3)]),
            "symlink" => self.symlink(caller, call, None, 1),
            "symlinkat" => self.symlink(caller, call, Some(1), 2),
            "readlink" => self.named(caller, call, None, 0, false, readlink),
            "readlinkat" => self.named(caller, call, Some(0), 1, false, readlink),
            "stat" | "stat64" | "oldstat" | "access" => {
                self.named(caller, call, None, 0, true, stat);
            }
            "lstat" | "lstat64" | "oldlstat" => self.named(caller, call, None, 0, false, stat),
            "newfstatat" | "fstatat64" | "faccessat" | "faccessat2" => {
                let follows = !call.has(3, "AT_SYMLINK_NOFOLLOW");
                self.named(caller, call, Some(0), 1, follows, stat);
            }
            "statx" => {
                let follows = !call.has(2, "AT_SYMLINK_NOFOLLOW");
                self.named(caller, call, Some(0), 1, follows, stat);
            }
            _ => return self.attribute_call(caller, call),
        }
        true
    }

    /// Applies a call that changes attributes by name.
    fn attribute_call(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) -> bool {
        let set_times = |path| Operation::SetTimes { target: OperationTarget::Path(path) };
        match call.name {
            "chmod" => self.set_mode(caller, call, None, 0, true),
            "fchmodat" | "fchmodat2" => {
                let follows = !call.has(3, "AT_SYMLINK_NOFOLLOW");
                self.set_mode(caller, call, Some(0), 1, follows);
            }
            "truncate" | "truncate64" => {
                let path = self.at(caller, call, None, 0, true);
                if let (Some(path), Some(size_bytes)) = (path, call.number(1)) {
                    self.record(Operation::Truncate {
                        target: OperationTarget::Path(path),
                        size_bytes,
                    });
                }
            }
            "utime" | "utimes" => self.named(caller, call, None, 0, true, set_times),
            "futimesat" => self.named(caller, call, Some(0), 1, true, set_times),
            "utimensat" | "utimensat_time64" if call.string(1).is_some() => {
                let follows = !call.has(3, "AT_SYMLINK_NOFOLLOW");
                self.named(caller, call, Some(0), 1, follows, set_times);
            }
            "chown" | "lchown" | "chown32" | "lchown32" => {
                self.count(caller, call, (None, 0), Omission::Ownership);
            }
            "fchownat" => self.count(caller, call, (Some(0), 1), Omission::Ownership),
            "setxattr" => {
                if let Some(path) = self.at(caller, call, None, 0, true) {
                    self.set_attribute(call, OperationTarget::Path(path));
                }
            }
            "lsetxattr" | "removexattr" | "lremovexattr" => {
                self.count(caller, call, (None, 0), Omission::ExtendedAttributes);
            }
            "mknod" => self.count(caller, call, (None, 0), Omission::SpecialFile),
            "mknodat" => self.count(caller, call, (Some(0), 1), Omission::SpecialFile),
            _ => return false,
        }
        true
    }

    /// Counts an omission, if it concerns the recorded directory.
    fn count(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        (directory, path): (Option<usize>, usize),
        omission: Omission,
    ) {
        if self.at(caller, call, directory, path, false).is_some() {
            self.left_out.add(omission, 1);
        }
    }

    /// Records an operation on a name.
    fn named(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        directory: Option<usize>,
        path: usize,
        follows: bool,
        operation: impl FnOnce(RelativePath) -> Operation,
    ) {
        if let Some(path) = self.at(caller, call, directory, path, follows) {
            self.record(operation(path));
        }
    }

    fn make_directory(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        directory: Option<usize>,
        path: usize,
    ) {
        let mode = mode(call, path + 1) & !caller.place.borrow().umask;
        let operation = |path| Operation::MakeDirectory { mode, path };
        self.named(caller, call, directory, path, false, operation);
    }

    fn symlink(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        directory: Option<usize>,
        path: usize,
    ) {
        if let Some(target) = call.string(0) {
            let target = target.into_boxed_slice();
            let operation = |path| Operation::Symlink { target, path };
            self.named(caller, call, directory, path, false, operation);
        }
    }

    fn set_mode(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        directory: Option<usize>,
        path: usize,
        follows: bool,
    ) {
        let mode = mode(call, path + 1);
        let operation = |path| Operation::SetMode { target: OperationTarget::Path(path), mode };
        self.named(caller, call, directory, path, follows, operation);
    }

    /// Sets an extended attribute. An access control list equivalent to permission bits sets these,
    /// and is not stored: `posix_acl_update_mode` in Linux's `fs/posix_acl.c`.
    pub fn set_attribute(&mut self, call: &SystemCall<'_>, target: OperationTarget) {
        let is_list = call.string(1).is_some_and(|name| name == b"system.posix_acl_access");
        let bits = call.string(2).filter(|_| is_list).and_then(|list| permissions(&list));
        match (bits, self.tree.mode(&target)) {
            (Some(bits), Some(mode)) => {
                self.record(Operation::SetMode { target, mode: mode & 0o7000 | bits });
            }
            _ => self.left_out.add(Omission::ExtendedAttributes, 1),
        }
    }

    fn rename(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        places: [(Option<usize>, usize); 2],
    ) {
        let [from, to] =
            places.map(|(directory, path)| self.at(caller, call, directory, path, false));
        match (from, to) {
            (Some(from), Some(to)) if call.has(4, "RENAME_EXCHANGE") => {
                self.record(Operation::Exchange { from, to });
            }
            (Some(from), Some(to)) => {
                self.record(Operation::Rename { from, to });
            }
            (Some(from), None) => {
                self.left_out.add(Omission::MovedOut, 1);
                self.remove_all(from);
            }
            (None, Some(_)) => self.left_out.add(Omission::MovedIn, 1),
            (None, None) => {}
        }
    }

    /// Removes a name recursively.
    fn remove_all(&mut self, path: RelativePath) {
        let Some(names) = self.tree.names_in(&path) else {
            self.record(Operation::Unlink { path });
            return;
        };
        for name in names {
            self.remove_all(name);
        }
        self.record(Operation::RemoveDirectory { path });
    }

    fn link(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        places: [(Option<usize>, usize); 2],
    ) {
        let [(from_directory, from), (to_directory, to)] = places;
        let follows = call.has(4, "AT_SYMLINK_FOLLOW");
        let existing = self.at(caller, call, from_directory, from, follows);
        match (existing, self.at(caller, call, to_directory, to, false)) {
            (Some(existing), Some(path)) => {
                self.record(Operation::Link { existing, path });
            }
            (None, Some(_)) => self.left_out.add(Omission::MovedIn, 1),
            (_, None) => {}
        }
    }
}

/// The permission bits equivalent to an access control list, if it has entries only for the owner,
/// the group and others.
///
/// It is a version, 2, and entries of a tag, permissions and an identity, all little-endian:
/// `include/uapi/linux/posix_acl_xattr.h`.
fn permissions(list: &[u8]) -> Option<u32> {
    let (entries, []) = list.strip_prefix(&[2, 0, 0, 0])?.as_chunks::<8>() else { return None };
    let [owner, group, others] = entries else { return None };
    let bits = |entry: &[u8; 8], tag: u8| {
        let is_right = (entry[0], entry[1], entry[3]) == (tag, 0, 0) && entry[2] < 8;
        is_right.then_some(u32::from(entry[2]))
    };
    Some(bits(owner, 0x01)? << 6 | bits(group, 0x04)? << 3 | bits(others, 0x20)?)
}

/// The permission bits at this place of a call.
pub fn mode(call: &SystemCall<'_>, place: usize) -> u32 {
    call.number(place).and_then(|mode| u32::try_from(mode & 0o7777).ok()).unwrap_or(0)
}
