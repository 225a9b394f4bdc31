//! Follows calls on descriptors, except reads and writes.

use std::cell::Cell;
use std::mem::take;
use std::rc::Rc;

use super::call::{ShownDescriptor, SystemCall, has};
use super::names::mode;
use super::process::{Descriptor, OpenFileDescription, TracedProcess};
use super::session::StraceSession;
use crate::{Allocation, Omission, OpenFlags, Operation, OperationTarget, RelativePath};

/// The arguments with which a file was opened.
#[derive(Clone, Copy)]
struct Request<'a> {
    /// The places of the arguments that name it.
    directory: Option<usize>,
    path: usize,
    flags: &'a [u8],
    mode: u32,
}

impl StraceSession {
    /// Applies a call on a descriptor; false if it is not one or is unknown.
    pub fn file_call(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) -> bool {
        match call.name {
            "open" | "openat" | "openat2" | "creat" => self.open(caller, call, request(call)),
            "close" => self.close(caller, call),
            "close_range" => self.close_range(caller, call),
            "dup" | "dup2" => self.duplicate(caller, call, false),
            "dup3" => self.duplicate(caller, call, call.has(2, "O_CLOEXEC")),
            "fcntl" | "fcntl64" => match call.argument(1) {
                b"F_DUPFD" => self.duplicate(caller, call, false),
                b"F_DUPFD_CLOEXEC" => self.duplicate(caller, call, true),
                b"F_SETFD" => set_close_on_exec(caller, call, call.has(2, "FD_CLOEXEC")),
                b"F_SETFL" => self.set_flags(caller, call),
                // Locks, leases and queries.
                _ => {}
            },
            "getdents" | "getdents64" => {
                // An empty result is the end of the directory.
                if call.result() == Some(0) {
                    self.with_handle(caller, call, |handle| Operation::List { handle });
                }
            }
            "fsync" => {
                let only_data = false;
                self.with_handle(caller, call, |handle| Operation::Sync { handle, only_data });
            }
            "fdatasync" => {
                let only_data = true;
                self.with_handle(caller, call, |handle| Operation::Sync { handle, only_data });
            }
            "sync" => {
                self.record(Operation::SyncFilesystem);
            }
            "syncfs" => self.with_handle(caller, call, |_| Operation::SyncFilesystem),
            "ftruncate" | "ftruncate64" => {
                let size_bytes = call.number(1).unwrap_or(0);
                self.with_handle(caller, call, |handle| Operation::Truncate {
                    target: OperationTarget::Handle(handle),
                    size_bytes,
                });
            }
            "fchmod" => {
                let mode = mode(call, 1);
                self.with_handle(caller, call, |handle| Operation::SetMode {
                    target: OperationTarget::Handle(handle),
                    mode,
                });
            }
            "utimensat" | "utimensat_time64" => {
                self.with_handle(caller, call, |handle| Operation::SetTimes {
                    target: OperationTarget::Handle(handle),
                });
            }
            "ioctl" if call.argument(1) == b"FIOCLEX" => set_close_on_exec(caller, call, true),
            "ioctl" if call.argument(1) == b"FIONCLEX" => set_close_on_exec(caller, call, false),
            "fallocate" => return self.allocate(caller, call),
            "fchown" | "fchown32" => self.count_open(caller, call, Omission::Ownership),
            "fsetxattr" => {
                let description = self.used(caller, call.descriptor(0));
                if let Some(handle) = description.and_then(|description| description.handle) {
                    self.set_attribute(call, OperationTarget::Handle(handle));
                }
            }
            "fremovexattr" => self.count_open(caller, call, Omission::ExtendedAttributes),
            _ => return false,
        }
        true
    }

    /// Records an operation on the file that the first argument has open.
    fn with_handle(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        operation: impl FnOnce(crate::Handle) -> Operation,
    ) {
        let description = self.used(caller, call.descriptor(0));
        if let Some(handle) = description.and_then(|description| description.handle) {
            self.record(operation(handle));
        }
    }

    fn count_open(&mut self, caller: &TracedProcess, call: &SystemCall<'_>, omission: Omission) {
        if self.used(caller, call.descriptor(0)).is_some() {
            self.left_out.add(omission, 1);
        }
    }

