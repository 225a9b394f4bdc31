//! A bench for simulated drives: performs the tests of published figures on them.

use std::collections::BTreeMap;

use ssdlab_quantity::Bytes;

use crate::command::{Command, Extent};
use crate::condition::{Condition, unwatched};
use crate::drive::Drive;
use crate::drive_file::{DriveFile, DriveFileError};
use crate::figures::{
    Discards, DriveFigure, FigureCheck, FigureQuantity, InitialState, Load, PageOrder, Test, few,
};
use crate::pattern::{DriveWorkload, Pattern, RequestGenerator};
use crate::play::play;
use crate::units::{MILLION, Nanos};

/// The result of a test.
#[derive(Debug, Clone, Copy)]
struct Done {
    /// The number that the figure counts: all discards together are one.
    requests: u64,
    bytes: u64,
    elapsed: Nanos,
    /// What a time is compared with, in nanoseconds.
    time: f64,
}

impl FigureQuantity {
    /// The model's result, as a multiple of the figure.
    fn ratio(self, done: Done) -> f64 {
        let seconds = done.elapsed.0 as f64 / 1e9;
        match self {
            Self::BytesPerSecond(rate) => done.bytes as f64 / seconds / rate as f64,
            Self::RequestsPerSecond(rate) => done.requests as f64 / seconds / rate,
            Self::Nanos(time) => done.time / time as f64,
        }
    }
}

impl DriveFigure {
    /// The drive's result, as a multiple of the figure; none if the figure is not checked.
    pub fn compare(&self, bench: &mut Bench<'_>) -> Option<Result<f64, DriveFileError>> {
        match &self.check {
            FigureCheck::Tested { expected, test, .. } => {
                Some(test.perform(bench).map(|done| expected.ratio(done)))
            }
            FigureCheck::Unchecked { .. } => None,
        }
    }

    /// Whether the drive reproduces the figure within its tolerance; true if the figure is not
    /// checked.
    pub fn is_met(&self, bench: &mut Bench<'_>) -> Result<bool, DriveFileError> {
        match (&self.check, self.compare(bench)) {
            (FigureCheck::Tested { within, .. }, Some(ratio)) => {
                Ok((ratio? - 1.0).abs() <= *within)
            }
            _ => Ok(true),
        }
    }
}

/// A drive on which tests are performed, each from the same prepared state.
#[derive(Debug)]
pub struct Bench<'a> {
    file: &'a DriveFile,
    /// Prepared drives, by the number of erase blocks that the drive is scaled down to, and its
    /// state.
    prepared: BTreeMap<(u32, InitialState), Drive>,
}

/// The seed of a test's requests and of the drive's own choices.
const SEED: u64 = 1;

impl<'a> Bench<'a> {
    /// A bench for a file's drive.
    pub const fn new(file: &'a DriveFile) -> Self {
        Self { file, prepared: BTreeMap::new() }
    }

    /// The drive, scaled down to about so many erase blocks, in a state.
    fn drive(&mut self, blocks: u32, state: InitialState) -> Result<Drive, DriveFileError> {
        if let Some(drive) = self.prepared.get(&(blocks, state)) {
            return Ok(drive.clone());
        }
        let whole = self.file.resolve()?;
        let block_bytes = u64::from(whole.pages_per_block) * u64::from(whole.page_bytes);
        let mut file = self.file.clone();
        let most_bytes = block_bytes.saturating_mul(blocks.into());
        file.scale_down_to(Bytes(whole.capacity_bytes().min(most_bytes)));
        let specification = file.resolve()?;
        if specification.logical_pages > MOST_PAGES {
            return Err(DriveFileError {
                message: format!(
                    "the test needs a drive of {} pages; the maximum is {MOST_PAGES}",
                    specification.logical_pages
                ),
                at: None,
                help: "choose fewer `blocks` for the test".to_owned(),
            });
        }
        let mut drive = Drive::new(specification, SEED);
        let condition = match state {
            InitialState::Purged => Condition::Purged,
            InitialState::Filled => Condition::Filled,
        };
        let span = drive.specification().logical_pages;
        drive.condition(condition, span, SEED, &mut unwatched).map_err(|error| failed(&error))?;
        self.prepared.insert((blocks, state), drive.clone());
        Ok(drive)
    }
}

fn failed(error: &dyn std::error::Error) -> DriveFileError {
    DriveFileError {
        message: format!("a figure cannot be compared with this drive: {error}"),
        at: None,
        help: "choose a test that suits the drive".to_owned(),
    }
}

