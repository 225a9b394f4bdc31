//! `ssdlab simulate`: patterns or a trace on simulated drives.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, Report};
use serde::Serialize;
use ssdlab_flash::simulation::{
    self as simulation, OneOrSeveral, SimulationError, SimulationJob, SimulationOutcome, Synthetic,
};
use ssdlab_flash::{Condition, DriveWorkload, MILLION, Pattern, Preparation, Specification};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::Bytes;
use ssdlab_report as report;
use ssdlab_trace::Merge;

use super::drive;
use super::exit::{Exit, UsageError};
use super::simulation_progress::SweepProgress;
use super::sweep::{Seeds, in_order};
use super::trace_files::TraceArguments;
use super::{json, output};

/// The maximum number of simulations in a sweep: a typo is noticed before it runs for weeks.
const MOST: u128 = 100_000;

/// The maximum number whose outcomes are printed at the end, and so held in memory until then.
const MOST_AT_THE_END: u128 = 1_000;

/// Arguments of `ssdlab simulate`.
#[derive(Debug, Args)]
pub struct SimulateCommand {
    /// A drive file, or the name of a shipped drive (`ssdlab drive list`). Repeat the option to
    /// simulate several drives at once.
    #[arg(long, value_name = "FILE|NAME", required = true)]
    drive: Vec<String>,
    /// Override the capacity of every drive; spare space scales with it, caches do not.
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// The state the drive is brought into first: purged, filled (sequentially), overwritten:X (at
    /// random, X times the capacity), steady, or aged:N (steady, with N erases per block). Separate
    /// several by commas.
    #[arg(long, value_name = "STATE", default_value = "filled", value_delimiter = ',')]
    condition: Vec<Condition>,
    /// The share of the drive that preconditioning and patterns use; the rest holds no data.
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = share)]
    fill: u32,
    /// Which pages are written (or read). Separate several by commas.
    #[arg(long, value_enum, default_value = "uniform", value_delimiter = ',')]
    #[arg(conflicts_with = "trace")]
    pattern: Vec<PatternName>,
    /// The total size of the requests, in multiples of the capacity.
    #[arg(long, value_name = "X", default_value = "1", value_parser = times)]
    #[arg(conflicts_with = "trace")]
    overwrites: u64,
    /// The same for the warm-up, which is not counted.
    #[arg(long, value_name = "X", default_value = "0", value_parser = times)]
    #[arg(conflicts_with = "trace")]
    warmup: u64,
    /// The request size (default: one page).
    #[arg(long, value_name = "SIZE", conflicts_with = "trace")]
    request: Option<Bytes>,
    /// The share of requests that are reads.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    #[arg(conflicts_with = "trace")]
    reads: u32,
    /// The share of requests that discard a random mapped page.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    #[arg(conflicts_with = "trace")]
    trim: u32,
    /// For hotcold: the share of requests that go to hot pages.
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = share)]
    hot_writes: u32,
    /// For hotcold: the share of pages that are hot.
    #[arg(long, value_name = "SHARE", default_value = "0.2", value_parser = share)]
    hot_data: u32,
    /// For zipf: the skew; the page of rank r is drawn 1 / r^SKEW times as often as the first.
    #[arg(long, value_name = "SKEW", default_value = "0.99", value_parser = skew)]
    skew: u32,
    /// The number of outstanding requests; only relevant to drives with timing.
    #[arg(long, value_name = "N", default_value = "32", conflicts_with = "trace")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    queue_depth: u16,
    /// Replay a trace with its original timing. Repeat the option for per-CPU files.
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    #[command(flatten)]
    reading: TraceArguments,
    /// The seed of all randomness. Separate several by commas; 1..50 means all from 1 to 50.
    #[arg(long, value_name = "S|FIRST..LAST", default_value = "1", value_delimiter = ',')]
    seed: Vec<Seeds>,
    /// Simulations to run in parallel (default: the number of processors).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Print the outcome as JSON: one object, or a list if there are several.
    #[arg(long)]
    json: bool,
    /// Print one line of JSON per simulation as soon as all earlier ones are done, without series
    /// and histograms. The same command always prints the same lines.
    #[arg(long, conflicts_with = "json")]
    json_lines: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PatternName {
    /// One after another.
    Sequential,
    /// All equally likely.
    Uniform,
    /// A few often, most rarely.
    Zipf,
    /// Some often, the others rarely.
    Hotcold,
}

/// One simulation of a sweep.
struct Point<'a> {
    drive: &'a Specification,
    pattern: PatternName,
    condition: Condition,
    seed: u64,
}

