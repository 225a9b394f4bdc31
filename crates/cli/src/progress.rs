//! Progress on standard error: a bar on a terminal, plain lines elsewhere.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ssdlab_advice::Verdict;
use ssdlab_conductor::{Observer, RunEvent};
use ssdlab_plan::Levels;
use ssdlab_report::{LiveVerdict, counted, duration};
use ssdlab_results::{Record, TrialStatus};

use super::output;

/// The maximum number of claims below the bar.
const MOST_CLAIMS: usize = 8;

/// Shows the progress of a run.
pub struct RunProgress {
    bar: Option<ProgressBar>,
    started: Instant,
    /// Records from earlier sessions.
    resumed: Option<usize>,
    /// Trials started in this session; several may run at once.
    begun: usize,
    /// The time left, as estimated when the last trial began.
    left: Option<Duration>,
    /// The verdict on each claim so far, by its name.
    verdicts: BTreeMap<String, Verdict>,
}

impl RunProgress {
    /// Progress in a form that suits standard error.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {wide_msg}\n{prefix}")
                .expect("the template is right");
            ProgressBar::new(0).with_style(style)
        });
        let verdicts = BTreeMap::new();
        Self { bar, started: Instant::now(), resumed: None, begun: 0, left: None, verdicts }
    }

    /// Shows what is known of each claim: below the bar, or else on a line when a verdict changes.
    pub fn know(&mut self, claims: &[LiveVerdict]) {
        if let Some(bar) = &self.bar {
            let width = output::error_width();
            let line = |claim: &LiveVerdict| -> String {
                format!("{}: {}", claim.id, claim.says).chars().take(width).collect()
            };
            let lines: Vec<String> = claims.iter().take(MOST_CLAIMS).map(line).collect();
            bar.set_prefix(output::harmless(&lines.join("\n")));
        } else {
            for line in self.news(claims) {
                output::tell(&line);
            }
        }
    }

    /// The claims whose verdict has changed; at first none has one.
    fn news(&mut self, claims: &[LiveVerdict]) -> Vec<String> {
        let mut news = Vec::new();
        for LiveVerdict { id, verdict, says } in claims {
            let before = self.verdicts.insert(id.clone(), *verdict);
            if before.unwrap_or(Verdict::Undecided) != *verdict {
                news.push(format!("so far {id}: {says}"));
            }
        }
        news
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The time left at the current pace; `None` until the first trial has ended.
    fn left(&self, done: usize, planned: usize) -> Option<Duration> {
        let here = u32::try_from(done - self.resumed?).ok().filter(|here| *here > 0)?;
        let pace = self.started.elapsed() / here;
        Some(pace * u32::try_from(planned.saturating_sub(done)).ok()?)
    }

    /// The time left, as estimated when the last trial began, in words.
    fn shown_left(&self) -> String {
        self.left.map_or(String::new(), |left| {
            let left = Duration::from_secs(left.as_secs() + 1);
            format!("about {} left, ", humantime::format_duration(left))
        })
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(output::harmless(text)),
            None => output::tell(text),
        }
    }

    fn ended(&self, record: &Record, levels: &Levels) {
        let on = record.attempt.as_ref().map(|of| format!(" on {}", of.node)).unwrap_or_default();
        let line = match (record.status, &record.reason) {
            (TrialStatus::Ok, _) => format!("ok{on}, {}", duration(record.took_ns as f64)),
            (status, reason) => {
                format!("{status}{on}: {}", reason.as_deref().unwrap_or(""))
            }
        };
        match &self.bar {
            Some(bar) if record.status == TrialStatus::Ok => bar.inc(1),
            Some(bar) => {
                bar.inc(1);
                bar.println(output::harmless(&format!("{levels}: {line}")));
            }
            None => output::tell(&format!("  {levels}: {line}")),
        }
    }
}

impl Observer for RunProgress {
    fn notice(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::TrialStarted { levels, done, planned, .. } => {
                let resumed = *self.resumed.get_or_insert(done);
                self.begun += 1;
                self.left = self.left(done, planned);
                let trial = format!("{}{levels}", self.shown_left());
                if let Some(bar) = &self.bar {
                    bar.set_length(planned as u64);
                    bar.set_position(done as u64);
                    bar.set_message(output::harmless(&trial));
                } else {
                    let number = resumed + self.begun;
                    output::tell(&format!("trial {number} of {planned}: {trial}"));
                }
            }
            RunEvent::PhaseStarted { name, levels, .. } => {
                if let Some(bar) = &self.bar {
                    let left = self.shown_left();
                    bar.set_message(output::harmless(&format!("{left}{name}, {levels}")));
                }
            }
            RunEvent::Submitted { shares, name } => self.say(&format!(
                "submitting {} to Slurm: `squeue --name={name}` shows them, \
                 `scancel --name={name}` ends them",
                counted(shares, "share")
            )),
            RunEvent::Trouble { text } => self.say(text),
            RunEvent::TrialEnded { record, levels, .. } => self.ended(record, levels),
        }
    }
}

#[cfg(test)]
mod tests;
