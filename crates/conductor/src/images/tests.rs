use sha2::{Digest, Sha256};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::Nanos;

use super::sha256;

#[test]
fn the_checksum_of_an_image_is_that_of_all_its_bytes() {
    // Pages at the beginning, in the middle and at the end, which is within a page.
    let capacity = 300 * 4096 + 512;
    for writes in [&[][..], &[0], &[8192, 700_416], &[0, 300 * 4096]] {
        let mut image = Memory::new(capacity);
        let mut bytes = vec![0; usize::try_from(capacity).unwrap()];
        for at in writes {
            image.write(Nanos::ZERO, *at, &[7; 512]).unwrap();
            let at = usize::try_from(*at).unwrap();
            bytes[at..at + 512].fill(7);
        }
        assert_eq!(sha256(&image), hex::encode(Sha256::digest(&bytes)), "{writes:?}");
    }
}
