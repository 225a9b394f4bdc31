//! Watches the system calls of a program and of all it starts: ptrace(2) of x86-64.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use libc::{pid_t, user_regs_struct};

/// What is added to the signal of a stop at a system call (`PTRACE_O_TRACESYSGOOD`).
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

/// What `rax` holds when a call is entered.
const NOT_MADE: i64 = -38;

/// How much of a text is read at a time: less than a page, so that a read ends with one.
const TEXT_PIECE_BYTES: u64 = 256;

/// A system call of a watched program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedCall {
    /// The thread that makes it.
    pub process: pid_t,
    pub number: i64,
    pub arguments: [u64; 6],
}

/// What a watched program does next.
#[derive(Debug)]
pub enum CallStop {
    /// It is about to make a call.
    Enters(WatchedCall),
    /// It has made a call, which returned this.
    Leaves(WatchedCall, i64),
    /// A process that was started by the caller has ended: its status as wait(2) has it.
    Ended(pid_t, i32),
}

impl WatchedCall {
    /// An argument that is a descriptor or `AT_FDCWD`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "an int in C")]
    pub const fn descriptor(&self, argument: usize) -> RawFd {
        self.arguments[argument] as u32 as RawFd
    }

    /// What `/proc` has of the process that makes it.
    pub fn of_process(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.process))
    }

    /// An argument that is the address of a text.
    pub fn text(&self, argument: usize) -> io::Result<CString> {
        let memory = File::open(self.of_process("mem"))?;
        let (mut at, mut text) = (self.arguments[argument], Vec::new());
        loop {
            let mut piece = Vec::new();
            let end = TEXT_PIECE_BYTES - at % TEXT_PIECE_BYTES;
            piece.resize(usize::try_from(end).unwrap_or(1), 0);
            memory.read_exact_at(&mut piece, at)?;
            text.extend(&piece);
            if let Ok(ended) = CStr::from_bytes_until_nul(&text) {
                return Ok(ended.to_owned());
            }
            at += end;
        }
    }
}

/// A program and all that it starts, which stop at each system call.
#[derive(Debug, Default)]
pub struct Watched {
    /// The calls that are under way, by thread.
    under_way: BTreeMap<pid_t, WatchedCall>,
    /// Threads that have been seen.
    known: BTreeSet<pid_t>,
    /// The thread that has stopped, and goes on with this signal.
    stopped: Option<(pid_t, i32)>,
}

impl Watched {
    /// Has a command be watched once it is started. Only for a caller without other children, as
    /// [`Self::go_on`] waits for all of them.
    pub fn ask(command: &mut Command) {
        // SAFETY: between fork and exec the closure makes one system call and touches no memory.
        unsafe {
            command.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0).map(drop));
        }
    }

    /// Goes on until a program makes a call or ends; nothing if none is left.
    pub fn go_on(&mut self) -> io::Result<Option<CallStop>> {
        loop {
            if let Some((process, signal)) = self.stopped.take() {
                resume(process, signal)?;
            }
            let mut status = 0;
            // SAFETY: the pointer is to a variable of this function.
            let process = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
            if process < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    Some(libc::ECHILD) => return Ok(None),
                    Some(libc::EINTR) => continue,
                    _ => return Err(error),
                }
            }
            if !libc::WIFSTOPPED(status) {
                self.under_way.remove(&process);
                return Ok(Some(CallStop::Ended(process, status)));
            }
            if let Some(stop) = self.stop(process, status)? {
                return Ok(Some(stop));
            }
        }
    }

    fn stop(&mut self, process: pid_t, status: i32) -> io::Result<Option<CallStop>> {
        let is_new = self.known.insert(process);
        let signal = libc::WSTOPSIG(status);
        self.stopped = Some((process, 0));
        if is_new && self.known.len() == 1 {
            let options = libc::PTRACE_O_TRACESYSGOOD
                | libc::PTRACE_O_TRACEFORK
                | libc::PTRACE_O_TRACEVFORK
                | libc::PTRACE_O_TRACECLONE
                | libc::PTRACE_O_TRACEEXEC
                | libc::PTRACE_O_EXITKILL;
            request(libc::PTRACE_SETOPTIONS, process, u64::from(options.unsigned_abs()))?;
            return Ok(None);
        }
        // An event (a new process, another program), or a new process's first stop.
        if status >> 16 != 0 || is_new && signal == libc::SIGSTOP {
            return Ok(None);
        }
        if signal != AT_CALL {
            self.stopped = Some((process, signal));
            return Ok(None);
        }
        let Some(registers) = registers(process)? else { return Ok(None) };
        #[expect(clippy::cast_possible_wrap, reason = "a result is signed")]
        let result = registers.rax as i64;
        match self.under_way.remove(&process) {
            Some(call) => Ok(Some(CallStop::Leaves(call, result))),
            // It began before it was watched.
            None if result != NOT_MADE => Ok(None),
            None => {
                let call = called(process, &registers);
                self.under_way.insert(process, call);
                Ok(Some(CallStop::Enters(call)))
            }
        }
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the number of a call is small")]
const fn called(process: pid_t, of: &user_regs_struct) -> WatchedCall {
    let arguments = [of.rdi, of.rsi, of.rdx, of.r10, of.r8, of.r9];
    WatchedCall { process, number: of.orig_rax as i64, arguments }
}

/// The registers of a thread that has stopped; none if it was killed meanwhile.
fn registers(process: pid_t) -> io::Result<Option<user_regs_struct>> {
    // SAFETY: a structure of integers may be all zeros.
    let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
    let into = &raw mut registers as u64;
    match request(libc::PTRACE_GETREGS, process, into) {
        Ok(_) => Ok(Some(registers)),
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Has a thread go on to the next call, with a signal.
fn resume(process: pid_t, signal: i32) -> io::Result<()> {
    #[expect(clippy::cast_sign_loss, reason = "signals are positive")]
    match request(libc::PTRACE_SYSCALL, process, signal as u64) {
        // It was killed meanwhile.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        done => done.map(drop),
    }
}

fn request(request: libc::c_uint, process: pid_t, data: u64) -> io::Result<i64> {
    // SAFETY: the requests of this file write to `data` at most, where it is a pointer to what they
    // write.
    let done = unsafe { libc::ptrace(request, process, 0_u64, data) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done) }
}

/// Whether this process may fix the addresses of programs that it starts (personality(2)), without
/// which lab kernels are not the same each time.
pub fn can_fix_addresses() -> bool {
    let tried = std::thread::spawn(|| {
        // SAFETY: it changes only this thread, which ends here.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) >= 0 }
    });
    tried.join().unwrap_or(false)
}

/// Where a descriptor of a thread leads; none if it is not open.
pub fn opened(call: &WatchedCall, descriptor: RawFd) -> Option<PathBuf> {
    fs::read_link(call.of_process(&format!("fd/{descriptor}"))).ok()
}
