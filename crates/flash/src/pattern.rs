//! Synthetic requests: which page comes next, and whether it is written, read or discarded.

use crate::command::{Command, Extent, Stream};
use crate::drive::Drive;
use crate::nand::Nand;
use crate::random::DriveRandom;
use crate::units::{LogicalPage, MILLION};

/// Which page comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// The one after the last, and the first after the end.
    Sequential,
    /// Any, each as likely as any other.
    Uniform,
    /// The page of rank r with a probability proportional to `1 / r^skew`. Ranks are scattered over
    /// the span.
    Zipf {
        /// The skew, in millionths.
        skew_ppm: u32,
    },
    /// One of the hot pages, which come first in the span, with a given probability; any of the
    /// others otherwise.
    HotCold {
        /// The share of the requests that goes to hot pages, in millionths.
        requests_ppm: u32,
        /// The share of the pages that is hot, in millionths.
        pages_ppm: u32,
    },
}

impl Pattern {
    /// Its name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Uniform => "uniform",
            Self::Zipf { .. } => "zipf",
            Self::HotCold { .. } => "hotcold",
        }
    }
}

/// The requests to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveWorkload {
    /// Which page comes next.
    pub pattern: Pattern,
    /// Requests stay within this number of pages at the start of the drive.
    pub span_pages: u32,
    /// How many pages a request reads or writes.
    pub request_pages: u32,
    /// The share of requests that read, in millionths.
    pub reads_ppm: u32,
    /// The share of requests that discard a random page that holds data, in millionths; with the
    /// share that reads at most a million.
    pub trims_ppm: u32,
}

impl DriveWorkload {
    /// Writes of single pages anywhere on a span.
    pub const fn uniform_writes(span_pages: u32) -> Self {
        Self { pattern: Pattern::Uniform, span_pages, request_pages: 1, reads_ppm: 0, trims_ppm: 0 }
    }
}

/// The requests of a workload, one after another.
#[derive(Debug, Clone)]
pub struct RequestGenerator {
    workload: DriveWorkload,
    /// The number of places where a request can begin: multiples of its length.
    slots: u32,
    hot_slots: u32,
    zipf: Option<Zipf>,
    next: u32,
    random: DriveRandom,
}

impl RequestGenerator {
    /// The requests of a seed. The span must have room for at least one request.
    pub fn new(workload: DriveWorkload, seed: u64) -> Self {
        let slots = workload.span_pages / workload.request_pages;
        assert!(slots > 0, "a request is longer than the span");
        let (hot_slots, zipf) = match workload.pattern {
            Pattern::HotCold { pages_ppm, .. } => (share(slots, pages_ppm), None),
            Pattern::Zipf { skew_ppm } => (0, Some(Zipf::new(slots, skew_ppm))),
            Pattern::Sequential | Pattern::Uniform => (0, None),
        };
        Self { workload, slots, hot_slots, zipf, next: 0, random: DriveRandom::new(seed) }
    }

    /// The next request, and the page it begins with.
    pub fn next<N: Nand>(&mut self, drive: &Drive<N>) -> (LogicalPage, Command) {
        let page_bytes = u64::from(drive.specification().page_bytes);
        let DriveWorkload { request_pages, reads_ppm, trims_ppm, .. } = self.workload;
        if self.happens(trims_ppm, MILLION)
            && let Some(page) = self.mapped_page(drive)
        {
            let offset_bytes = u64::from(page.0) * page_bytes;
            return (page, Command::Discard(Extent { offset_bytes, length_bytes: page_bytes }));
        }
        let (slot, stream) = self.slot();
        let page = LogicalPage(slot * request_pages);
        let extent = Extent {
            offset_bytes: u64::from(page.0) * page_bytes,
            length_bytes: u64::from(request_pages) * page_bytes,
        };
        // A share of all requests, of which those that discard are gone.
        if self.happens(reads_ppm, MILLION - trims_ppm) {
            (page, Command::Read(extent))
        } else {
            (page, Command::Write(extent, stream))
        }
    }

    /// Whether this is one of so many times of all.
    fn happens(&mut self, times: u32, of: u32) -> bool {
        times > 0 && self.random.below(of) < times
    }