    fn open(&mut self, caller: &TracedProcess, call: &SystemCall<'_>, request: Request<'_>) {
        let Some(ShownDescriptor { number: Some(number), path: shown }) = call.result_descriptor()
        else {
            return;
        };
        let awaits_close = self.forget(caller, number);
        let path = match shown {
            // The kernel has followed every link.
            Some(shown) => self.relative(&shown),
            // It is gone by now.
            None => self.at(caller, call, request.directory, request.path, true),
        };
        let Some(path) = path else { return };
        if has(request.flags, "O_TMPFILE") {
            self.left_out.add(Omission::UnnamedFile, 1);
            return;
        }
        if has(request.flags, "O_DIRECT") {
            self.left_out.add(Omission::DirectIo, 1);
        }
        let description = if has(request.flags, "O_PATH") {
            self.look_up(path)
        } else {
            self.open_file(path, request, caller.place.borrow().umask)
        };
        if let Some(description) = description {
            let closes_on_exec = has(request.flags, "O_CLOEXEC");
            let description = Rc::new(description);
            let descriptor = Descriptor { description, closes_on_exec, awaits_close };
            caller.descriptors.borrow_mut().insert(number, descriptor);
        }
    }

    /// Opens a file with `O_PATH`.
    fn look_up(&mut self, path: RelativePath) -> Option<OpenFileDescription> {
        let node = self.tree.find(&path)?;
        self.record(Operation::Stat { path: path.clone() });
        let position = Cell::new(0);
        Some(OpenFileDescription { handle: None, node, path, position, appends: false })
    }

    fn open_file(
        &mut self,
        path: RelativePath,
        request: Request<'_>,
        umask: u32,
    ) -> Option<OpenFileDescription> {
        let is_new = self.tree.find(&path).is_none() && has(request.flags, "O_CREAT");
        let handle = self.tree.free_handle()?;
        let mut flags = open_flags(request.flags);
        flags.truncate &= !is_new;
        flags.directory = self.tree.names_in(&path).is_some();
        let appends = flags.append;
        let create = is_new.then_some(request.mode & !umask);
        let operation = Operation::Open { handle, flags, create, path: path.clone() };
        let node = self.record(operation).then(|| self.tree.handle_node(handle)).flatten()?;
        Some(OpenFileDescription {
            handle: Some(handle),
            node,
            path,
            position: Cell::new(0),
            appends,
        })
    }

    /// Makes another descriptor of an open file.
    fn duplicate(&mut self, caller: &TracedProcess, call: &SystemCall<'_>, closes_on_exec: bool) {
        let Some(new) = call.result_descriptor().and_then(|shown| shown.number) else { return };
        let description = self.used(caller, call.descriptor(0));
        if number(call, 0) != Some(new) {
            let awaits_close = self.forget(caller, new) && !matches!(call.name, "dup2" | "dup3");
            if let Some(description) = description {
                let descriptor = Descriptor { description, closes_on_exec, awaits_close };
                caller.descriptors.borrow_mut().insert(new, descriptor);
            }
        }
    }

    /// Closes a descriptor, unless the call concerns the previous holder of its number.
    fn close(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) {
        let Some(ShownDescriptor { number: Some(number), path }) = call.descriptor(0) else {
            return;
        };
        if path.is_some_and(|path| self.relative(&path).is_none()) {
            return;
        }
        let mut descriptors = caller.descriptors.borrow_mut();
        let is_late = descriptors
            .get_mut(&number)
            .is_some_and(|descriptor| take(&mut descriptor.awaits_close));
        drop(descriptors);
        if !is_late {
            self.forget(caller, number);
        }
    }

    /// Removes a descriptor; false if it has nothing in the directory open.
    fn forget(&mut self, caller: &TracedProcess, number: u32) -> bool {
        let descriptor = caller.descriptors.borrow_mut().remove(&number);
        let was_open = descriptor.is_some();
        if let Some(descriptor) = descriptor {
            self.release(descriptor.description);
        }
        was_open
    }

