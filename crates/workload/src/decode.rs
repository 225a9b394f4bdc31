//! Compressed archives, decoded into memory within bounds.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use ssdlab_host::interrupt::Interrupt;

use super::input;

/// The maximum memory for decoding xz, in bytes; `xz -9` needs 65 MiB. The zstd decoder has its own
/// limit, windows of 128 MiB.
const MOST_DECODER_BYTES: u64 = 256 << 20;

/// The plain tar of an archive. The compression is recognised by the first bytes, not by the name.
pub fn plain(mut file: File, interrupt: &Interrupt) -> io::Result<File> {
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic)?;
    file.rewind()?;
    let stream = BufReader::with_capacity(1 << 20, &file);
    match &magic[..] {
        [0x1f, 0x8b, ..] => {
            input::in_memory(flate2::bufread::MultiGzDecoder::new(stream), interrupt)
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            let concatenated = liblzma::stream::CONCATENATED;
            let decoder =
                liblzma::stream::Stream::new_stream_decoder(MOST_DECODER_BYTES, concatenated)?;
            let plain = liblzma::bufread::XzDecoder::new_stream(stream, decoder);
            input::in_memory(plain, interrupt).map_err(with_limit)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => input::in_memory(
            ruzstd::decoding::StreamingDecoder::new(stream).map_err(io::Error::other)?,
            interrupt,
        ),
        _ => Ok(file),
    }
}

/// The xz decoder's error, with its limit.
fn with_limit(cause: io::Error) -> io::Error {
    match cause.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(liblzma::stream::Error::MemLimit) => io::Error::other(format!(
            "decoding takes more than {} MiB of memory; compress it with a smaller dictionary",
            MOST_DECODER_BYTES >> 20
        )),
        _ => cause,
    }
}

#[cfg(test)]
mod tests;
