//! The request to stop: set by SIGINT, SIGTERM or SIGHUP, looked at between operations.
//!
//! A signal that was ignored when this program was started stays ignored, by it and by what it
//! starts: nohup(1) ignores SIGHUP, and a shell without job control ignores SIGINT and SIGQUIT for
//! what it runs in the background.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A flag that everything that takes long looks at.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that the signals which ask a program to end will set.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            interrupt.set_by(signal)?;
        }
        Ok(interrupt)
    }

    /// A flag that SIGINT and SIGTERM will set. A terminal that goes away ends this program at
    /// once: what others do for it goes on.
    pub fn on_requests() -> io::Result<Self> {
        let interrupt = Self::default();
        interrupt.set_by(SIGINT)?;
        interrupt.set_by(SIGTERM)?;
        Ok(interrupt)
    }

    /// A flag that SIGTERM alone will set. SIGINT and SIGHUP, which a terminal sends to the
    /// programs we have started too, are theirs, and do nothing to us.
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
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks the run to stop, as a signal does.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether a signal is ignored, as proc(5) says; where that cannot be read it is taken as not.
/// Nothing here ever ignores one of those that end a run, so the answer is that of the start.
fn is_ignored(signal: i32) -> bool {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.is_ok_and(|status| status.sigign >> (signal - 1) & 1 == 1)
}
