use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{Extent, Nanos};
use ssdlab_host::interrupt::Interrupt;

use super::sha256;
use crate::failure::Failure;

const PAGE_BYTES: usize = 4096;

fn hash(image: &Memory) -> String {
    sha256(image, &Interrupt::default()).unwrap()
}

#[test]
fn the_checksum_of_an_image_follows_from_its_bytes() {
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
        // What was written and discarded is not held.
        image.write(Nanos::ZERO, 40_960, &[7; 4096]).unwrap();
        image.discard(Nanos::ZERO, Extent { offset_bytes: 40_960, length_bytes: 4096 }).unwrap();
        let mut expected = Sha256::new();
        for (number, page) in bytes.chunks(PAGE_BYTES).enumerate() {
            if page.iter().any(|byte| *byte != 0) {
                expected.update(((number * PAGE_BYTES) as u64).to_le_bytes());
                expected.update(page);
            }
        }
        expected.update(capacity.to_le_bytes());
        assert_eq!(hash(&image), hex::encode(expected.finalize()), "{writes:?}");
    }
}

#[test]
fn equal_pages_at_other_places_and_other_capacities_are_other_images() {
    let image = |capacity: u64, at: u64| {
        let mut image = Memory::new(capacity);
        image.write(Nanos::ZERO, at, &[7; 4096]).unwrap();
        hash(&image)
    };
    let one = image(1 << 20, 0);
    assert_ne!(one, image(1 << 20, 4096));
    assert_ne!(one, image(2 << 20, 0));
}

#[test]
fn a_sparse_image_of_a_terabyte_is_hashed_at_once() {
    let mut image = Memory::new(1 << 40);
    image.write(Nanos::ZERO, (1 << 40) - 4096, &[7; 4096]).unwrap();
    let began = Instant::now();
    hash(&image);
    // All its bytes would take the fastest processor some minutes.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn an_interrupt_ends_the_hashing() {
    let mut image = Memory::new(1 << 20);
    image.write(Nanos::ZERO, 0, &[7; 4096]).unwrap();
    let interrupt = Interrupt::default();
    interrupt.set();
    assert!(matches!(sha256(&image, &interrupt), Err(Failure::Interrupted)));
}
