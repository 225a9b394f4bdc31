//! An `io_uring` with its files and the buffers of its operations.
//!
//! Files and buffers are registered, so that the kernel need not look them up or pin them for each
//! operation. All unsafe code about rings is here: from submission to completion a buffer belongs
//! to the kernel, and nothing else may access it.

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::slice;
use std::time::Duration;

use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use rustix::io::Errno;
use ssdlab_plan::io::SyncBy;

use crate::engine::operations::EngineOperation;
use crate::engine::{Aligned, EngineError, EngineOperationKind};

/// The registered buffer; slots are parts of it.
const BUFFER: u16 = 0;

/// A ring, and slots for operations.
pub(crate) struct EngineRing {
    uring: IoUring,
    memory: Aligned,
    /// The start of the slots.
    start: *mut u8,
    slot_bytes: usize,
    /// Which slots belong to the kernel.
    taken: Vec<bool>,
    in_flight: usize,
}

impl EngineRing {
    /// A ring for operations of up to `slot_bytes` on files.
    pub fn new(files: &[File], slots: usize, slot_bytes: usize) -> Result<Self, EngineError> {
        let slot_bytes = slot_bytes.next_multiple_of(crate::engine::BLOCK_BYTES);
        let ring = build(slots).map_err(|cause| EngineError::NoRing { cause })?;
        if !ring.params().is_feature_ext_arg() {
            return Err(EngineError::NoRing { cause: Errno::NOSYS.into() });
        }
        let mut memory = Aligned::new(slots * slot_bytes);
        let bytes = memory.bytes();
        let (start, buffer_bytes) = (bytes.as_mut_ptr(), bytes.len());
        let refused = |cause| EngineError::NotRegistered { buffer_bytes, cause };
        let whole = libc::iovec { iov_base: start.cast(), iov_len: buffer_bytes };
        let files: Vec<RawFd> = files.iter().map(AsRawFd::as_raw_fd).collect();
        ring.submitter().register_files(&files).map_err(refused)?;
        // SAFETY: the memory lives until no operation is under way (`Drop`).
        unsafe { ring.submitter().register_buffers(&[whole]) }.map_err(refused)?;
        Ok(Self { uring: ring, memory, start, slot_bytes, taken: vec![false; slots], in_flight: 0 })
    }

    /// Operations that the kernel has not completed.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The buffer of a slot, which must not be in flight.
    pub fn buffer(&mut self, slot: usize) -> &mut [u8] {
        let start = self.start_of(slot);
        // SAFETY: the slot is a part of the memory, which has no other user while it is not taken.
        unsafe { slice::from_raw_parts_mut(start, self.slot_bytes) }
    }

    /// Queues an operation; a sync is made by this call.
    pub fn queue(&mut self, slot: usize, operation: EngineOperation, sync_by: SyncBy) {
        let EngineOperation { kind, file, offset, length } = operation;
        let file = Fixed(u32::try_from(file).expect("it is the index of a registered file"));
        let (start, length) = self.part(slot, length);
        let entry = match kind {
            EngineOperationKind::Read => {
                opcode::ReadFixed::new(file, start, length, BUFFER).offset(offset).build()
            }
            EngineOperationKind::Write => {
                opcode::WriteFixed::new(file, start, length, BUFFER).offset(offset).build()
            }
            EngineOperationKind::Sync => {
                let flags = match sync_by {
                    SyncBy::Fsync => FsyncFlags::empty(),
                    SyncBy::Fdatasync | SyncBy::ODsync => FsyncFlags::DATASYNC,
                };
                opcode::Fsync::new(file).flags(flags).build()
            }
        };
        self.push(slot, &entry);
    }

    /// Submits queued operations, and waits until one completes or this time has passed.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<()> {
        let submitter = self.uring.submitter();
        let entered = match timeout {
            None => submitter.submit_and_wait(1),
            Some(timeout) => {
                let timeout = Timespec::from(timeout);
                submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        };
        match entered.map_err(|error| (Errno::from_io_error(&error), error)) {
            Ok(_) | Err((Some(Errno::TIME | Errno::INTR), _)) => Ok(()),
            Err((_, error)) => Err(error),
        }
    }

    /// A completed operation: its slot, and how many bytes it moved.
    pub fn completed(&mut self) -> Option<(usize, io::Result<u32>)> {
        let entry = self.uring.completion().next()?;
        let slot = usize::try_from(entry.user_data()).expect("it is a slot");
        self.taken[slot] = false;
        self.in_flight -= 1;
        let moved = u32::try_from(entry.result());
        Some((slot, moved.map_err(|_| io::Error::from_raw_os_error(-entry.result()))))
    }

    fn start_of(&self, slot: usize) -> *mut u8 {
        assert!(!self.taken[slot], "the slot is in flight");
        // SAFETY: `taken` has as many entries as the memory has slots.
        unsafe { self.start.add(slot * self.slot_bytes) }
    }

    /// The start of a slot's buffer, and the length, checked to fit.
    fn part(&self, slot: usize, length: u32) -> (*mut u8, u32) {
        assert!(length as usize <= self.slot_bytes, "it is larger than a slot");
        (self.start_of(slot), length)
    }

    fn push(&mut self, slot: usize, entry: &squeue::Entry) {
        let entry = entry.clone().user_data(slot as u64);
        // SAFETY: the operation stays within the slot's buffer (`part`), which belongs to the
        // kernel from here on, and within a registered file.
        unsafe { self.uring.submission().push(&entry) }.expect("it has an entry for each slot");
        self.taken[slot] = true;
        self.in_flight += 1;
    }
}

/// Makes a ring that delivers completions on request, without interrupts (since Linux 6.1), or a
/// plain one on older kernels.
fn build(entries: usize) -> io::Result<IoUring> {
    let entries = u32::try_from(entries).map_err(io::Error::other)?;
    let refused = |error: &io::Error| Errno::from_io_error(error) == Some(Errno::INVAL);
    match IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries) {
        Err(error) if refused(&error) => IoUring::new(entries),
        built => built,
    }
}

impl Drop for EngineRing {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            if self.wait(None).is_err() {
                // The kernel may still write to this memory, so it is never freed.
                mem::forget(mem::replace(&mut self.memory, Aligned::new(0)));
                return;
            }
            while self.completed().is_some() {}
        }
        // The kernel tears down a ring some time after it is closed; until then the file would be
        // in use, and its filesystem busy.
        let _ = self.uring.submitter().unregister_files();
    }
}
