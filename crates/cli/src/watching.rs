//! Shows what is known of a run while it is running: on the terminal and, with
//! `ssdlab run --watch`, in browsers.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use ssdlab_advice::{self as advice, Analysis};
use ssdlab_conductor::{Event, Observer};
use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::Trial;
use ssdlab_report::{Going, Shown, charts, live};
use ssdlab_results::{Ending, Record, Status};
use ssdlab_watch::Watch;

use super::progress::Progress;

/// A run is analysed again after this many times the duration of the last analysis.
const SHARE: u32 = 20;

/// Where to serve: `ADDR:PORT`, or a port of this machine that others cannot reach.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text);
    match (port.parse::<u16>(), text.parse()) {
        (Ok(port), _) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        (_, Ok(address)) => Ok(address),
        _ => Err("expected ADDR:PORT, like 127.0.0.1:8000, or just a port, like 8000".to_owned()),
    }
}

/// Forwards the events of a run to the terminal and to browsers. A run is analysed between trials,
/// never during one: that would disturb wall-clock trials.
pub struct Watching<'a> {
    progress: &'a mut Progress,
    watch: Option<&'a Watch>,
    schedule: &'a Schedule,
    run: &'a str,
    shown: Shown,
    /// The records shown so far.
    seen: usize,
    analysed: Instant,
    took: Duration,
    /// The running trials, with their levels and phases.
    running: Vec<(Trial, String, String)>,
    going: Going,
}

impl<'a> Watching<'a> {
    /// Shows a run with its existing records.
    pub fn new(
        progress: &'a mut Progress,
        watch: Option<&'a Watch>,
        schedule: &'a Schedule,
        run: &'a str,
        records: &[Record],
    ) -> Self {
        let analysis = analysed(run, schedule, records);
        let (shown, seen) = (Shown::new(schedule, &analysis), records.len());
        let (analysed, took) = (Instant::now(), Duration::ZERO);
        let (running, going) = (Vec::new(), Going::default());
        Self { progress, watch, schedule, run, shown, seen, analysed, took, running, going }
    }

    /// Shows how the run ended; `None` if it failed.
    pub fn ended(&mut self, records: &[Record], ending: Option<Ending>) {
        if self.watch.is_some() && self.seen < records.len() {
            self.analyse(records);
        }
        self.running.clear();
        self.going.pace = match ending {
            None | Some(Ending::Interrupted) => "interrupted".to_owned(),
            Some(_) => "done".to_owned(),
        };
        self.going.ended = true;
        self.show();
    }

    fn analyse(&mut self, records: &[Record]) {
        let began = Instant::now();
        let analysis = analysed(self.run, self.schedule, records);
        self.shown = Shown::new(self.schedule, &analysis);
        self.progress.know(self.shown.so_far());
        if let Some(watch) = self.watch {
            let drawn = charts(self.schedule, &analysis);
            watch.draw(&serde_json::to_string(&drawn).expect("it is plain data"));
        }
        self.seen = records.len();
        self.analysed = Instant::now();
        self.took = self.analysed - began;
    }

    fn show(&mut self) {
        let Some(watch) = self.watch else { return };
        let shown = |(_, levels, phase): &(Trial, String, String)| match (&**levels, &**phase) {
            ("", only) | (only, "") => only.to_owned(),
            (levels, phase) => format!("{levels}: {phase}"),
        };
        self.going.running = self.running.iter().map(shown).collect();
        watch.show(&live(&self.shown, &self.going));
    }
}

fn analysed(run: &str, schedule: &Schedule, records: &[Record]) -> Analysis {
    advice::analyse(run, schedule, records, Ending::Interrupted)
}

impl Observer for Watching<'_> {
    fn notice(&mut self, event: Event<'_>) {
        self.progress.notice(event);
        match event {
            Event::TrialStarted { trial, levels, done, planned } => {
                self.going.done = done;
                self.going.planned = planned;
                self.going.pace = self.progress.says_left().unwrap_or_default();
                self.running.push((trial, levels.to_string(), String::new()));
            }
            Event::PhaseStarted { trial, name, .. } => {
                for (_, _, phase) in self.running.iter_mut().filter(|(one, ..)| *one == trial) {
                    name.clone_into(phase);
                }
            }
            Event::Submitted { .. } => return,
            Event::Trouble { text } => self.going.troubles.push(text.to_owned()),
            Event::TrialEnded { record, levels, records, done } => {
                self.running.retain(|(one, ..)| *one != record.trial);
                if let (true, Some(reason)) = (record.status != Status::Ok, &record.reason) {
                    self.going.troubles.push(format!("{levels}: {}: {reason}", record.status));
                }
                self.going.done = done;
                if self.analysed.elapsed() >= self.took * SHARE {
                    self.analyse(records);
                }
            }
        }
        self.show();
    }
}

#[cfg(test)]
mod tests;
