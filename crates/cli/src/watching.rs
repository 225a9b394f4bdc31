//! Shows what is known of a run while it is running: on the terminal and, with `ssdlab run
//! --watch`, on a page in the run's folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ssdlab_advice::{self as advice, Analysis};
use ssdlab_conductor::{Observer, RunEvent};
use ssdlab_host::whole_file;
use ssdlab_plan::Schedule;
use ssdlab_report::{PageOptions, html, html_with, so_far};
use ssdlab_results::{Ending, Record};

use super::output;
use super::progress::RunProgress;

/// A run is analysed again after this many times the duration of the last analysis.
const SHARE: u32 = 20;

/// How often a browser loads the page again, in seconds.
const RELOAD_S: u32 = 10;

/// The report of a run as a page in its folder.
pub struct Page {
    path: PathBuf,
    plan: String,
}

impl Page {
    /// The page in a run's folder; `plan` is the plan's text.
    pub fn of(folder: &Path, plan: &str) -> Self {
        Self { path: folder.join("report.html"), plan: plan.to_owned() }
    }

    /// Writes the page of a run that has ended.
    pub fn end(&self, schedule: &Schedule, analysis: &Analysis) {
        self.write(&html(schedule, analysis, &self.plan));
    }

    fn update(&self, schedule: &Schedule, analysis: &Analysis) {
        let options = PageOptions { reload_s: Some(RELOAD_S), manual: None };
        self.write(&html_with(schedule, analysis, &self.plan, options));
    }

    /// A run goes on without its page.
    fn write(&self, text: &str) {
        if let Err(error) = whole_file::write(&self.path, |out| out.write_all(text.as_bytes())) {
            output::tell(&format!("cannot write {}: {error}", self.path.display()));
        }
    }
}

/// Forwards the events of a run to the terminal and its page. A run is analysed between trials,
/// never during one: that would disturb wall-clock trials.
pub struct RunWatcher<'a> {
    progress: &'a mut RunProgress,
    page: Option<&'a Page>,
    schedule: &'a Schedule,
    run: &'a str,
    analysed: Instant,
    took: Duration,
}

impl<'a> RunWatcher<'a> {
    /// Shows a run with its existing records.
    pub fn new(
        progress: &'a mut RunProgress,
        page: Option<&'a Page>,
        schedule: &'a Schedule,
        run: &'a str,
        records: &[Record],
    ) -> Self {
        let (analysed, took) = (Instant::now(), Duration::ZERO);
        if let Some(page) = page {
            page.update(schedule, &analysis(run, schedule, records));
            output::tell(&format!("this run can be watched: {}", page.path.display()));
        }
        Self { progress, page, schedule, run, analysed, took }
    }

    fn analyse(&mut self, records: &[Record]) {
        let began = Instant::now();
        let analysis = analysis(self.run, self.schedule, records);
        self.progress.know(&so_far(&analysis));
        if let Some(page) = self.page {
            page.update(self.schedule, &analysis);
        }
        self.analysed = Instant::now();
        self.took = self.analysed - began;
    }
}

fn analysis(run: &str, schedule: &Schedule, records: &[Record]) -> Analysis {
    advice::analyse(run, schedule, records, Ending::Interrupted)
}

impl Observer for RunWatcher<'_> {
    fn notice(&mut self, event: RunEvent<'_>) {
        self.progress.notice(event);
        if let RunEvent::TrialEnded { records, .. } = event
            && self.analysed.elapsed() >= self.took * SHARE
        {
            self.analyse(records);
        }
    }
}
