//! Progress of simulations on standard error: a bar for each drive on a terminal, a line from
//! time to time elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::output;
use crate::simulation::Stage;

/// How long a simulation takes before it says anything, and between two lines of a log.
const QUIET: Duration = Duration::from_secs(10);

/// Progress of all drives.
pub struct Progress {
    bars: Option<MultiProgress>,
    told: Mutex<Instant>,
}

/// Progress of one drive.
pub struct Shown<'a> {
    progress: &'a Progress,
    drive: &'a str,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress that suits standard error.
    pub fn new() -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { bars, told: Mutex::new(Instant::now()) }
    }

    /// Progress of one of the drives.
    pub fn of<'a>(&'a self, drive: &'a str) -> Shown<'a> {
        let bar = self.bars.as_ref().map(|bars| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} % {wide_msg}")
                .expect("the template is right");
            bars.add(ProgressBar::new(1).with_style(style))
        });
        Shown { progress: self, drive, bar }
    }

    /// Takes the bars away.
    pub fn finish(&self) {
        if let Some(bars) = &self.bars {
            // A terminal that has gone away shows nothing any more.
            let _ = bars.clear();
        }
    }
}

impl Shown<'_> {
    /// Shows how much of how much of a stage is done.
    pub fn tell(&self, stage: Stage, done: u64, total: u64) {
        let stage = match stage {
            Stage::Conditioning => "conditioning",
            Stage::WarmUp => "warming up",
            Stage::Running => "running",
        };
        if let Some(bar) = &self.bar {
            bar.set_length(total.max(1));
            bar.set_position(done.min(total));
            bar.set_message(match total {
                0 => format!("{}: {stage}, {done} requests", self.drive),
                _ => format!("{}: {stage}", self.drive),
            });
            return;
        }
        let Ok(mut told) = self.progress.told.try_lock() else { return };
        if told.elapsed() >= QUIET {
            *told = Instant::now();
            output::tell(&match total {
                0 => format!("{}: {stage}, {done} requests", self.drive),
                _ => format!("{}: {stage}, {} %", self.drive, 100 * done / total),
            });
        }
    }
}
