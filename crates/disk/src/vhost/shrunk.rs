//! Survives a guest that shortens the file behind its memory while the memory is mapped here.
//!
//! Access beyond the end of the file raises SIGBUS (mmap(2)), which would end this process and lose
//! the disk; checking the length before each access cannot prevent that. The handler puts a page of
//! zeros in the place of the missing one, so that the access succeeds, and notes it; the guest is
//! then no longer served.

use std::ffi::c_void;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::param::page_size;

/// The number of ranges that can be watched: a handler must not wait for a lock, so that they are
/// in a fixed table. A virtual machine has at most 8 regions, before and after they change; a guest
/// of the lab has one for each disk, and there is a guest for each processor.
const RANGES: usize = 1024;

static TABLE: [Range; RANGES] = [const { Range::free() }; RANGES];

/// A range of addresses of this process.
#[derive(Debug)]
struct Range {
    is_taken: AtomicBool,
    /// The first address, or 0 for none.
    start: AtomicUsize,
    end: AtomicUsize,
    has_shrunk: AtomicBool,
}

impl Range {
    const fn free() -> Self {
        Self {
            is_taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            has_shrunk: AtomicBool::new(false),
        }
    }

    fn contains(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        start != 0 && (start..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}

/// A mapping of a guest's memory, which is watched until this is dropped.
#[derive(Debug)]
pub struct WatchedMapping(&'static Range);

impl WatchedMapping {
    /// Watches the mapping at an address, of this many bytes.
    pub fn new(address: *const u8, bytes: usize) -> io::Result<Self> {
        handle()?;
        let take = |range: &&Range| {
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            range.is_taken.compare_exchange(false, true, order, failed).is_ok()
        };
        let range = TABLE.iter().find(take).ok_or_else(|| {
            io::Error::other(format!("the memory of guests has more than {RANGES} regions"))
        })?;
        range.has_shrunk.store(false, Ordering::Relaxed);
        range.end.store(address.addr().saturating_add(bytes), Ordering::Relaxed);
        range.start.store(address.addr(), Ordering::Release);
        Ok(Self(range))
    }

    /// Whether part of it was missing when it was accessed.
    pub fn has_shrunk(&self) -> bool {
        self.0.has_shrunk.load(Ordering::Relaxed)
    }
}

impl Drop for WatchedMapping {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::Release);
        self.0.is_taken.store(false, Ordering::Release);
    }
}

/// What handled SIGBUS before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Handles SIGBUS from now on.
fn handle() -> io::Result<()> {
    static HANDLED: OnceLock<Result<(), io::ErrorKind>> = OnceLock::new();
    let register = || {
        // SAFETY: all zeros is a valid value of this plain data.
        let (mut ours, mut before): (libc::sigaction, libc::sigaction) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        ours.sa_sigaction = on_fault as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: without a new action this only fills in the present one.
        if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
            return Err(io::Error::last_os_error().kind());
        }
        BEFORE.get_or_init(|| before);
        // SAFETY: the handler only loads and stores atomics and makes system calls, all of which
        // are async-signal-safe, and has the signature that SA_SIGINFO asks for.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().kind()),
        }
    };
    (*HANDLED.get_or_init(register)).map_err(io::Error::from)
}

/// Replaces the missing page of a watched range; any other fault is left to what handled it before,
/// when the access is repeated.
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel passes the address of the fault. A signal that another process sent has
    // none, which is in no range.
    let address = unsafe { (*info).si_addr() }.addr();
    if !replace_page(address)
        && let Some(before) = BEFORE.get()
    {
        // SAFETY: it was in force before.
        unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
    }
}

/// Maps zeros in the place of the missing page of a watched range.
fn replace_page(address: usize) -> bool {
    let Some(range) = TABLE.iter().find(|range| range.contains(address)) else { return false };
    let bytes = page_size();
    let page = (address - address % bytes) as *mut c_void;
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED);
    // SAFETY: the page is part of a mapping of a guest's memory, which is only accessed through raw
    // pointers, and has nothing in it. The range is unmapped as a whole.
    let mapped = unsafe { mmap_anonymous(page, bytes, access, flags) };
    range.has_shrunk.store(true, Ordering::Relaxed);
    mapped.is_ok()
}
