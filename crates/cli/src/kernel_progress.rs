//! How the build of a lab kernel gets on.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ssdlab_kernel::BuildProgress;

use super::output;

/// The interval between lines of a log while files are compiled.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error: a bar on a terminal, plain lines elsewhere.
pub struct KernelProgress {
    bar: Option<ProgressBar>,
    told: Instant,
    /// Whether there was nothing to build.
    pub is_current: bool,
}

impl KernelProgress {
    /// Nothing yet.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{bar:24} {percent:>3} % {elapsed} {wide_msg}")
                    .expect("the template is right");
            ProgressBar::new(100).with_style(style)
        });
        if let Some(bar) = &bar {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Self { bar, told: Instant::now(), is_current: false }
    }

    /// Shows how the build gets on.
    pub fn tell(&mut self, progress: BuildProgress<'_>) {
        match (progress, &self.bar) {
            (BuildProgress::Current, _) => self.is_current = true,
            (BuildProgress::Step(step), Some(bar)) => bar.set_message(output::harmless(step)),
            (BuildProgress::Step(step), None) => output::tell(step),
            (BuildProgress::Compiled { files, about }, bar) => {
                // The number of files differs between versions of Linux.
                let percent = (100 * files / about).min(99);
                if let Some(bar) = bar {
                    bar.set_position(percent.into());
                } else if self.told.elapsed() >= QUIET {
                    self.told = Instant::now();
                    output::tell(&format!("compiling: {percent} %"));
                }
            }
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
