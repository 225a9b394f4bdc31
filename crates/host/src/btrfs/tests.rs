use super::*;

#[test]
fn the_structures_have_the_sizes_of_the_kernel_s() {
    assert_eq!(size_of::<Search>(), 4096);
    assert_eq!(size_of::<Lookup>(), 4096);
    assert_eq!(size_of::<DeviceInfo>(), 4096);
    assert_eq!(size_of::<FilesystemInfo>(), 1024);
}

#[test]
fn a_mirrored_chunk_has_two_copies_and_a_striped_one_none() {
    let mut item = vec![0; CHUNK_HEAD + 2 * STRIPE];
    item[..8].copy_from_slice(&(1_u64 << 20).to_le_bytes());
    item[24..32].copy_from_slice(&(4_u64 | 1 << 5).to_le_bytes());
    item[44..46].copy_from_slice(&2_u16.to_le_bytes());
    for (index, place) in [(0, 1_u64 << 22), (1, 1 << 25)] {
        let at = CHUNK_HEAD + index * STRIPE;
        item[at..at + 8].copy_from_slice(&1_u64.to_le_bytes());
        item[at + 8..at + 16].copy_from_slice(&place.to_le_bytes());
    }
    let copies = vec![(1, 1 << 22), (1, 1 << 25)];
    assert_eq!(chunk(512, &item), Some(ChunkPlace { logical: 512..512 + (1 << 20), copies }));
    item[24..32].copy_from_slice(&(1_u64 | 1 << 3).to_le_bytes());
    assert_eq!(chunk(512, &item), None);
    assert_eq!(chunk(512, &item[..20]), None);
}
