//! Progress of simulations on standard error: on a terminal a bar for each running one and one for
//! all, elsewhere a line from time to time.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use ssdlab_flash::simulation::SimulationStage;

use super::output;

/// How long a simulation runs before its first log line, and between two lines.
const QUIET: Duration = Duration::from_secs(10);

/// Progress of all simulations.
pub struct SweepProgress {
    bars: Option<Bars>,
    told: Mutex<Instant>,
    done: AtomicUsize,
    total: usize,
}

struct Bars {
    shown: MultiProgress,
    /// How many simulations are done; `None` if there is only one.
    all: Option<ProgressBar>,
}

/// Progress of one simulation.
pub struct DriveProgress<'a> {
    progress: &'a SweepProgress,
    drive: &'a str,
    bar: Option<ProgressBar>,
}

impl SweepProgress {
    /// Progress of this many simulations, in a form that suits standard error.
    pub fn new(total: usize) -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let shown = MultiProgress::new();
            let all = (total > 1).then(|| {
                let bar = ProgressBar::new(total as u64);
                shown.add(bar.with_style(style("{bar:24} {percent:>3} % {pos} of {len} done")))
            });
            Bars { shown, all }
        });
        Self { bars, told: Mutex::new(Instant::now()), done: AtomicUsize::new(0), total }
    }

    /// Progress of one of the simulations, for as long as it lives.
    pub fn of<'a>(&'a self, drive: &'a str) -> DriveProgress<'a> {
        let bar = self.bars.as_ref().map(|bars| {
            let style = style("{bar:24} {percent:>3} % {wide_msg}");
            bars.shown.add(ProgressBar::new(1).with_style(style))
        });
        DriveProgress { progress: self, drive, bar }
    }

    /// Prints to standard output, which may be the same terminal; returns whether it is still read.
    pub fn print(&self, text: &str) -> bool {
        let print = || output::print_to_reader(|out| out.write_all(text.as_bytes()));
        match &self.bars {
            Some(bars) => bars.shown.suspend(print),
            None => print(),
        }
    }

    /// Removes the bars.
    pub fn finish(&self) {
        if let Some(bars) = &self.bars {
            // A closed terminal shows nothing any more.
            let _ = bars.shown.clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is right")
}

impl DriveProgress<'_> {
    /// Shows the progress of a stage.
    pub fn tell(&self, stage: SimulationStage, done: u64, total: u64) {
        let stage = match stage {
            SimulationStage::Conditioning => "preconditioning",
            SimulationStage::WarmUp => "warming up",
            SimulationStage::Running => "running",
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
            let of_all = match self.progress.total {
                0 | 1 => String::new(),
                all => {
                    format!("{} of {all} done; ", self.progress.done.load(Ordering::Relaxed))
                }
            };
            output::tell(&match total {
                0 => format!("{of_all}{}: {stage}, {done} requests", self.drive),
                _ => format!("{of_all}{}: {stage}, {} %", self.drive, 100 * done / total),
            });
        }
    }
}

impl Drop for DriveProgress<'_> {
    fn drop(&mut self) {
        self.progress.done.fetch_add(1, Ordering::Relaxed);
        let Some(bars) = &self.progress.bars else { return };
        if let Some(bar) = &self.bar {
            bars.shown.remove(bar);
        }
        if let Some(all) = &bars.all {
            all.inc(1);
        }
    }
}
