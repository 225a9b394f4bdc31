//! Shows a run in browsers while it goes on: `ssdlab run --watch`.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use super::progress::Progress;
use crate::advice::{self, Analysis};
use crate::conductor::{Event, Observer};
use crate::plan::Schedule;
use crate::report::{Going, live};
use crate::results::{Ending, Record, Status};
use crate::watch::Watch;

/// A run is analysed again when this many times as long has gone by as the last time took.
const SHARE: u32 = 20;

/// Where to serve: `ADDR:PORT`, or a port of this machine that others cannot reach.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or(text.strip_prefix(':')).unwrap_or(text);
    match (port.parse::<u16>(), text.parse()) {
        (Ok(port), _) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        (_, Ok(address)) => Ok(address),
        _ => Err("it is ADDR:PORT, like 127.0.0.1:8000, or a port alone, like 8000".to_owned()),
    }
}

/// Passes on what a run tells, to the terminal and to browsers.
///
/// What browsers see is computed between trials, never beside one: on a wall clock it would be
/// measured with it.
pub struct Watching<'a> {
    progress: &'a mut Progress,
    watch: &'a Watch,
    schedule: &'a Schedule,
    run: &'a str,
    records: Vec<Record>,
    analysis: Analysis,
    analysed: Instant,
    took: Duration,
    /// The levels and the phase of each trial that is running.
    running: Vec<(String, String)>,
    going: Going,
}

impl<'a> Watching<'a> {
    /// Shows a run with the records that it has already.
    pub fn new(
        progress: &'a mut Progress,
        watch: &'a Watch,
        schedule: &'a Schedule,
        run: &'a str,
        records: &[Record],
    ) -> Self {
        let records = records.to_vec();
        let analysis = advice::analyse(run, schedule, &records, Ending::Interrupted);
        let (analysed, took) = (Instant::now(), Duration::ZERO);
        let (running, going) = (Vec::new(), Going::default());
        Self { progress, watch, schedule, run, records, analysis, analysed, took, running, going }
    }

    /// Shows how it ended; none if it went wrong.
    pub fn ended(&mut self, ending: Option<Ending>) {
        self.analyse();
        self.running.clear();
        self.going.done = self.ran();
        self.going.pace = match ending {
            None | Some(Ending::Interrupted) => "interrupted".to_owned(),
            Some(_) => "done".to_owned(),
        };
        self.going.ended = true;
        self.show();
    }

    fn ran(&self) -> usize {
        let ran = |record: &&Record| record.status != Status::Unavailable;
        self.records.iter().filter(ran).count()
    }

    fn analyse(&mut self) {
        let began = Instant::now();
        self.analysis =
            advice::analyse(self.run, self.schedule, &self.records, Ending::Interrupted);
        self.analysed = Instant::now();
        self.took = self.analysed - began;
    }

    fn show(&mut self) {
        let shown = |(levels, phase): &(String, String)| match (&**levels, &**phase) {
            ("", only) | (only, "") => only.to_owned(),
            (levels, phase) => format!("{levels}: {phase}"),
        };
        self.going.running = self.running.iter().map(shown).collect();
        self.watch.show(&live(self.schedule, &self.analysis, &self.going));
    }
}

impl Observer for Watching<'_> {
    fn notice(&mut self, event: Event<'_>) {
        self.progress.notice(event);
        match event {
            Event::TrialStarted { levels, done, planned, .. } => {
                self.going.done = done;
                self.going.planned = planned;
                self.going.pace = self.progress.says_left().unwrap_or_default();
                self.running.push((levels.to_string(), String::new()));
            }
            Event::PhaseStarted { name, levels } => {
                let levels = levels.to_string();
                let of = self.running.iter_mut().find(|(running, _)| *running == levels);
                if let Some((_, phase)) = of {
                    name.clone_into(phase);
                }
            }
            Event::PhaseEnded { .. } => return,
            Event::Trouble { text } => self.going.troubles.push(text.to_owned()),
            Event::TrialEnded { record, levels } => {
                let levels = levels.to_string();
                let ended = self.running.iter().position(|(running, _)| *running == levels);
                if let Some(ended) = ended {
                    self.running.remove(ended);
                }
                if let (true, Some(reason)) = (record.status != Status::Ok, &record.reason) {
                    self.going.troubles.push(format!("{levels}: {}: {reason}", record.status));
                }
                self.records.push(record.clone());
                self.going.done = self.ran();
                if self.analysed.elapsed() >= self.took * SHARE {
                    self.analyse();
                }
            }
        }
        self.show();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_that_others_cannot_reach() {
        for text in ["8000", ":8000", "localhost:8000", "127.0.0.1:8000"] {
            assert_eq!(address(text).unwrap().to_string(), "127.0.0.1:8000", "{text}");
        }
        assert_eq!(address("[::]:80").unwrap().to_string(), "[::]:80");
        for text in ["", ":", "host", "example.org:80", "127.0.0.1", "1.2.3.4:99999", "-1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
