//! Checks whether a device is blank, and blanks it again.
//!
//! Filesystems, volume managers and encryption have their signatures within a few MiB of the start
//! or the end. The rest of a device is sampled, so that data without a signature is found, too: if
//! a share s of the device has data, all samples miss it with a probability of (1 - s)^1024, which
//! is one in 29,000 at 1 %. That holds wherever the data is, because the places follow from a hash
//! of the device's identity, which data does not depend on. They are the same each time, so that
//! few zeros blank the device for the next run.

use std::fs::File;
use std::io;
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use ssdlab_host::block_ioctl;
use ssdlab_host::files::checksum_of;

/// How much is read at the start and at the end.
const END_BYTES: u64 = 4 << 20;
/// The number of samples between them, one at a random place in each of as many equal parts.
const SAMPLES: u64 = 1024;
/// The size of each.
const SAMPLE_BYTES: u64 = 16 << 10;
/// The unit of blankness. A drive may return ones for discarded pages, beside written zeros.
const PAGE_BYTES: usize = 4096;
const PAGE: u64 = PAGE_BYTES as u64;
const BLANK: [[u8; PAGE_BYTES]; 2] = [[0; PAGE_BYTES], [0xff; PAGE_BYTES]];

/// The ranges to read, in order; all of a device that is hardly larger than they are.
fn places(size_bytes: u64, identity: &str) -> Vec<Range<u64>> {
    if size_bytes <= 2 * END_BYTES + SAMPLES * (SAMPLE_BYTES + PAGE) {
        return iter::once(0..size_bytes).collect();
    }
    let last = size_bytes - END_BYTES;
    let part_bytes = (last - END_BYTES) / SAMPLES;
    let mut random = random(identity);
    let sample = |index: u64| {
        let jitter_bytes = random.next_u64() % (part_bytes - SAMPLE_BYTES - PAGE + 1);
        let start = (END_BYTES + part_bytes * index + jitter_bytes).next_multiple_of(PAGE);
        start..start + SAMPLE_BYTES
    };
    let (beginning, end) = (iter::once(0..END_BYTES), iter::once(last..size_bytes));
    beginning.chain((0..SAMPLES).map(sample)).chain(end).collect()
}

/// Random numbers that start from the SHA-256 of a text.
fn random(text: &str) -> SplitMix64 {
    let digits = checksum_of(&mut text.as_bytes()).expect("memory can be read");
    let seed = u64::from_str_radix(&digits[..16], 16).expect("they are hexadecimal digits");
    SplitMix64::seed_from_u64(seed)
}

/// The offset in bytes of the first page that is not blank; `None` if the device is, as far as the
/// places of its identity show.
pub(super) fn first_data(device: &File, identity: &str) -> io::Result<Option<u64>> {
    let size_bytes = start(device)?;
    for place in places(size_bytes, identity) {
        if let Some(offset) = data_in(&place, device)? {
            return Ok(Some(offset));
        }
    }
    Ok(None)
}

/// Blanks a device with as few zeros as necessary.
pub(super) fn erase(device: &File, identity: &str) -> io::Result<()> {
    let size_bytes = start(device)?;
    for place in places(size_bytes, identity) {
        if data_in(&place, device)?.is_some() {
            let zeros = vec![0; length(&place)];
            device.write_all_at(&zeros, place.start)?;
        }
    }
    device.sync_all()
}

/// Filesystems bypass the block device's cache, which may hold stale data.
fn start(device: &File) -> io::Result<u64> {
    block_ioctl::drop_caches(device)?;
    block_ioctl::size_bytes(device)
}

fn data_in(place: &Range<u64>, device: &File) -> io::Result<Option<u64>> {
    let mut bytes = vec![0; length(place)];
    device.read_exact_at(&mut bytes, place.start)?;
    let is_blank = |page: &[u8]| BLANK.iter().any(|blank| page == &blank[..page.len()]);
    let page = bytes.chunks(PAGE_BYTES).position(|page| !is_blank(page));
    Ok(page.map(|page| place.start + (page * PAGE_BYTES) as u64))
}

fn length(place: &Range<u64>) -> usize {
    usize::try_from(place.end - place.start).expect("a place is some MiB at most")
}

#[cfg(test)]
mod tests;
