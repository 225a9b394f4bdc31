//! Whether a device is blank: which parts are read, and how it is blanked again.
//!
//! Filesystems, volume managers and encryption keep what finds them within a few MiB of the
//! beginning or the end. Between them a device is sampled, so that data which has lost its
//! beginning is found too: of a device that is full to a share s all samples miss it with a
//! probability of (1 - s)^256, which is one in 500,000 at 5 %.

use std::fs::File;
use std::io;
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use ssdlab_host::block_ioctl;

/// How much of the beginning and of the end is read.
const END_BYTES: u64 = 4 << 20;
/// How many evenly spread samples between them are read.
const SAMPLES: u64 = 256;
/// How much of each.
const SAMPLE_BYTES: u64 = 64 << 10;
/// What is blank as a whole or not at all. A drive may return ones for what was discarded, beside
/// zeros that were written.
const PAGE_BYTES: usize = 4096;
const BLANK: [[u8; PAGE_BYTES]; 2] = [[0; PAGE_BYTES], [0xff; PAGE_BYTES]];

/// The ranges that are read, in order; the whole of a device that is not larger than they are.
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

/// Makes a device blank that is not, with zeros and no more of them than it needs.
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

/// Filesystems write past the device's own cache, which may hold what was there before.
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
