//! Simulations of a pattern or a trace on a simulated drive.
//!
//! Time and randomness come from the job, so equal jobs have equal outcomes. Measuring the speed of
//! the simulation by a real clock, and opening traces, are up to the caller.

mod outcome;
mod recorder;
mod settings;

use std::ops::ControlFlow;

use crate::{
    Command, ConditionError, ConditioningOutcome, Drive, DriveWorkload, Extent, MILLION, Nanos,
    PlayedRequest, Refusal, RequestGenerator, Stream, play,
};
use ssdlab_trace::{ClampedTimes, Flags, Request, RequestKind, TraceError};

pub use outcome::{
    CommandLatency, OneOrSeveral, Replayed, SimulationOutcome, SimulationSample, TraceFiles,
};
use recorder::SimulationRecorder;
pub use settings::{Settings, SimulationJob, Synthetic};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulationStage {
    /// Conditioning the drive.
    Conditioning,
    /// Requests that are not counted.
    WarmUp,
    /// Requests that are counted.
    Running,
}

/// Receives the progress of a simulation: the stage, how much of it is done, and its total, or
/// zeros if unknown. It may end the simulation.
pub type SimulationProgress<'a> = &'a mut dyn FnMut(SimulationStage, u64, u64) -> ControlFlow<()>;

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
pub fn synthetic(
    job: &SimulationJob<Synthetic>,
    progress: SimulationProgress<'_>,
) -> Result<SimulationOutcome, SimulationError> {
    let (mut drive, conditioned) = prepared(job, progress)?;
    let span_pages = job.drive.span_pages();
    let Synthetic { workload, warm_up_ppm, overwrites_ppm, queue_depth } = job.source;
    let workload = DriveWorkload { span_pages, ..workload };
    let mut requests = RequestGenerator::new(workload, job.drive.seed ^ WORKLOAD_SEED);
    let count = |capacities_ppm: u64| {
        let pages = u128::from(span_pages) * u128::from(capacities_ppm) / u128::from(MILLION);
        u64::try_from(pages / u128::from(workload.request_pages)).unwrap_or(u64::MAX)
    };
    let mut now = Nanos::ZERO;
    let mut perform = |drive: &mut Drive,
                       stage,
                       count: u64,
                       each: &mut dyn FnMut(&Drive, PlayedRequest)|
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
    perform(&mut drive, SimulationStage::WarmUp, count(warm_up_ppm), &mut |_, _| {})?;
    drive.reset_counts();
    let mut recorder = SimulationRecorder::new(&drive);
    perform(&mut drive, SimulationStage::Running, count(overwrites_ppm), &mut |drive, played| {
        recorder.record(drive, &played.command, played.submitted, played.done);
    })?;
    Ok(recorder.finish(&drive, job.drive.seed, Settings::of_pattern(job), &conditioned, None))
}

/// Performs the requests of a trace at their times. A truncated trace is performed as far as it
/// goes. `clamped` says which of the times that were read went backwards.
pub fn replay<T>(
    job: &SimulationJob<TraceFiles>,
    mut trace: T,
    clamped: impl FnOnce(&T) -> ClampedTimes,
    progress: SimulationProgress<'_>,
) -> Result<SimulationOutcome, SimulationError>
where
    T: Iterator<Item = Result<Request, TraceError>>,
{
    let (mut drive, conditioned) = prepared(job, progress)?;
    let mut recorder = SimulationRecorder::new(&drive);
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
            tell(progress, SimulationStage::Running, requests, 0)?;
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
    job: &SimulationJob<S>,
    progress: SimulationProgress<'_>,
) -> Result<(Drive, ConditioningOutcome), SimulationError> {
    tell(progress, SimulationStage::Conditioning, 0, job.drive.span_pages().into())?;
    let mut watch = |done, total| progress(SimulationStage::Conditioning, done, total);
    job.drive.prepare(&mut watch).map_err(|error| match error {
        ConditionError::Stopped => SimulationError::Interrupted,
        refused @ ConditionError::Refused(_) => SimulationError::Condition(refused),
    })
}

fn tell(
    progress: SimulationProgress<'_>,
    stage: SimulationStage,
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
        RequestKind::Read => Command::Read(extent),
        RequestKind::Write if request.flags.contains(Flags::FUA) => Command::WriteFua(extent),
        RequestKind::Write => Command::Write(extent, Stream::default()),
        RequestKind::Flush => Command::Flush,
        RequestKind::Discard => Command::Discard(extent),
        RequestKind::WriteZeroes => Command::WriteZeroes(extent),
    };
    let flush = |flag| {
        let is_asked = request.kind != RequestKind::Flush && request.flags.contains(flag);
        is_asked.then_some(Command::Flush)
    };
    let after = flush(Flags::FUA).filter(|_| request.kind != RequestKind::Write);
    [flush(Flags::PREFLUSH), Some(command), after].into_iter().flatten()
}

#[cfg(test)]
mod tests;
