//! `ssdlab simulate`: a pattern or a trace on simulated drives.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use miette::Report;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use ssdlab_flash::pattern::MILLION;
use ssdlab_flash::{Condition, Pattern, Specification, Workload};

use super::drive;
use super::exit::{Exit, Wrong};
use super::output;
use super::simulation_progress::Progress;
use super::trace_files::Reading;
use crate::plan::Bytes;
use crate::report;
use crate::simulation::{self, Job, Outcome, Sequence, SimulationError, Synthetic};

/// Arguments of `ssdlab simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// A drive file, or a drive that comes with the program (`ssdlab drive list`). Repeat it to
    /// simulate several at once.
    #[arg(long, value_name = "FILE|NAME", required = true)]
    drive: Vec<String>,
    /// Give every drive this capacity; spare space and caches keep their ratio to it.
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// The state the drive is brought into first: purged, filled (in order), overwritten:X (at
    /// random, X times the capacity), steady, or aged:N (steady, and N erases a block).
    #[arg(long, value_name = "STATE", default_value = "filled")]
    condition: Condition,
    /// The share of the drive that conditioning and patterns use; the rest holds no data.
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = share)]
    fill: u32,
    /// Which pages are written (or read).
    #[arg(long, value_enum, default_value = "uniform", conflicts_with = "trace")]
    pattern: PatternName,
    /// Requests come to so many times the capacity.
    #[arg(long, value_name = "X", default_value = "1", value_parser = times)]
    #[arg(conflicts_with = "trace")]
    overwrites: u64,
    /// The same before counting begins.
    #[arg(long, value_name = "X", default_value = "0", value_parser = times)]
    #[arg(conflicts_with = "trace")]
    warmup: u64,
    /// The size of a request (default: a page).
    #[arg(long, value_name = "SIZE", conflicts_with = "trace")]
    request: Option<Bytes>,
    /// The share of requests that read.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    #[arg(conflicts_with = "trace")]
    reads: u32,
    /// The share of requests that discard a random page that holds data.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    #[arg(conflicts_with = "trace")]
    trim: u32,
    /// For hotcold: the share of requests that go to hot pages.
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = share)]
    hot_writes: u32,
    /// For hotcold: the share of the pages that is hot.
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = share)]
    hot_data: u32,
    /// For zipf: the skew; the page of rank r is drawn 1 / r^SKEW as often as the first.
    #[arg(long, value_name = "SKEW", default_value = "0.99", value_parser = skew)]
    skew: u32,
    /// Requests under way at once; it matters to drives that take time.
    #[arg(long, value_name = "N", default_value = "32", conflicts_with = "trace")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    queue_depth: u16,
    /// Replay a trace at its times. Repeat it for the files of several processors.
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// The seed of everything random.
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// How many drives are simulated at once (default: the number of processors).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Print the outcome as JSON: one object, or a list for several drives.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PatternName {
    /// One after another.
    Sequential,
    /// Any, each as likely.
    Uniform,
    /// A few often, most seldom.
    Zipf,
    /// Some often, the others seldom.
    Hotcold,
}

/// An outcome, and what it took this machine.
#[derive(Debug, Serialize)]
struct Measured {
    #[serde(flatten)]
    outcome: Outcome,
    /// Pages the host has written each second of real time, conditioning not counted.
    host_pages_per_second: f64,
    /// The most memory the program has taken.
    peak_memory_bytes: u64,
}

