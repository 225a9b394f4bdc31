use super::*;
use std::io::Write;

fn decoded(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    plain(file, &Interrupt::default())
}

/// The decoder's memory is in the header, too: the size of the dictionary.
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
