//! System calls that are handed to the lab kernel together.
//!
//! A call takes a guest two changes of the host's process, which is most of what a short call takes
//! in real time. The lab kernel (`kernel/calls.c`) makes a series of them as if each came alone,
//! and lets time pass for each, so that the trial is the same.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use rustix::fs::{AtFlags, Mode, OFlags, Timestamps};
use rustix::io::Errno;

/// The maximum size of one read or write.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// The number of the lab kernel's own call (`SSDLAB_CALLS` in `kernel/ssdlab.h`).
const TOGETHER: libc::c_long = 0x5ab0;

/// How many calls wait at most, and of how many bytes of data.
const MOST_CALLS: usize = 256;
const ENOUGH_BYTES: usize = 256 << 10;

/// The room for the paths and times of one call.
const BESIDES_DATA: usize = 2 * libc::PATH_MAX as usize;

/// The result of a call until it is made; no least result is above it.
const NOT_MADE: i64 = i64::MAX;

/// `struct call` in `kernel/calls.c`.
#[repr(C)]
struct Call {
    number: u64,
    arguments: [u64; 6],
    first_from: u64,
    least: i64,
    result: i64,
}

/// A file that was opened, or that will be by the call of this index.
#[derive(Debug)]
pub(super) enum File {
    Opened(OwnedFd),
    Awaited(usize),
}

/// Calls that wait to be made.
pub(super) struct PendingCalls {
    waiting: Vec<Call>,
    /// What each call belongs to, as its caller counts.
    owners: Vec<usize>,
    /// What arguments point to: never moved, and not overwritten while calls wait.
    buffer: Box<[u8]>,
    used: usize,
}

/// The call that was not made in full: what it belongs to, and why.
#[derive(Debug)]
pub(super) struct FailedCall {
    pub owner: usize,
    pub errno: Errno,
}

impl std::fmt::Debug for PendingCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingCalls").field("waiting", &self.waiting.len()).finish_non_exhaustive()
    }
}

impl PendingCalls {
    pub fn new() -> Self {
        Self {
            waiting: Vec::with_capacity(MOST_CALLS),
            owners: Vec::with_capacity(MOST_CALLS),
            buffer: vec![0; CHUNK_BYTES + BESIDES_DATA].into(),
            used: 0,
        }
    }

    /// Whether another call with so much data may wait. If not, those that wait must be made first.
    pub fn have_room(&self, data_bytes: usize) -> bool {
        let is_free = self.used == 0 || self.used + data_bytes <= ENOUGH_BYTES;
        is_free && self.waiting.len() < MOST_CALLS
    }

    pub fn mkdirat(&mut self, owner: usize, at: BorrowedFd<'_>, path: &[u8], mode: Mode) {
        let path = self.text(path);
        self.push(owner, libc::SYS_mkdirat, &[raw(at), path, mode.bits().into()]);
    }

    pub fn unlinkat(&mut self, owner: usize, at: BorrowedFd<'_>, path: &[u8], flags: AtFlags) {
        let path = self.text(path);
        self.push(owner, libc::SYS_unlinkat, &[raw(at), path, flags.bits().into()]);
    }

    pub fn renameat(&mut self, owner: usize, at: BorrowedFd<'_>, from: &[u8], to: &[u8]) {
        let (from, to) = (self.text(from), self.text(to));
        self.push(owner, libc::SYS_renameat, &[raw(at), from, raw(at), to]);
    }

    pub fn linkat(&mut self, owner: usize, at: BorrowedFd<'_>, from: &[u8], to: &[u8]) {
        let (from, to) = (self.text(from), self.text(to));
        self.push(owner, libc::SYS_linkat, &[raw(at), from, raw(at), to]);
    }

    pub fn symlinkat(&mut self, owner: usize, target: &[u8], at: BorrowedFd<'_>, path: &[u8]) {
        let (target, path) = (self.text(target), self.text(path));
        self.push(owner, libc::SYS_symlinkat, &[target, raw(at), path]);
    }

    pub fn openat(
        &mut self,
        owner: usize,
        at: BorrowedFd<'_>,
        path: &[u8],
        flags: OFlags,
        mode: Mode,
    ) -> File {
        let path = self.text(path);
        let arguments = [raw(at), path, flags.bits().into(), mode.bits().into()];
        self.push(owner, libc::SYS_openat, &arguments);
        File::Awaited(self.waiting.len() - 1)
    }

    /// Goes to an offset from the start.
    pub fn seek(&mut self, owner: usize, file: &File, offset: u64) {
        self.on(owner, file, libc::SYS_lseek, &[offset, 0]);
    }