    fn slot(&mut self) -> (u32, Stream) {
        match self.workload.pattern {
            Pattern::Uniform => (self.random.below(self.slots), Stream::Cold),
            Pattern::Sequential => {
                let slot = self.next;
                self.next = if slot + 1 == self.slots { 0 } else { slot + 1 };
                (slot, Stream::Cold)
            }
            Pattern::HotCold { requests_ppm, .. } => {
                let is_hot = self.hot_slots == self.slots
                    || (self.hot_slots > 0 && self.happens(requests_ppm, MILLION));
                if is_hot {
                    (self.random.below(self.hot_slots), Stream::Hot)
                } else {
                    let cold = self.random.below(self.slots - self.hot_slots);
                    (self.hot_slots + cold, Stream::Cold)
                }
            }
            Pattern::Zipf { .. } => {
                let rank = self.zipf.as_ref().map_or(0, |zipf| zipf.rank(&mut self.random));
                (scatter(rank, self.slots), Stream::Cold)
            }
        }
    }

    /// A random page that holds data; none if that takes too long to find.
    fn mapped_page<N: Nand>(&mut self, drive: &Drive<N>) -> Option<LogicalPage> {
        const TRIES: u32 = 10_000;
        (0..TRIES)
            .map(|_| LogicalPage(self.random.below(self.workload.span_pages)))
            .find(|page| drive.is_mapped(*page))
    }
}

/// A share of a number, at most all of it.
fn share(of: u32, ppm: u32) -> u32 {
    let part = u64::from(of) * u64::from(ppm) / u64::from(MILLION);
    u32::try_from(part).map_or(of, |part| part.min(of))
}

/// Maps each rank to a page of its own, unrelated to those of neighbouring ranks.
fn scatter(rank: u32, pages: u32) -> u32 {
    // The prime next to 2^32 divided by the golden ratio: it has no divisor in common with a
    // number of pages, and its multiples spread evenly (Knuth, "The art of computer programming",
    // volume 3, section 6.4).
    const PRIME: u64 = 2_654_435_761;
    let page = u64::from(rank) * PRIME % u64::from(pages);
    u32::try_from(page).expect("smaller than the number of pages")
}

/// Zipf's distribution over ranks from 0, by rejection-inversion (Hörmann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", 1996). The
/// logarithms are those of the `libm` crate, which are the same on every machine.
#[derive(Debug, Clone)]
struct Zipf {
    skew: f64,
    ranks: u32,
    /// The integral up to the first rank, less that rank's own share, and up to the last.
    low: f64,
    high: f64,
    /// No test is needed closer to a rank than this.
    sure: f64,
}

impl Zipf {
    fn new(ranks: u32, skew_ppm: u32) -> Self {
        let skew = f64::from(skew_ppm) / f64::from(MILLION);
        let integral = |x| Self::integral(skew, x);
        let sure = 2.0 - Self::inverse(skew, integral(2.5) - libm::exp(-skew * libm::log(2.0)));
        Self { skew, ranks, low: integral(1.5) - 1.0, high: integral(f64::from(ranks) + 0.5), sure }
    }

    fn rank(&self, random: &mut DriveRandom) -> u32 {
        loop {
            let u = self.high + random.fraction() * (self.low - self.high);
            let x = Self::inverse(self.skew, u);
            let rank = libm::round(x).clamp(1.0, f64::from(self.ranks));
            let is_sure = rank - x <= self.sure;
            let weight = libm::exp(-self.skew * libm::log(rank));
            if is_sure || u >= Self::integral(self.skew, rank + 0.5) - weight {
                // Between 1 and the number of ranks.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                return rank as u32 - 1;
            }
        }
    }

    /// The integral of `1 / x^skew` from 1.
    fn integral(skew: f64, x: f64) -> f64 {
        let log = libm::log(x);
        let t = (1.0 - skew) * log;
        // (e^t - 1) / t, which is 1 at 0.
        let ratio = if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t / 2.0 };
        log * ratio
    }

    fn inverse(skew: f64, y: f64) -> f64 {
        let t = (y * (1.0 - skew)).max(-1.0);
        let ratio = if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t / 2.0 };
        libm::exp(ratio * y)
    }
}

#[cfg(test)]
mod tests;
