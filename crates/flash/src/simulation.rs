//! Simulations of a pattern or a trace on a simulated drive.
//!
//! Time and randomness come from the job, so equal jobs have equal outcomes. Measuring the speed of
//! the simulation by a real clock, and opening traces, are up to the caller.

mod job;
mod outcome;
mod recorder;
mod settings;

use std::ops::ControlFlow;

use crate::{
    Command, ConditionError, Conditioned, Drive, Extent, MILLION, Nanos, Played, Refusal, Requests,
    Stream, Workload, play,
};
use ssdlab_trace::{Clamped, Flags, Kind, Request, TraceError};

pub use job::{Job, Synthetic};
pub use outcome::{CommandLatency, Outcome, Replayed, Sample, Sequence, TraceFiles};
use recorder::Recorder;
pub use settings::Settings;

/// The stage of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Conditioning the drive.
    Conditioning,
    /// Requests that are not counted.
    WarmUp,
    /// Requests that are counted.
    Running,
}

/// Receives the progress of a simulation: the stage, how much of it is done, and its total, or
/// zeros if unknown. It may end the simulation.
pub type Progress<'a> = &'a mut dyn FnMut(Stage, u64, u64) -> ControlFlow<()>;

/// Why a simulation failed.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum SimulationError {
    /// The drive cannot be conditioned.
    #[error(transparent)]
    Condition(ConditionError),
    /// The drive refuses a request of a trace.
    #[error("request {number} of the trace, at {submitted_ns} ns: {refusal}")]
    Request {
        /// Which one, counted from 1.
        number: u64,
        /// When it was submitted.
        submitted_ns: u64,
        /// Why it is refused.
        #[source]
        refusal: Refusal,
    },
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The receiver of progress has ended it.
    #[error("interrupted")]
    Interrupted,
}

/// How often progress is reported, in requests.
const STEP: u64 = 1 << 16;

/// Makes the requests of a workload differ from those of conditioning, which have the same seed.
const WORKLOAD_SEED: u64 = 0x776f_726b_6c6f_6164;

/// Performs synthetic requests.
pub fn synthetic(job: &Job<Synthetic>, progress: Progress<'_>) -> Result<Outcome, SimulationError> {
    let (mut drive, conditioned) = prepared(job, progress)?;
    let span_pages = job.drive.span_pages();
    let Synthetic { workload, warm_up_ppm, overwrites_ppm, queue_depth } = job.source;
    let workload = Workload { span_pages, ..workload };
    let mut requests = Requests::new(workload, job.drive.seed ^ WORKLOAD_SEED);
    let count = |capacities_ppm: u64| {
        let pages = u128::from(span_pages) * u128::from(capacities_ppm) / u128::from(MILLION);
        u64::try_from(pages / u128::from(workload.request_pages)).unwrap_or(u64::MAX)
    };
    let mut now = Nanos::ZERO;
    let mut perform = |drive: &mut Drive,
                       stage,
                       count: u64,
                       each: &mut dyn FnMut(&Drive, Played)|
     -> Result<(), SimulationError> {
        let mut left = count;
        while left > 0 {
            tell(progress, stage, count - left, count)?;
            let step = left.min(STEP);
            match play(drive, &mut requests, step, queue_depth, now, &mut *each) {
                Ok(end) => now = end,
                // A worn-out drive is a result, not an error.
                Err(_) => break,
            }
            left -= step;
        }
        Ok(())
    };
    perform(&mut drive, Stage::WarmUp, count(warm_up_ppm), &mut |_, _| {})?;
    drive.reset_counts();
    let mut recorder = Recorder::new(&drive);
    perform(&mut drive, Stage::Running, count(overwrites_ppm), &mut |drive, played| {
        recorder.record(drive, &played.command, played.submitted, played.done);
    })?;
    Ok(recorder.finish(&drive, job.drive.seed, Settings::of_pattern(job), &conditioned, None))
}

/// Performs the requests of a trace at their times. A truncated trace is performed as far as it
/// goes. `clamped` says which of the times that were read went backwards.
pub fn replay<T>(
    job: &Job<TraceFiles>,
    mut trace: T,
    clamped: impl FnOnce(&T) -> Clamped,
    progress: Progress<'_>,
) -> Result<Outcome, SimulationError>
where
    T: Iterator<Item = Result<Request, TraceError>>,
{
    let (mut drive, conditioned) = prepared(job, progress)?;
    let mut recorder = Recorder::new(&drive);
    let (mut requests, mut duration_ns, mut cut_off) = (0_u64, 0, None);
    for request in &mut trace {
        let request = match request {
            Ok(request) => request,
            Err(error @ TraceError::Truncated { .. }) => {
                cut_off = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error.into()),
        };
        requests += 1;
        if requests.is_multiple_of(STEP) {
            tell(progress, Stage::Running, requests, 0)?;
        }
        let now = Nanos(request.submitted_ns);
        duration_ns = request.submitted_ns;
        for command in commands(&request) {
            match drive.submit(now, command) {
                Ok(completion) => recorder.record(&drive, &command, now, completion.at),
                Err(Refusal::WornOut) => break,
                Err(refusal) => {
                    let (number, submitted_ns) = (requests, request.submitted_ns);
                    return Err(SimulationError::Request { number, submitted_ns, refusal });
                }
            }
        }
    }
    let (of, clamped) = (job.source.clone(), clamped(&trace));
    let replayed = Replayed { of, requests, duration_ns, clamped, cut_off };
    let settings = Settings::of_job(job);
    Ok(recorder.finish(&drive, job.drive.seed, settings, &conditioned, Some(replayed)))
}

/// A job's drive, conditioned.
fn prepared<S>(
    job: &Job<S>,
    progress: Progress<'_>,
) -> Result<(Drive, Conditioned), SimulationError> {
    tell(progress, Stage::Conditioning, 0, job.drive.span_pages().into())?;
    let mut watch = |done, total| progress(Stage::Conditioning, done, total);
    job.drive.prepare(&mut watch).map_err(|error| match error {
        ConditionError::Stopped => SimulationError::Interrupted,
        refused @ ConditionError::Refused(_) => SimulationError::Condition(refused),
    })
}

fn tell(
    progress: Progress<'_>,
    stage: Stage,
    done: u64,
    total: u64,
) -> Result<(), SimulationError> {
    match progress(stage, done, total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(SimulationError::Interrupted),
    }
}

/// The commands of a request: with preflush it is preceded by a flush, and zeroes written with FUA
/// are followed by one.
pub fn commands(request: &Request) -> impl Iterator<Item = Command> + use<> {
    let extent = Extent { offset_bytes: request.offset_bytes, length_bytes: request.length_bytes };
    let command = match request.kind {
        Kind::Read => Command::Read(extent),
        Kind::Write if request.flags.contains(Flags::FUA) => Command::WriteFua(extent),
        Kind::Write => Command::Write(extent, Stream::default()),
        Kind::Flush => Command::Flush,
        Kind::Discard => Command::Discard(extent),
        Kind::WriteZeroes => Command::WriteZeroes(extent),
    };
    let flush = |flag| {
        let is_asked = request.kind != Kind::Flush && request.flags.contains(flag);
        is_asked.then_some(Command::Flush)
    };
    let after = flush(Flags::FUA).filter(|_| request.kind != Kind::Write);
    [flush(Flags::PREFLUSH), Some(command), after].into_iter().flatten()
}

#[cfg(test)]
mod tests;