    fn close_range(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) {
        let first = number(call, 0).unwrap_or(0);
        let last = number(call, 1).unwrap_or(u32::MAX).max(first);
        if call.has(2, "CLOSE_RANGE_CLOEXEC") {
            for (_, descriptor) in caller.descriptors.borrow_mut().range_mut(first..=last) {
                descriptor.closes_on_exec = true;
            }
            return;
        }
        let closed: Vec<_> =
            caller.descriptors.borrow_mut().extract_if(first..=last, |_, _| true).collect();
        for (_, descriptor) in closed {
            self.release(descriptor.description);
        }
    }

    /// A log cannot express that an open file starts or stops appending.
    fn set_flags(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) {
        let Some(description) = self.used(caller, call.descriptor(0)) else { return };
        if call.has(2, "O_APPEND") != description.appends || call.has(2, "O_DIRECT") {
            self.left_out.add(Omission::UnknownCall, 1);
        }
    }

    fn allocate(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) -> bool {
        let (Some(allocation), Some(offset), Some(length)) =
            (allocation(call), call.number(2), call.number(3))
        else {
            return false;
        };
        self.with_handle(caller, call, |handle| Operation::Allocate {
            handle,
            allocation,
            offset,
            length,
        });
        true
    }
}

fn set_close_on_exec(caller: &TracedProcess, call: &SystemCall<'_>, closes_on_exec: bool) {
    let mut descriptors = caller.descriptors.borrow_mut();
    if let Some(descriptor) = number(call, 0).and_then(|number| descriptors.get_mut(&number)) {
        descriptor.closes_on_exec = closes_on_exec;
    }
}

/// The descriptor's number at this place.
fn number(call: &SystemCall<'_>, place: usize) -> Option<u32> {
    call.descriptor(place)?.number
}

fn request<'a>(call: &SystemCall<'a>) -> Request<'a> {
    let (directory, path) = if call.name.starts_with("openat") { (Some(0), 1) } else { (None, 0) };
    match call.name {
        "creat" => {
            Request { directory, path, flags: b"O_WRONLY|O_CREAT|O_TRUNC", mode: mode(call, 1) }
        }
        "openat2" => {
            let flags = call.field("flags").unwrap_or_default();
            let mode = call.field("mode").and_then(super::call::numeral).unwrap_or(0);
            let mode = u32::try_from(mode & 0o7777).unwrap_or(0);
            Request { directory, path, flags, mode }
        }
        _ => {
            let (flags, mode) = (call.argument(path + 1), mode(call, path + 2));
            Request { directory, path, flags, mode }
        }
    }
}

fn open_flags(flags: &[u8]) -> OpenFlags {
    let both = has(flags, "O_RDWR");
    let sync = has(flags, "O_SYNC");
    OpenFlags {
        read: both || has(flags, "O_RDONLY"),
        write: both || has(flags, "O_WRONLY"),
        truncate: has(flags, "O_TRUNC"),
        append: has(flags, "O_APPEND"),
        sync,
        data_sync: !sync && has(flags, "O_DSYNC"),
        directory: false,
        or_existing: false,
    }
}

/// The mode of fallocate(2), if it is known.
fn allocation(call: &SystemCall<'_>) -> Option<Allocation> {
    let mut words: Vec<_> = call.argument(1).split(|byte| *byte == b'|').collect();
    words.sort_unstable();
    match words.as_slice() {
        [b"0"] => Some(Allocation::Extend),
        [b"FALLOC_FL_KEEP_SIZE"] => Some(Allocation::KeepSize),
        [b"FALLOC_FL_KEEP_SIZE", b"FALLOC_FL_PUNCH_HOLE"] => Some(Allocation::PunchHole),
        [b"FALLOC_FL_ZERO_RANGE"] => Some(Allocation::ZeroRange),
        [b"FALLOC_FL_KEEP_SIZE", b"FALLOC_FL_ZERO_RANGE"] => Some(Allocation::ZeroRangeKeepSize),
        [b"FALLOC_FL_COLLAPSE_RANGE"] => Some(Allocation::CollapseRange),
        [b"FALLOC_FL_INSERT_RANGE"] => Some(Allocation::InsertRange),
        _ => None,
    }
}