/// An outcome, and its cost on this machine.
#[derive(Debug, Serialize)]
struct Measured {
    #[serde(flatten)]
    outcome: SimulationOutcome,
    /// Host pages written per second of real time, excluding preconditioning.
    host_pages_per_second: f64,
    /// The program's peak memory.
    peak_memory_bytes: u64,
}

impl SimulateCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let mut drives = self
            .drive
            .iter()
            .map(|name| drive::load(name, self.capacity))
            .collect::<Result<Vec<_>, _>>()?;
        tell_apart(&mut drives, &self.drive);
        for specification in &drives {
            self.check(specification)?;
        }
        let points = self.points(&drives)?;
        let threads = self.jobs.map_or(0, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| {
            UsageError::report(format!("cannot start threads: {error}"), "use fewer --jobs")
        })?;
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let progress = SweepProgress::new(points.len());
        let work = |point: &Point<'_>| self.simulate(point, &progress, &interrupt);
        if self.json_lines {
            let ended = pool.install(|| print_lines(&points, work, &progress));
            progress.finish();
            return ended;
        }
        let mut measured = Vec::with_capacity(points.len());
        let ended = pool.install(|| {
            in_order(&points, work, |done| match done {
                Ok(one) => {
                    measured.push(one);
                    ControlFlow::Continue(())
                }
                Err(error) => ControlFlow::Break(error),
            })
        });
        progress.finish();
        if let ControlFlow::Break(error) = ended {
            return Err(error);
        }
        if self.json {
            output::print_json(&OneOrSeveral::from(measured));
        } else {
            let outcomes: Vec<&SimulationOutcome> =
                measured.iter().map(|one| &one.outcome).collect();
            output::print(&report::simulation(&outcomes, output::style()));
        }
        Ok(Exit::Done)
    }

    /// Every combination of drive, pattern, condition and seed; the seeds vary fastest.
    fn points<'a>(&self, drives: &'a [Specification]) -> Result<Vec<Point<'a>>, Report> {
        let seeds: u128 = self.seed.iter().map(Seeds::count).sum();
        let count = [drives.len(), self.pattern.len(), self.condition.len()]
            .into_iter()
            .fold(seeds, |count, several| count.saturating_mul(several as u128));
        if count > MOST {
            return Err(UsageError::report(
                format!("this would be {count} simulations; a sweep has at most {MOST}"),
                "sweep a part of the seeds, drives, patterns or conditions at a time",
            ));
        }
        if count > MOST_AT_THE_END && !self.json_lines {
            return Err(UsageError::report(
                format!("this would be {count} simulations; a table has at most {MOST_AT_THE_END}"),
                "--json-lines prints each as soon as it is done",
            ));
        }
        let mut points = Vec::new();
        for drive in drives {
            for &pattern in &self.pattern {
                for &condition in &self.condition {
                    let seeds = self.seed.iter().flat_map(Seeds::each);
                    points.extend(seeds.map(|seed| Point { drive, pattern, condition, seed }));
                }
            }
        }
        Ok(points)
    }

    /// Checks whether the requests suit the drive.
    fn check(&self, drive: &Specification) -> Result<(), Report> {
        if self.fill == 0 {
            return Err(UsageError::report(
                "--fill 0 leaves nothing to use",
                "choose a share above 0, up to 1",
            ));
        }
        let both = self.reads + self.trim;
        if both > MILLION {
            return Err(UsageError::report(
                format!(
                    "--reads and --trim are {} of the requests together, but at most 1",
                    f64::from(both) / f64::from(MILLION)
                ),
                "choose smaller shares; writes are the rest",
            ));
        }
        let span = u64::from(drive.logical_pages) * u64::from(self.fill) / u64::from(MILLION);
        match self.request {
            Some(Bytes(bytes)) if !bytes.is_multiple_of(drive.page_bytes.into()) || bytes == 0 => {
                Err(UsageError::report(
                    format!("the request size of {bytes} bytes is not a multiple of a page"),
                    format!("pages of {} have {} bytes", drive.name, drive.page_bytes),
                ))
            }
            Some(Bytes(bytes)) if bytes / u64::from(drive.page_bytes) > span => {
                Err(UsageError::report(
                    format!(
                        "a request of {bytes} bytes exceeds the part of the drive that is used"
                    ),
                    format!("{} has {span} pages there", drive.name),
                ))
            }
            _ => Ok(()),
        }
    }

    fn simulate(
        &self,
        point: &Point<'_>,
        progress: &SweepProgress,
        interrupt: &Interrupt,
    ) -> Result<Measured, Report> {
        let drive = point.drive;
        let shown = progress.of(&drive.name);
        let mut running_since = None;
        let mut tell = |stage, done, total| {
            if stage == simulation::SimulationStage::Running {
                running_since.get_or_insert_with(Instant::now);
            }
            shown.tell(stage, done, total);
            if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let started = Instant::now();
        let outcome = if self.trace.is_empty() {
            let source = Synthetic {
                workload: self.workload(drive, point.pattern),
                warm_up_ppm: self.warmup,
                overwrites_ppm: self.overwrites,
                queue_depth: self.queue_depth.into(),
            };
            simulation::synthetic(&self.job(point, source), &mut tell)
        } else {
            let trace = self.reading.open(&self.trace)?;
            let files = self.reading.of(&self.trace);
            simulation::replay(&self.job(point, files), trace, Merge::clamped, &mut tell)
        };
        let outcome = outcome.map_err(|error| match error {
            SimulationError::Trace(error) => self.reading.explained(&self.trace, &error),
            SimulationError::Request { .. } => {
                UsageError::report(format!("{}: {error}", drive.name), "choose a larger --capacity")
            }
            SimulationError::Condition(_) => {
                UsageError::report(format!("{}: {error}", drive.name), "choose another --condition")
            }
            SimulationError::Interrupted => error.into(),
        })?;
        let seconds = running_since.unwrap_or(started).elapsed().as_secs_f64();
        Ok(Measured {
            host_pages_per_second: outcome.host.written_pages as f64 / seconds.max(1e-9),
            outcome,
            peak_memory_bytes: output::peak_memory_bytes(),
        })
    }

    fn job<S>(&self, point: &Point<'_>, source: S) -> SimulationJob<S> {
        let Point { drive, condition, seed, .. } = *point;
        let specification = drive.clone();
        SimulationJob {
            drive: Preparation { specification, condition, fill_ppm: self.fill, seed },
            source,
        }
    }

    fn workload(&self, drive: &Specification, pattern: PatternName) -> DriveWorkload {
        let pattern = match pattern {
            PatternName::Sequential => Pattern::Sequential,
            PatternName::Uniform => Pattern::Uniform,
            PatternName::Zipf => Pattern::Zipf { skew_ppm: self.skew },
            PatternName::Hotcold => {
                Pattern::HotCold { requests_ppm: self.hot_writes, pages_ppm: self.hot_data }
            }
        };
        let pages = self.request.map_or(1, |Bytes(bytes)| bytes / u64::from(drive.page_bytes));
        DriveWorkload {
            pattern,
            span_pages: drive.logical_pages,
            request_pages: u32::try_from(pages).expect("it was checked to fit the drive"),
            reads_ppm: self.reads,
            trims_ppm: self.trim,
        }
    }
}

