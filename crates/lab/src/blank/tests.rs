use super::*;

#[test]
fn places_are_both_ends_and_samples_in_all_parts_between_them() {
    for size_bytes in [(28 << 20) + 1, 29 << 20, (1 << 30) + 512, 8_001_563_222_016] {
        let places = places(size_bytes, "a disk");
        assert_eq!(places.len(), 1026);
        assert_eq!(places[0], 0..4 << 20);
        assert_eq!(places[1025], size_bytes - (4 << 20)..size_bytes);
        for pair in places.windows(2) {
            assert!(pair[0].end <= pair[1].start, "{pair:?} of {size_bytes}");
            assert_eq!(pair[0].start % 4096, 0);
        }
        let widest = places.windows(2).map(|pair| pair[1].start - pair[0].end).max().unwrap();
        assert!(widest <= size_bytes / 512, "{widest} of {size_bytes}");
    }
}

#[test]
fn the_places_are_those_of_the_device() {
    let of = |identity| places(1 << 40, identity);
    assert_eq!(of("a disk"), of("a disk"));
    let (one, other) = (of("a disk"), of("another disk"));
    let shared = one.iter().filter(|place| other.contains(place)).count();
    assert!(shared < 10, "{shared}");
}

#[test]
fn data_with_any_period_is_found() {
    // A quarter of the device, beside places with this period.
    let size_bytes: u64 = 64 << 30;
    for period in [size_bytes / 256, size_bytes / 1024, 1 << 20, 100 << 20] {
        let is_data = |at: u64| (period / 2..period / 4 * 3).contains(&(at % period));
        let found =
            places(size_bytes, "a disk").iter().filter(|place| is_data(place.start)).count();
        assert!((150..350).contains(&found), "{found} with period {period}");
    }
}

#[test]
fn of_a_small_device_all_is_looked_at() {
    for size_bytes in [512, 28 << 20] {
        let places = places(size_bytes, "a disk");
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
