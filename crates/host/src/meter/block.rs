//! A block device's counters, as `/sys/block/*/stat` shows them.
//!
//! Source: Documentation/block/stat.rst in the kernel. The counters are cumulative since boot, also
//! across detaching and re-attaching a loop device, so only differences are meaningful. Sectors
//! there are always 512 bytes.

use std::fs;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The counters at one moment, or what they grew by between two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Read requests completed.
    pub read_requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed.
    pub write_requests: u64,
    /// Writes that were merged into others before they reached the device.
    #[serde(default)]
    pub write_merges: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Discard requests completed.
    pub discard_requests: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Flushes completed.
    pub flushes: u64,
}

/// The counters, and the number of requests in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterReading {
    /// The counters since boot.
    pub counters: Counters,
    /// Requests issued to the device and not completed.
    pub in_flight: u64,
    /// How long completed reads took, added up, in whole ms.
    pub reads_ms: u64,
    /// The same of all other requests.
    pub others_ms: u64,
    /// The same of writes, which are among these.
    pub writes_ms: u64,
    /// The same of flushes.
    pub flushes_ms: u64,
}

impl Counters {
    /// The growth of the counters since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            read_requests: self.read_requests.wrapping_sub(earlier.read_requests),
            read_bytes: self.read_bytes.wrapping_sub(earlier.read_bytes),
            write_requests: self.write_requests.wrapping_sub(earlier.write_requests),
            write_merges: self.write_merges.wrapping_sub(earlier.write_merges),
            written_bytes: self.written_bytes.wrapping_sub(earlier.written_bytes),
            discard_requests: self.discard_requests.wrapping_sub(earlier.discard_requests),
            discarded_bytes: self.discarded_bytes.wrapping_sub(earlier.discarded_bytes),
            flushes: self.flushes.wrapping_sub(earlier.flushes),
        }
    }
}

/// Reads the counters of a device by its number (`major:minor`).
pub fn read(number: &str) -> io::Result<CounterReading> {
    let folder = Path::new("/sys/dev/block").join(number);
    let mut reading = parse(&fs::read_to_string(folder.join("stat"))?)?;
    if folder.join("partition").exists() {
        // Flushes are counted for whole disks only; no other partition of the disk is in use.
        let disk = parse(&fs::read_to_string(folder.join("../stat"))?)?;
        reading.counters.flushes = disk.counters.flushes;
        reading.flushes_ms = disk.flushes_ms;
    }
    Ok(reading)
}

/// The number of a device's requests in flight that are not reads: writes, discards, flushes.
pub fn writes_in_flight(number: &str) -> io::Result<u64> {
    let text = fs::read_to_string(Path::new("/sys/dev/block").join(number).join("inflight"))?;
    let writes = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    writes.ok_or_else(|| io::Error::other("a block device's `inflight` has no second number"))
}

/// Parses the text of a `stat` attribute: 11 numbers, 15 with discards (Linux 4.18), 17 with
/// flushes (5.5). What an older kernel does not count is 0.
pub fn parse(text: &str) -> io::Result<CounterReading> {
    let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
    let numbers = numbers.map_err(io::Error::other)?;
    if numbers.len() < 11 {
        let found = numbers.len();
        return Err(io::Error::other(format!(
            "a block device's `stat` has {found} numbers, expected 11"
        )));
    }
    let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
    Ok(CounterReading {
        counters: Counters {
            read_requests: number(0),
            read_bytes: number(2).wrapping_mul(512),
            write_requests: number(4),
            write_merges: number(5),
            written_bytes: number(6).wrapping_mul(512),
            discard_requests: number(11),
            discarded_bytes: number(13).wrapping_mul(512),
            flushes: number(15),
        },
        in_flight: number(8),
        reads_ms: number(3),
        others_ms: [7, 14, 16].map(number).into_iter().fold(0, u64::wrapping_add),
        writes_ms: number(7),
        flushes_ms: number(16),
    })
}

#[cfg(test)]
mod tests;
