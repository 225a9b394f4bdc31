//! Compressed archives, decoded into memory within bounds.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};

use super::input;

/// The most memory that decoding xz may take, in bytes; `xz -9` needs 65 MiB. The decoder of zstd
/// has a bound of its own, windows of 128 MiB.
const MOST_DECODER_BYTES: u64 = 256 << 20;

/// The plain tar of an archive. The compression is recognised by the first bytes, not by the name.
pub fn plain(mut file: File) -> io::Result<File> {
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic)?;
    file.rewind()?;
    let stream = BufReader::with_capacity(1 << 20, &file);
    match &magic[..] {
        [0x1f, 0x8b, ..] => input::in_memory(flate2::bufread::MultiGzDecoder::new(stream)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            let concatenated = liblzma::stream::CONCATENATED;
            let decoder =
                liblzma::stream::Stream::new_stream_decoder(MOST_DECODER_BYTES, concatenated)?;
            input::in_memory(liblzma::bufread::XzDecoder::new_stream(stream, decoder)).map_err(told)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => input::in_memory(
            ruzstd::decoding::StreamingDecoder::new(stream).map_err(io::Error::other)?,
        ),
        _ => Ok(file),
    }
}

/// What the decoder of xz complains of, with its bound.
fn told(cause: io::Error) -> io::Error {
    match cause.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(liblzma::stream::Error::MemLimit) => io::Error::other(format!(
            "decoding takes more than {} MiB of memory; compress it with a smaller dictionary",
            MOST_DECODER_BYTES >> 20
        )),
        _ => cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn decoded(bytes: &[u8]) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        file.rewind()?;
        plain(file)
    }

    /// What the decoder takes is in the header, too: the size of the dictionary.
    #[test]
    fn xz_with_a_large_dictionary_is_refused_with_the_bound() {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(&[b'x'; 4096]).unwrap();
        let mut bytes = xz.finish().unwrap();
        assert!(decoded(&bytes).is_ok());
        // The first block's header follows that of the stream: size, flags, LZMA2 (0x21), the size
        // of its properties, the dictionary, padding and a checksum (The .xz File Format 1.1.0).
        let header = 12..12 + 4 * (usize::from(bytes[12]) + 1);
        assert_eq!(bytes[14..16], [0x21, 1]);
        bytes[16] = 40;
        let mut checksum = flate2::Crc::new();
        checksum.update(&bytes[header.start..header.end - 4]);
        bytes[header.end - 4..header.end].copy_from_slice(&checksum.sum().to_le_bytes());
        let error = decoded(&bytes).unwrap_err().to_string();
        assert!(error.contains("more than 256 MiB of memory"), "{error}");
    }
}