/// The most pages of a drive made for a test.
const MOST_PAGES: u32 = 1 << 24;

impl Test {
    fn perform(self, bench: &mut Bench<'_>) -> Result<Done, DriveFileError> {
        match self {
            Self::Read(load) => load.perform(bench, MILLION),
            Self::Write(load) => load.perform(bench, 0),
            Self::Discard(discards) => discards.perform(bench),
        }
    }
}

impl Load {
    fn perform(self, bench: &mut Bench<'_>, reads_ppm: u32) -> Result<Done, DriveFileError> {
        let mut drive = bench.drive(self.blocks, self.state)?;
        let specification = drive.specification();
        let pages = |bytes: u64| bytes.div_ceil(u64::from(specification.page_bytes));
        let request_pages = u32::try_from(pages(self.request.0)).unwrap_or(u32::MAX);
        // The cast saturates.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let span_pages = (f64::from(specification.logical_pages) * self.span) as u32;
        let pattern = match self.order {
            PageOrder::Sequential => Pattern::Sequential,
            PageOrder::Uniform => Pattern::Uniform,
        };
        let request_pages = request_pages.clamp(1, span_pages.max(1));
        let request_bytes = u64::from(request_pages) * u64::from(specification.page_bytes);
        let workload = DriveWorkload {
            pattern,
            span_pages: span_pages.clamp(request_pages, specification.logical_pages),
            request_pages,
            reads_ppm,
            trims_ppm: 0,
        };
        let mut requests = RequestGenerator::new(workload, SEED);
        let depth = self.depth.max(1) as usize;
        let mut times = Vec::new();
        let mut run = |count, start| {
            times.clear();
            play(&mut drive, &mut requests, count, depth, start, |_, played| {
                times.push(played.done.since(played.submitted));
            })
            .map_err(|refusal| failed(&refusal))
        };
        let begun = run(self.before, Nanos::ZERO)?;
        let count = self.requests.max(1);
        let ended = if self.flushed || self.fua {
            times.clear();
            synced(&mut drive, &mut requests, count, self.fua, begun, &mut times)?
        } else {
            run(count, begun)?
        };
        let time = self.time(&mut times);
        Ok(Done {
            requests: count,
            bytes: count * request_bytes,
            elapsed: ended.since(begun),
            time,
        })
    }

    /// The percentile of requests' times, or their mean.
    fn time(&self, times: &mut [Nanos]) -> f64 {
        let Some(percentile) = self.percentile else {
            return times.iter().map(|time| time.0 as f64).sum::<f64>() / times.len() as f64;
        };
        times.sort_unstable();
        // The cast saturates.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = (percentile / 100.0 * times.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).map_or(0.0, |time| time.0 as f64)
    }
}

/// Performs requests one by one, each with forced unit access or a flush after it, and notes what
/// each took. Returns when the last is safe.
fn synced(
    drive: &mut Drive,
    requests: &mut RequestGenerator,
    count: u64,
    fua: bool,
    start: Nanos,
    times: &mut Vec<Nanos>,
) -> Result<Nanos, DriveFileError> {
    let mut now = start;
    for _ in 0..count {
        let (_, command) = requests.next(drive);
        let done = match command {
            Command::Write(extent, _) if fua => drive.submit(now, Command::WriteFua(extent)),
            _ => drive
                .submit(now, command)
                .and_then(|written| drive.submit(written.at, Command::Flush)),
        };
        let done = done.map_err(|refusal| failed(&refusal))?.at;
        times.push(done.since(now));
        now = done;
    }
    Ok(now)
}

impl Discards {
    fn perform(self, bench: &mut Bench<'_>) -> Result<Done, DriveFileError> {
        let specification = bench.file.resolve()?;
        let page_bytes = u64::from(specification.page_bytes);
        let block_bytes = u64::from(specification.pages_per_block) * page_bytes;
        let commands = u64::from(self.commands.max(1));
        let each = self.size.0 / commands / page_bytes * page_bytes;
        let blocks = u32::try_from(self.size.0 / block_bytes + 1).unwrap_or(u32::MAX);
        let mut drive = bench.drive(blocks.max(few()), InitialState::Filled)?;
        let mut now = Nanos::ZERO;
        for number in 0..commands {
            let extent = Extent { offset_bytes: number * each, length_bytes: each };
            let done = drive.submit(now, Command::Discard(extent));
            now = done.map_err(|refusal| failed(&refusal))?.at;
        }
        Ok(Done { requests: 1, bytes: self.size.0, elapsed: now, time: now.0 as f64 })
    }
}
