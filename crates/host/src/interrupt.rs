//! The request to stop: set by the signals that would otherwise end this program, polled between
//! operations, so that its changes are undone. Signals that report a fault of the program end it at
//! once, as SIGKILL does. A signal that was ignored when this program started stays ignored, by it
//! and its children: nohup(1) ignores SIGHUP, and a shell without job control ignores SIGINT and
//! SIGQUIT for background commands.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGXCPU, SIGXFSZ,
};

/// The signals that a user, a batch scheduler, a timer or a limit may send, and that end a program
/// that does not handle them (signal(7)).
const ENDING: [i32; 11] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,
];

/// A flag that all long-running operations poll.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that termination signals set. A write beyond the limit on the size of files
    /// (SIGXFSZ) only fails.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in ENDING {
            interrupt.set_by(signal)?;
        }
        Self::default().set_by(SIGXFSZ)?;
        Ok(interrupt)
    }

    /// A flag that only SIGTERM sets. SIGINT and SIGHUP, which a terminal also sends to our child
    /// programs, are left to them.
    pub fn on_termination() -> io::Result<Self> {
        let theirs = Self::default();
        theirs.set_by(SIGINT)?;
        theirs.set_by(SIGHUP)?;
        let interrupt = Self::default();
        interrupt.set_by(SIGTERM)?;
        Ok(interrupt)
    }

    fn set_by(&self, signal: i32) -> io::Result<()> {
        if is_ignored(signal) {
            return Ok(());
        }
        signal_hook::flag::register(signal, Arc::clone(&self.0)).map(drop)
    }

    /// Whether the run is to stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks the run to stop, as a signal does.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads until a request to stop arrives, which is an error: somebody else's file may take long.
#[derive(Debug)]
pub struct Interruptible<'a, R> {
    from: R,
    interrupt: &'a Interrupt,
}

impl<'a, R> Interruptible<'a, R> {
    /// Reads from there.
    pub fn new(from: R, interrupt: &'a Interrupt) -> Self {
        Self { from, interrupt }
    }
}

impl<R: Read> Read for Interruptible<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_set() {
            // Not of the kind `Interrupted`, on which readers try again.
            return Err(io::Error::other("interrupted"));
        }
        self.from.read(buffer)
    }
}

/// Whether a signal is ignored, from proc(5); if that cannot be read, it is assumed not to be. This
/// program never ignores a termination signal itself, so the answer is the state at its start.
fn is_ignored(signal: i32) -> bool {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign >> (signal - 1) & 1 == 1)
}