impl Simulate {
    /// Runs it.
    pub fn run(&self) -> Result<Exit, Report> {
        let drives = self
            .drive
            .iter()
            .map(|name| drive::load(name, self.capacity))
            .collect::<Result<Vec<_>, _>>()?;
        for specification in &drives {
            self.check(specification)?;
        }
        let threads = self.jobs.map_or(0, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            Wrong::report(format!("no threads can be started: {error}"), "take fewer --jobs")
        })?;
        let progress = Progress::new();
        let done = pool.install(|| {
            drives.par_iter().map(|drive| self.simulate(drive, &progress)).collect::<Vec<_>>()
        });
        progress.finish();
        let measured = done.into_iter().collect::<Result<Vec<_>, _>>()?;
        if self.json {
            let text = serde_json::to_string_pretty(&Sequence::from(measured))
                .expect("an outcome is plain data");
            output::print(&format!("{text}\n"));
        } else {
            let outcomes: Vec<&Outcome> = measured.iter().map(|one| &one.outcome).collect();
            output::print(&report::simulation(&outcomes, output::style()));
        }
        Ok(Exit::Done)
    }

    /// What a drive file cannot know: whether the requests suit it.
    fn check(&self, drive: &Specification) -> Result<(), Report> {
        if self.fill == 0 {
            return Err(Wrong::report("--fill 0 leaves nothing to use", "take a share up to 1"));
        }
        let span = u64::from(drive.logical_pages) * u64::from(self.fill) / u64::from(MILLION);
        match self.request {
            Some(Bytes(bytes)) if !bytes.is_multiple_of(drive.page_bytes.into()) || bytes == 0 => {
                Err(Wrong::report(
                    format!("a request of {bytes} bytes is no multiple of a page"),
                    format!("the pages of {} have {} bytes", drive.name, drive.page_bytes),
                ))
            }
            Some(Bytes(bytes)) if bytes / u64::from(drive.page_bytes) > span => Err(Wrong::report(
                format!("a request of {bytes} bytes does not fit into the part that is used"),
                format!("{} has {span} pages there", drive.name),
            )),
            _ => Ok(()),
        }
    }

    fn simulate(&self, drive: &Specification, progress: &Progress) -> Result<Measured, Report> {
        let shown = progress.of(&drive.name);
        let mut running_since = None;
        let mut tell = |stage, done, total| {
            if stage == simulation::Stage::Running {
                running_since.get_or_insert_with(Instant::now);
            }
            shown.tell(stage, done, total);
        };
        let started = Instant::now();
        let outcome = if self.trace.is_empty() {
            let source = Synthetic {
                workload: self.workload(drive),
                warm_up_ppm: self.warmup,
                overwrites_ppm: self.overwrites,
                queue_depth: self.queue_depth.into(),
            };
            simulation::synthetic(&self.job(drive, source), &mut tell)
        } else {
            let trace = self.reading.open(&self.trace)?;
            simulation::replay(&self.job(drive, ()), trace, &mut tell)
        };
        let outcome = outcome.map_err(|error| match error {
            SimulationError::Trace(error) => self.reading.explained(&self.trace, &error),
            SimulationError::Request { .. } => Wrong::report(
                format!("{}: {error}", drive.name),
                "give the drive a larger --capacity",
            ),
            SimulationError::Condition(_) => {
                Wrong::report(format!("{}: {error}", drive.name), "choose another --condition")
            }
        })?;
        let seconds = running_since.unwrap_or(started).elapsed().as_secs_f64();
        Ok(Measured {
            host_pages_per_second: outcome.host_pages as f64 / seconds.max(1e-9),
            outcome,
            peak_memory_bytes: output::peak_memory_bytes(),
        })
    }

    fn job<S>(&self, drive: &Specification, source: S) -> Job<S> {
        Job {
            specification: drive.clone(),
            condition: self.condition,
            fill_ppm: self.fill,
            seed: self.seed,
            source,
        }
    }

    fn workload(&self, drive: &Specification) -> Workload {
        let pattern = match self.pattern {
            PatternName::Sequential => Pattern::Sequential,
            PatternName::Uniform => Pattern::Uniform,
            PatternName::Zipf => Pattern::Zipf { skew_ppm: self.skew },
            PatternName::Hotcold => {
                Pattern::HotCold { requests_ppm: self.hot_writes, pages_ppm: self.hot_data }
            }
        };
        let pages = self.request.map_or(1, |Bytes(bytes)| bytes / u64::from(drive.page_bytes));
        Workload {
            pattern,
            span_pages: drive.logical_pages,
            request_pages: u32::try_from(pages).expect("it was checked to fit the drive"),
            reads_ppm: self.reads,
            trims_ppm: self.trim,
        }
    }
}

/// Millionths of a number.
fn millionths(text: &str, most: f64) -> Result<u64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=most).contains(number));
    let Some(number) = number else { return Err(format!("not a number from 0 to {most}")) };
    // It is in the range of the type.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let millionths = (number * f64::from(MILLION)).round() as u64;
    Ok(millionths)
}

fn share(text: &str) -> Result<u32, String> {
    millionths(text, 1.0).and_then(|ppm| u32::try_from(ppm).map_err(|error| error.to_string()))
}

fn skew(text: &str) -> Result<u32, String> {
    millionths(text, 10.0).and_then(|ppm| u32::try_from(ppm).map_err(|error| error.to_string()))
}

fn times(text: &str) -> Result<u64, String> {
    millionths(text, 1e6)
}
