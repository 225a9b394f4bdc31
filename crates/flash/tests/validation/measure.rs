//! Measuring the model at a point of the theory.

use ssdlab_flash::{Condition, Drive, DriveWorkload, Nanos, RequestGenerator, Specification, play};

/// A drive outside time, as the theory has it.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    pub spare_factor: f64,
    pub pages_per_block: u32,
    pub mapping: &'a str,
    pub collection: &'a str,
    pub frontiers: &'a str,
    pub log: f64,
    /// The part of the capacity that holds data.
    pub fill: f64,
    /// Capacities overwritten before counting begins.
    pub warm_up: f64,
}

impl Default for Point<'_> {
    fn default() -> Self {
        Self {
            spare_factor: 0.10,
            pages_per_block: 64,
            mapping: "page",
            collection: "greedy",
            frontiers: "one",
            log: 0.03,
            fill: 1.0,
            warm_up: 3.0,
        }
    }
}

/// What each page that the host writes costs.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    pub amplification: f64,
    pub erases: f64,
}

/// Enough that a block more or less is no matter, even of the spare space alone.
const BLOCKS: u32 = 16_384;

/// A block-mapped drive settles sooner, so that not all of its copies need be made.
const WARM_UP_OF_BLOCKS: f64 = 0.2;

const SEED: u64 = 1;

pub fn ppm(share: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let ppm = (share * 1e6).round() as u32;
    ppm
}

fn specification(point: Point<'_>) -> Specification {
    let blocks = if point.pages_per_block > 256 { 1024 } else { BLOCKS };
    let (choices, collection) = match point.collection.split_once("-choices") {
        Some((choices, _)) => (choices, "d-choices"),
        None => ("10", point.collection),
    };
    let text = format!(
        "name = \"point\"\ncapacity = {}\nspare_factor = {}\npages_per_block = {}\n\
         mapping = \"{}\"\ncollection = \"{}\"\nfrontiers = \"{}\"\nlog_fraction = {}\n\
         choices = {choices}",
        u64::from(blocks) * u64::from(point.pages_per_block) * 4096,
        point.spare_factor,
        point.pages_per_block,
        point.mapping,
        collection,
        point.frontiers,
        point.log
    );
    Specification::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Uniform single-page writes in the steady state.
pub fn steady(point: Point<'_>) -> Measured {
    steady_with(point, |_| {})
}

/// Writes in the steady state, other than uniform ones of single pages.
pub fn steady_with(point: Point<'_>, change: impl FnOnce(&mut DriveWorkload)) -> Measured {
    let mut drive = Drive::new(specification(point), SEED);
    let pages = f64::from(drive.specification().logical_pages);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let span = (pages * point.fill) as u32;
    let mut workload = DriveWorkload::uniform_writes(span);
    change(&mut workload);
    let mut requests = RequestGenerator::new(workload, SEED);
    drive
        .condition(Condition::Filled, span, SEED, &mut ssdlab_flash::unwatched)
        .expect("the span is on it");
    let (warm_up, counted) =
        if point.mapping == "page" { (point.warm_up, 2.0) } else { (WARM_UP_OF_BLOCKS, 0.5) };
    let mut write = |drive: &mut Drive, capacities: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let count = (capacities * f64::from(span) / f64::from(workload.request_pages)) as u64;
        play(drive, &mut requests, count, 1, Nanos::ZERO, |_, _| {}).expect("it is on the drive");
    };
    write(&mut drive, warm_up);
    drive.reset_counts();
    write(&mut drive, counted);
    let written = drive.host_counters().written_pages as f64;
    Measured {
        amplification: drive.flash_counters().programs.total() as f64 / written,
        erases: drive.flash_counters().erases.total() as f64 / written,
    }
}

/// The amplification in each window of a tenth of the capacity, from a fill or a purge on.
pub fn amplification_windows(
    spare_factor: f64,
    pages_per_block: u32,
    is_filled: bool,
    windows: usize,
) -> Vec<f64> {
    let point = Point { spare_factor, pages_per_block, ..Point::default() };
    let mut drive = Drive::new(specification(point), SEED);
    let pages = drive.specification().logical_pages;
    let condition = if is_filled { Condition::Filled } else { Condition::Purged };
    drive
        .condition(condition, pages, SEED, &mut ssdlab_flash::unwatched)
        .expect("the span is on it");
    let mut requests = RequestGenerator::new(DriveWorkload::uniform_writes(pages), SEED);
    let window = u64::from(pages / 10);
    (0..windows)
        .map(|_| {
            drive.reset_counts();
            play(&mut drive, &mut requests, window, 1, Nanos::ZERO, |_, _| {})
                .expect("it is on the drive");
            drive.flash_counters().programs.total() as f64 / window as f64
        })
        .collect()
}
