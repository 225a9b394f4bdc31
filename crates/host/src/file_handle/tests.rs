use super::*;

#[test]
fn the_structures_have_the_sizes_of_the_kernel_s() {
    assert_eq!(size_of::<Bulkstat>(), 64 + 192);
    assert_eq!(std::mem::offset_of!(Bulkstat, generation), 64 + 64);
    assert_eq!(size_of::<FileHandle>(), 8 + MOST_BYTES);
}
