use super::*;

const NOW: Nanos = Nanos::ZERO;

#[test]
fn zeros_take_no_memory_however_they_come() {
    let mut disk = Memory::new(1 << 40);
    disk.write(NOW, 0, &vec![0; 1 << 16]).unwrap();
    assert_eq!(disk.pages().count(), 0);
    disk.write(NOW, 512, &[1; 8192]).unwrap();
    assert_eq!(disk.pages().count(), 3);
    assert!(disk.pages().map(|(at, _)| at).eq([0, 4096, 8192]));
    disk.discard(NOW, Extent { offset_bytes: 0, length_bytes: 4096 }).unwrap();
    assert_eq!(disk.pages().count(), 2);
    // What is left of the last page goes a sector at a time, once as a write of zeros.
    disk.write(NOW, 4096, &[0; 4096]).unwrap();
    disk.write_zeroes(NOW, Extent { offset_bytes: 8192, length_bytes: 512 }).unwrap();
    assert_eq!(disk.pages().count(), 0);
    assert!(disk.stretches.iter().all(Option::is_none));
}

#[test]
fn the_most_it_takes_is_a_little_more_than_its_capacity() {
    for capacity_bytes in [512, 4096, 8 << 20, 80_000_000_512] {
        let most = Memory::most_bytes(capacity_bytes);
        assert!(most > capacity_bytes, "{most}");
        assert!(most < capacity_bytes + capacity_bytes / 100 + 8192, "{most}");
    }
    assert!(Memory::most_bytes(u64::MAX) >= u64::MAX / 2);
}

#[test]
fn the_last_page_may_be_cut_short() {
    let mut disk = Memory::new(4096 + 512);
    disk.write(NOW, 4096, &[7; 512]).unwrap();
    assert!(disk.write(NOW, 4096, &[7; 1024]).is_err());
    let mut data = [0; 512];
    disk.read(NOW, 4096, &mut data).unwrap();
    assert_eq!(data, [7; 512]);
}
