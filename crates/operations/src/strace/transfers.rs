//! Follows reads and writes, and file offsets.

use std::rc::Rc;

use super::call::SystemCall;
use super::process::{OpenFileDescription, TracedProcess};
use super::session::StraceSession;
use crate::{Omission, Operation, Transfer};

impl StraceSession {
    /// Applies a call that moved `result` bytes of data; false if it is not one or is unknown.
    pub fn transfer_call(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        result: u64,
    ) -> bool {
        match call.name {
            "read" | "readv" => self.read(caller, call, 0, None, result),
            "pread64" | "preadv" => self.read(caller, call, 0, call.number(3), result),
            "preadv2" => self.read(caller, call, 0, at_or_position(call), result),
            "write" | "writev" => self.write(caller, call, 0, None, result),
            "pwrite64" | "pwritev" => self.write(caller, call, 0, call.number(3), result),
            "pwritev2" => self.write(caller, call, 0, at_or_position(call), result),
            "sendfile" | "sendfile64" => {
                self.read(caller, call, 1, call.pointed(2), result);
                self.write(caller, call, 0, None, result);
            }
            "copy_file_range" | "splice" => {
                self.read(caller, call, 0, call.pointed(1), result);
                self.write(caller, call, 2, call.pointed(3), result);
            }
            "lseek" => self.seek(caller, call, result),
            "_llseek" => self.seek(caller, call, call.pointed(2).unwrap_or(0)),
            "ioctl" if call.argument(1).ends_with(b"FICLONE") => {
                return self.clone_file(caller, call);
            }
            "mmap" | "mmap2" | "old_mmap" => self.map(caller, call),
            _ => return false,
        }
        true
    }

    /// Reads the file that the argument at this place has open, from its position unless an offset
    /// is given.
    fn read(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        place: usize,
        offset: Option<u64>,
        length: u64,
    ) {
        if let Some(description) = self.used(caller, call.descriptor(place)) {
            let offset = offset.unwrap_or_else(|| advance(&description, length));
            self.transfer(&description, offset, length, Operation::Read);
        }
    }

    /// The same for writes.
    fn write(
        &mut self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        place: usize,
        offset: Option<u64>,
        length: u64,
    ) {
        let Some(description) = self.used(caller, call.descriptor(place)) else { return };
        // Linux appends whatever the offset is: pwrite(2), "BUGS".
        let end = description.handle.filter(|_| description.appends);
        let end = end.and_then(|handle| self.tree.size_bytes(handle));
        if let (Some(end), None) = (end, offset) {
            description.position.set(end);
        }
        let offset = offset.unwrap_or_else(|| advance(&description, length));
        self.transfer(&description, end.unwrap_or(offset), length, Operation::Write);
    }

    fn transfer(
        &mut self,
        description: &Rc<OpenFileDescription>,
        offset: u64,
        length: u64,
        operation: impl FnOnce(Transfer) -> Operation,
    ) {
        let Some(handle) = description.handle.filter(|_| length > 0) else { return };
        match Transfer::new(handle, offset, length, 1) {
            Some(transfer) => {
                self.record(operation(transfer));
            }
            None => self.left_out.add(Omission::DoesNotFit, 1),
        }
    }

    /// A cloned file is recorded as written, because not every filesystem can share blocks
    /// (`ioctl_ficlone(2)`); false if the size of the source is unknown.
    fn clone_file(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) -> bool {
        let Some(description) = self.used(caller, call.descriptor(0)) else { return true };
        let source = call.descriptor(2).and_then(|shown| caller.description(shown.number?));
        let handle = source.and_then(|source| source.handle);
        let size_bytes = handle.and_then(|handle| self.tree.size_bytes(handle));
        if let Some(size_bytes) = size_bytes {
            self.transfer(&description, 0, size_bytes, Operation::Write);
        }
        size_bytes.is_some()
    }

    fn seek(&mut self, caller: &TracedProcess, call: &SystemCall<'_>, position: u64) {
        if let Some(description) = self.used(caller, call.descriptor(0)) {
            description.position.set(position);
        }
    }

    /// A mapping counts as a read of its range within the file; writes through it are invisible.
    fn map(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) {
        let Some(description) = self.used(caller, call.descriptor(4)) else { return };
        let is_shared = call.has(3, "MAP_SHARED") || call.has(3, "MAP_SHARED_VALIDATE");
        if is_shared && call.has(2, "PROT_WRITE") {
            self.left_out.add(Omission::SharedMapping, 1);
            return;
        }
        let size_bytes = description.handle.and_then(|handle| self.tree.size_bytes(handle));
        let (Some(size_bytes), Some(length), Some(offset)) =
            (size_bytes, call.number(1), call.number(5))
        else {
            return;
        };
        let length = length.min(size_bytes.saturating_sub(offset));
        self.transfer(&description, offset, length, Operation::Read);
    }
}

/// Advances the position, and returns the previous one.
fn advance(description: &OpenFileDescription, length: u64) -> u64 {
    let position = description.position.get();
    description.position.set(position.saturating_add(length));
    position
}

/// The offset of `preadv2` and `pwritev2`; -1 stands for the position.
fn at_or_position(call: &SystemCall<'_>) -> Option<u64> {
    call.number(3).filter(|offset| i64::try_from(*offset).is_ok())
}
