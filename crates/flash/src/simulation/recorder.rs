//! Records a drive at work: latencies, its state over time, and the final sums.

use crate::{
    Command, ConditioningOutcome, Drive, DriveSample, FlashTotals, MomentSpacing, Moments, Nanos,
    OperationReason, WearSummary,
};
use hdrhistogram::Histogram;
use ssdlab_stats::latency::LatencySummary;

use super::Settings;
use super::outcome::{CommandLatency, Replayed, SimulationOutcome, SimulationSample};

/// The maximum number of samples of the series; there are at least half as many.
const MOST_SAMPLES: usize = 200;

const KINDS: [&str; 5] = ["read", "write", "flush", "discard", "write zeroes"];

/// The recording of a drive at work.
pub(super) struct SimulationRecorder {
    is_timed: bool,
    began: Option<Nanos>,
    ended: Nanos,
    latencies: [Histogram<u64>; KINDS.len()],
    totals: FlashTotals,
    wear: WearSummary,
    course: Moments,
}

impl SimulationRecorder {
    /// Starts recording a drive.
    pub fn new(drive: &Drive) -> Self {
        // Three digits are kept; the range grows as needed.
        let histogram = || Histogram::new(3).expect("3 digits are in its range");
        Self {
            is_timed: drive.is_timed(),
            began: None,
            ended: Nanos::ZERO,
            latencies: std::array::from_fn(|_| histogram()),
            totals: drive.flash_totals(),
            wear: drive.wear(),
            course: Moments::new(MomentSpacing::Commands, MOST_SAMPLES),
        }
    }

    /// Records a completed command.
    #[inline]
    pub fn record(&mut self, drive: &Drive, command: &Command, submitted: Nanos, done: Nanos) {
        let began = *self.began.get_or_insert(submitted);
        self.ended = self.ended.max(done);
        if self.is_timed {
            let kind = match command {
                Command::Read(_) => 0,
                Command::Write(..) | Command::WriteFua(_) => 1,
                Command::Flush => 2,
                Command::Discard(_) => 3,
                Command::WriteZeroes(_) => 4,
            };
            let recorded = self.latencies[kind].record(done.since(submitted).0);
            recorded.expect("the histogram grows as needed");
        }
        self.course.record(drive, self.ended.since(began));
    }

    /// The outcome of a completed job.
    pub fn finish(
        self,
        drive: &Drive,
        seed: u64,
        settings: Settings,
        conditioned: &ConditioningOutcome,
        trace: Option<Replayed>,
    ) -> SimulationOutcome {
        let specification = drive.specification();
        let (host, flash, wear) = (*drive.host_counters(), drive.flash_counters(), drive.wear());
        let did = drive.activity_since(&self.totals);
        let elapsed = self.ended.since(self.began.unwrap_or_default());
        let timed = (self.is_timed && elapsed > Nanos::ZERO).then_some(elapsed.0);
        let per_second = |bytes: u64| timed.map(|ns| bytes as f64 * 1e9 / ns as f64);
        let programmed =
            OperationReason::ALL.map(|why| (why.name().to_owned(), flash.programs.count(why)));
        let latency = |(histogram, kind): (&Histogram<u64>, &str)| {
            let summary = LatencySummary::of(histogram)?;
            Some(CommandLatency { command: kind.to_owned(), count: histogram.len(), summary })
        };
        SimulationOutcome {
            drive: specification.name.clone(),
            capacity_bytes: specification.capacity_bytes(),
            spare_factor: specification.spare_factor(),
            page_bytes: specification.page_bytes,
            seed,
            settings,
            conditioning_rounds: conditioned.rounds,
            is_steady: conditioned.is_steady,
            trace,
            write_amplification: (host.written_bytes > 0)
                .then(|| did.flash_written_bytes as f64 / host.written_bytes as f64),
            host,
            flash_pages: flash.programs.total(),
            flash_pages_by_reason: programmed.into_iter().filter(|(_, n)| *n > 0).collect(),
            flash_read_pages: flash.reads.total(),
            erases: did.erases,
            flash_written_bytes: did.flash_written_bytes,
            lifetime: wear.lifetime(&self.wear, host.written_bytes, elapsed),
            wear,
            is_worn_out: drive.is_worn_out(),
            simulated_ns: timed,
            written_bytes_per_second: per_second(host.written_bytes),
            read_bytes_per_second: per_second(host.read_bytes),
            stalled_ns: timed.map(|_| did.stalled_ns),
            latencies: self.latencies.iter().zip(KINDS).filter_map(latency).collect(),
            series: series(self.course.end(drive, elapsed)),
        }
    }
}

fn series(moments: Vec<DriveSample>) -> Vec<SimulationSample> {
    let (mut host_bytes, mut flash_bytes) = (0, 0);
    let sample = |moment: DriveSample| {
        let DriveSample { host_page_bytes, flash_written_bytes, .. } = moment;
        let host = host_page_bytes - std::mem::replace(&mut host_bytes, host_page_bytes);
        let flash = flash_written_bytes - std::mem::replace(&mut flash_bytes, flash_written_bytes);
        let write_amplification = (host > 0).then(|| flash as f64 / host as f64);
        SimulationSample { moment, write_amplification }
    };
    moments.into_iter().map(sample).collect()
}
