//! Reads a phase, whose counts lie beside each other in one object.
//!
//! Serde would sort such an object's keys by reading all of it into memory first, which takes most
//! of the time of reading a long run.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use ssdlab_flash::FlashActivity;

use super::ledger::Ledger;
use super::record::Phase;
use super::work::{Latency, Series, Work};
use crate::meter::block::Counters;

/// A phase as it is stored.
#[derive(Deserialize)]
struct Flat {
    name: String,
    time_ns: Option<u64>,
    settled_ns: Option<u64>,
    is_quiet: Option<bool>,
    cpu_ns: Option<u64>,
    application_bytes: Option<u64>,
    read_requests: Option<u64>,
    read_bytes: Option<u64>,
    write_requests: Option<u64>,
    #[serde(default)]
    write_merges: u64,
    written_bytes: Option<u64>,
    commits: Option<u64>,
    discard_requests: Option<u64>,
    discarded_bytes: Option<u64>,
    flushes: Option<u64>,
    at_return: Option<Counters>,
    flash_written_bytes: Option<u64>,
    flash_read_bytes: Option<u64>,
    erases: Option<u64>,
    #[serde(default)]
    hottest_erases: u64,
    repeats_until_worn: Option<f64>,
    years_until_worn: Option<f64>,
    stalled_ns: Option<u64>,
    lifetime_kib: Option<u64>,
    operations: Option<u64>,
    ops_per_second: Option<f64>,
    bytes_per_second: Option<f64>,
    latency: Option<Latency>,
    series: Option<Series>,
    #[serde(default)]
    reported: BTreeMap<String, f64>,
    remark: Option<String>,
    ledger: Option<Ledger>,
}

impl<'de> Deserialize<'de> for Phase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Flat::deserialize(deserializer).map(Self::from)
    }
}

impl From<Flat> for Phase {
    fn from(flat: Flat) -> Self {
        Self {
            device: flat.device(),
            flash: flat.flash(),
            name: flat.name,
            time_ns: flat.time_ns,
            settled_ns: flat.settled_ns,
            is_quiet: flat.is_quiet,
            cpu_ns: flat.cpu_ns,
            application_bytes: flat.application_bytes,
            at_return: flat.at_return,
            lifetime_kib: flat.lifetime_kib,
            commits: flat.commits,
            work: work(
                flat.operations,
                flat.ops_per_second,
                flat.bytes_per_second,
                flat.latency.zip(flat.series),
            ),
            reported: flat.reported,
            remark: flat.remark,
            ledger: flat.ledger,
        }
    }
}

/// A group of counts is there if all of it is.
impl Flat {
    fn device(&self) -> Option<Counters> {
        Some(Counters {
            read_requests: self.read_requests?,
            read_bytes: self.read_bytes?,
            write_requests: self.write_requests?,
            write_merges: self.write_merges,
            written_bytes: self.written_bytes?,
            discard_requests: self.discard_requests?,
            discarded_bytes: self.discarded_bytes?,
            flushes: self.flushes?,
        })
    }

    fn flash(&self) -> Option<FlashActivity> {
        Some(FlashActivity {
            flash_written_bytes: self.flash_written_bytes?,
            flash_read_bytes: self.flash_read_bytes?,
            erases: self.erases?,
            hottest_erases: self.hottest_erases,
            repeats_until_worn: self.repeats_until_worn,
            years_until_worn: self.years_until_worn,
            stalled_ns: self.stalled_ns?,
        })
    }
}

fn work(
    operations: Option<u64>,
    ops_per_second: Option<f64>,
    bytes_per_second: Option<f64>,
    counted: Option<(Latency, Series)>,
) -> Option<Work> {
    let (latency, mut series) = counted?;
    series.operations.shrink_to_fit();
    let (operations, ops_per_second) = (operations?, ops_per_second?);
    Some(Work { operations, ops_per_second, bytes_per_second, latency, series })
}