    /// Writes data, which a function fills in.
    pub fn write(
        &mut self,
        owner: usize,
        file: &File,
        length: usize,
        contents: impl FnOnce(&mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let data = self.take(length);
        contents(data)?;
        let data = data.as_ptr() as u64;
        let call = self.on(owner, file, libc::SYS_write, &[data, length as u64]);
        call.least = i64::try_from(length).unwrap_or(i64::MAX);
        Ok(())
    }

    pub fn futimens(&mut self, owner: usize, file: &File, times: &Timestamps) {
        let into = self.take(32);
        let of = [times.last_access, times.last_modification];
        for (into, number) in
            into.chunks_exact_mut(8).zip(of.iter().flat_map(|time| [time.tv_sec, time.tv_nsec]))
        {
            into.copy_from_slice(&number.to_ne_bytes());
        }
        let times = into.as_ptr() as u64;
        self.on(owner, file, libc::SYS_utimensat, &[0, times, 0]);
    }

    pub fn close(&mut self, owner: usize, file: File) {
        self.on(owner, &file, libc::SYS_close, &[]);
        if let File::Opened(file) = file {
            let _ = file.into_raw_fd();
        }
    }

    /// Makes all calls that wait, and returns their results. After a failure the others are not
    /// made.
    pub fn make(&mut self) -> Result<Vec<i64>, FailedCall> {
        let mut from = 0;
        while from < self.waiting.len() {
            // SAFETY: the arguments of each call are numbers, or point into the buffer, which stays
            // where and as it is; the kernel writes results only.
            let made = unsafe {
                libc::syscall(TOGETHER, self.waiting.as_mut_ptr(), from, self.waiting.len())
            };
            let Ok(made) = usize::try_from(made) else {
                let errno = Errno::from_io_error(&std::io::Error::last_os_error());
                return Err(self.failed(from, errno.unwrap_or(Errno::NOSYS)));
            };
            // All are made, or a signal came between two.
            let Some(call) = self.waiting.get(made).filter(|call| call.result < call.least) else {
                from = made;
                continue;
            };
            // Nothing interrupts a write of a guest; it is cut short where there is no more space.
            if call.result >= 0 {
                return Err(self.failed(made, Errno::NOSPC));
            }
            let errno = i32::try_from(-call.result).unwrap_or(libc::EIO);
            return Err(self.failed(made, Errno::from_raw_os_error(errno)));
        }
        let results = self.waiting.iter().map(|call| call.result).collect();
        self.forget();
        Ok(results)
    }

    /// A call with a file as its first argument.
    fn on(&mut self, owner: usize, file: &File, number: libc::c_long, rest: &[u64]) -> &mut Call {
        let call = self.push(owner, number, &[]);
        match file {
            File::Opened(file) => call.arguments[0] = raw(file.as_fd()),
            File::Awaited(opening) => call.first_from = *opening as u64 + 1,
        }
        call.arguments[1..=rest.len()].copy_from_slice(rest);
        call
    }

    fn push(&mut self, owner: usize, number: libc::c_long, arguments: &[u64]) -> &mut Call {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        self.owners.push(owner);
        self.waiting.push(Call {
            number: number.unsigned_abs(),
            arguments: all,
            first_from: 0,
            least: 0,
            result: NOT_MADE,
        });
        self.waiting.last_mut().expect("it was just pushed")
    }

    /// The address of a copy of a path, with the zero that ends it.
    fn text(&mut self, text: &[u8]) -> u64 {
        let into = self.take(text.len() + 1);
        into[..text.len()].copy_from_slice(text);
        into[text.len()] = 0;
        into.as_ptr() as u64
    }

    fn take(&mut self, length: usize) -> &mut [u8] {
        let start = self.used;
        self.used += length;
        &mut self.buffer[start..self.used]
    }

    fn failed(&mut self, call: usize, errno: Errno) -> FailedCall {
        let owner = self.owners[call];
        self.forget();
        FailedCall { owner, errno }
    }

    fn forget(&mut self) {
        self.waiting.clear();
        self.owners.clear();
        self.used = 0;
    }
}

impl File {
    /// The opened file, given the results of the calls.
    pub fn opened(&mut self, results: &[i64]) {
        if let Self::Awaited(call) = self {
            let number =
                RawFd::try_from(results[*call]).expect("a call that was made gives a file");
            // SAFETY: the call has opened it, and nothing else knows of it.
            *self = Self::Opened(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

fn raw(file: BorrowedFd<'_>) -> u64 {
    u64::from(file.as_raw_fd().unsigned_abs())
}
