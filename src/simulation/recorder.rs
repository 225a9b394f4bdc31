//! Watching a drive at work: latencies, its state over time, and the sums at the end.

use hdrhistogram::Histogram;
use ssdlab_flash::{Apart, Command, Course, Drive, Moment, Nanos, WearSummary, Why};
use ssdlab_quantity::DAYS_PER_YEAR;

use super::outcome::{Latency, Lifetime, Outcome, Sample, WearOutcome};

/// Samples of the series: so many at most, and half of them at least.
const MOST_SAMPLES: usize = 200;

const KINDS: [&str; 5] = ["read", "write", "flush", "discard", "write zeroes"];

const NANOS_PER_YEAR: f64 = DAYS_PER_YEAR * 86_400.0 * 1e9;

/// What is seen of a drive at work.
pub(super) struct Recorder {
    is_timed: bool,
    began: Option<Nanos>,
    ended: Nanos,
    latencies: [Histogram<u64>; KINDS.len()],
    wear: WearSummary,
    course: Course,
}

impl Recorder {
    /// Begins to watch a drive.
    pub fn new(drive: &Drive) -> Self {
        // Three digits are kept; the range grows as it has to.
        let histogram = || Histogram::new(3).expect("3 digits are in its range");
        Self {
            is_timed: drive.is_timed(),
            began: None,
            ended: Nanos::ZERO,
            latencies: std::array::from_fn(|_| histogram()),
            wear: drive.wear(),
            course: Course::new(Apart::Commands, MOST_SAMPLES),
        }
    }

    /// A command was done.
    #[inline]
    pub fn record(&mut self, drive: &Drive, command: &Command, submitted: Nanos, done: Nanos) {
        self.began.get_or_insert(submitted);
        self.ended = self.ended.max(done);
        if self.is_timed {
            let kind = match command {
                Command::Read(_) => 0,
                Command::Write(..) => 1,
                Command::Flush => 2,
                Command::Discard(_) => 3,
                Command::WriteZeroes(_) => 4,
            };
            let recorded = self.latencies[kind].record(done.since(submitted).0);
            recorded.expect("the histogram grows as it has to");
        }
        self.course.record(drive, self.ended);
    }

    /// Adds up what was seen.
    pub fn finish(self, drive: &Drive, outcome: &mut Outcome) {
        let (asked, work) = (drive.asked(), drive.work());
        let specification = drive.specification();
        let programs = work.programs;
        outcome.host_pages = asked.written_pages;
        outcome.host_written_bytes = asked.written_bytes;
        outcome.host_read_bytes = asked.read_bytes;
        outcome.discarded_bytes = asked.discarded_bytes;
        outcome.trimmed_pages = asked.trimmed_pages;
        outcome.commands = asked.commands;
        outcome.flushes = asked.flushes;
        outcome.flash_pages = programs.total();
        outcome.flash_pages_by_reason = Why::ALL
            .map(|why| (why.name().to_owned(), programs.count(why)))
            .into_iter()
            .filter(|(_, pages)| *pages > 0)
            .collect();
        outcome.flash_read_pages = work.reads.total();
        outcome.flash_written_bytes =
            programs.total() * u64::from(specification.stored_page_bytes());
        outcome.write_amplification = (asked.written_bytes > 0)
            .then(|| outcome.flash_written_bytes as f64 / asked.written_bytes as f64);
        outcome.erases = work.erases.total() * u64::from(specification.superblock);
        let wear = drive.wear();
        let elapsed = self.ended.since(self.began.unwrap_or_default());
        outcome.lifetime = specification.wear.endurance.and_then(|endurance| {
            lifetime(&self.wear, &wear, endurance, asked.written_bytes, elapsed)
        });
        outcome.wear = WearOutcome::new(&wear, specification.wear.endurance);
        outcome.is_worn_out = drive.is_worn_out();
        if self.is_timed && elapsed > Nanos::ZERO {
            let per_second = |bytes: u64| Some(bytes as f64 * 1e9 / elapsed.0 as f64);
            outcome.simulated_ns = Some(elapsed.0);
            outcome.written_bytes_per_second = per_second(asked.written_bytes);
            outcome.read_bytes_per_second = per_second(asked.read_bytes);
            outcome.stalled_ns = Some(work.stalled.0);
        }
        let seen = self.latencies.iter().zip(KINDS).filter(|(histogram, _)| !histogram.is_empty());
        outcome.latencies = seen.map(|(histogram, kind)| latency(kind, histogram)).collect();
        let began = self.began.unwrap_or_default();
        outcome.series = series(&self.course.end(drive, self.ended), began);
    }
}

fn series(moments: &[Moment], began: Nanos) -> Vec<Sample> {
    let (mut host_pages, mut flash_pages) = (0, 0);
    let sample = |moment: &Moment| {
        let host = moment.host_pages - std::mem::replace(&mut host_pages, moment.host_pages);
        let flash = moment.flash_pages - std::mem::replace(&mut flash_pages, moment.flash_pages);
        Sample {
            at_ns: moment.at.since(began).0,
            host_pages: moment.host_pages,
            free_blocks: moment.free_blocks,
            free_slc_blocks: moment.free_slc_blocks,
            mapped_pages: moment.mapped_pages,
            write_amplification: (host > 0).then(|| flash as f64 / host as f64),
        }
    };
    moments.iter().map(sample).collect()
}

fn latency(command: &str, histogram: &Histogram<u64>) -> Latency {
    Latency {
        command: command.to_owned(),
        count: histogram.len(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p999_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
    }
}

/// How long a drive lasts that goes on as it did between two moments. A trace's time is the only
/// one there is for a drive outside time.
fn lifetime(
    before: &WearSummary,
    after: &WearSummary,
    endurance: u32,
    written_bytes: u64,
    elapsed: Nanos,
) -> Option<Lifetime> {
    let grown = after.mean() - before.mean();
    let most_grown = f64::from(after.most - before.most);
    if grown <= 0.0 || written_bytes == 0 {
        return None;
    }
    let endurance = f64::from(endurance);
    let periods = (endurance - after.mean()).max(0.0) / grown;
    // The most worn block may have been spared for once, but it will not be for ever.
    let first = (endurance - f64::from(after.most)).max(0.0) / most_grown.max(grown);
    let years =
        |periods: f64| (elapsed > Nanos::ZERO).then(|| periods * elapsed.0 as f64 / NANOS_PER_YEAR);
    Some(Lifetime {
        host_bytes_to_first_block: first * written_bytes as f64,
        host_bytes_to_average: periods * written_bytes as f64,
        years_to_average: years(periods),
        years_to_first_block: years(first),
    })
}