/// Adds the files to the names of different drives of one name, as output identifies drives by
/// name.
fn tell_apart(drives: &mut [Specification], written: &[String]) {
    let is_shared = |drive: &Specification| {
        drives.iter().any(|other| other.name == drive.name && other != drive)
    };
    let shared: Vec<bool> = drives.iter().map(is_shared).collect();
    for ((drive, written), is_shared) in drives.iter_mut().zip(written).zip(shared) {
        if is_shared && drive.name != *written {
            drive.name = format!("{} ({written})", drive.name);
        }
    }
}

/// Prints a line for each point, in order, until the pipe is closed.
fn print_lines(
    points: &[Point<'_>],
    simulate: impl Fn(&Point<'_>) -> Result<Measured, Report> + Sync,
    progress: &SweepProgress,
) -> Result<Exit, Report> {
    let line = |point: &Point<'_>| {
        let outcome = simulate(point)?.outcome.without_series();
        Ok(json::line(&outcome).expect("an outcome is plain data"))
    };
    let ended = in_order(points, line, |line: Result<String, Report>| match line {
        Ok(line) if progress.print(&line) => ControlFlow::Continue(()),
        Ok(_) => ControlFlow::Break(Ok(Exit::Done)),
        Err(error) => ControlFlow::Break(Err(error)),
    });
    ended.break_value().unwrap_or(Ok(Exit::Done))
}

/// Millionths of a number.
fn millionths(text: &str, most: f64) -> Result<u64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=most).contains(number));
    let Some(number) = number else { return Err(format!("not a number from 0 to {most}")) };
    // It is within the range of the type.
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
