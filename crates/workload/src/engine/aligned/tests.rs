use super::*;

#[test]
fn blocks_are_whole_and_at_a_boundary() {
    let mut aligned = Aligned::new(5000);
    assert_eq!(aligned.bytes().len(), 2 * BLOCK_BYTES);
    assert_eq!(aligned.bytes().as_ptr().align_offset(BLOCK_BYTES), 0);
}
