use super::*;

#[test]
fn only_a_load_that_falls_behind_is_remarked_on() {
    let of = |operations: u64, seconds: u64| OperationTally {
        operations,
        took: Duration::from_secs(seconds),
        ..OperationTally::new()
    };
    let ten_a_second = Some(100_000_000);
    assert_eq!(remark(&of(100, 10), ten_a_second), None);
    assert_eq!(remark(&of(100, 20), None), None);
    assert_eq!(remark(&of(9, 20), ten_a_second), None);
    let said = remark(&of(100, 20), ten_a_second).unwrap();
    assert!(said.starts_with("10 operations per second were due and 5 were done"), "{said}");
}
