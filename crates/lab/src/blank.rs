//! Checks whether a device is blank, and blanks it again.
//!
//! Filesystems, volume managers and encryption have their signatures within a few MiB of the start
//! or the end. The rest of a device is sampled, so that data without a signature is found, too: if
//! a share s of the device has data, all samples miss it with a probability of (1 - s)^256, which
//! is one in 500,000 at 5 %.

use std::fs::File;
use std::io;
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use ssdlab_host::block_ioctl;

/// How much is read at the start and at the end.
const END_BYTES: u64 = 4 << 20;
/// The number of evenly spaced samples between them.
const SAMPLES: u64 = 256;
/// The size of each.
const SAMPLE_BYTES: u64 = 64 << 10;
/// The unit of blankness. A drive may return ones for discarded pages, beside written zeros.
const PAGE_BYTES: usize = 4096;
const BLANK: [[u8; PAGE_BYTES]; 2] = [[0; PAGE_BYTES], [0xff; PAGE_BYTES]];

/// The ranges to read, in order; all of a device that is no larger than they are.
fn places(size_bytes: u64) -> Vec<Range<u64>> {
    if size_bytes <= 2 * END_BYTES + SAMPLES * SAMPLE_BYTES {
        return iter::once(0..size_bytes).collect();
    }
    let last = size_bytes - END_BYTES;
    let sample = |index| {
        let start = END_BYTES + (last - END_BYTES) / SAMPLES * index;
        let start = start - start % PAGE_BYTES as u64;
        start..start + SAMPLE_BYTES
    };
    let (beginning, end) = (iter::once(0..END_BYTES), iter::once(last..size_bytes));
    beginning.chain((0..SAMPLES).map(sample)).chain(end).collect()
}

/// The offset in bytes of the first page that is not blank; `None` if the device is.
pub(super) fn first_data(device: &File) -> io::Result<Option<u64>> {
    let size_bytes = start(device)?;
    for place in places(size_bytes) {
        if let Some(offset) = data_in(&place, device)? {
            return Ok(Some(offset));
        }
    }
    Ok(None)
}

/// Blanks a device with as few zeros as necessary.
pub(super) fn erase(device: &File) -> io::Result<()> {
    let size_bytes = start(device)?;
    for place in places(size_bytes) {
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
