use super::*;

#[test]
fn numbers_are_read_as_the_kernel_writes_them() {
    assert_eq!(number("7:3").unwrap(), 7 << 20 | 3);
    assert!(number("7").is_err());
}
