use super::*;

#[test]
fn places_are_both_ends_and_256_samples_between_them() {
    for size_bytes in [25 << 20, (1 << 30) + 512, 8_001_563_222_016] {
        let places = places(size_bytes);
        assert_eq!(places.len(), 258);
        assert_eq!(places[0], 0..4 << 20);
        assert_eq!(places[257], size_bytes - (4 << 20)..size_bytes);
        for pair in places.windows(2) {
            assert!(pair[0].end <= pair[1].start, "{pair:?} of {size_bytes}");
        }
        let widest = places.windows(2).map(|pair| pair[1].start - pair[0].end).max().unwrap();
        assert!(widest <= size_bytes / 256 + 4096, "{widest} of {size_bytes}");
    }
}

#[test]
fn of_a_small_device_all_is_looked_at() {
    for size_bytes in [512, 24 << 20] {
        let places = places(size_bytes);
        assert_eq!((places.len(), &places[0]), (1, &(0..size_bytes)));
    }
}

#[test]
fn pages_of_zeros_and_of_ones_are_blank_and_nothing_else_is() {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&[0xff; PAGE_BYTES], 2 * PAGE_BYTES as u64).unwrap();
    file.set_len(8 * PAGE_BYTES as u64).unwrap();
    let all = 0..8 * PAGE_BYTES as u64;
    assert_eq!(data_in(&all, &file).unwrap(), None);
    file.write_all_at(&[1], 5 * PAGE_BYTES as u64 + 17).unwrap();
    assert_eq!(data_in(&all, &file).unwrap(), Some(5 * PAGE_BYTES as u64));
    file.write_all_at(&[0xfe], 2 * PAGE_BYTES as u64).unwrap();
    assert_eq!(data_in(&all, &file).unwrap(), Some(2 * PAGE_BYTES as u64));
}
