use super::*;

#[test]
fn tunables_are_numbers_by_name() {
    let read = |level| tunables(level, Some("mq-deadline"));
    let two = read("read_expire=100 fifo_batch=8").unwrap();
    assert_eq!(two, [("fifo_batch".to_owned(), 8), ("read_expire".to_owned(), 100)].into());
    assert!(read("default").unwrap().is_empty());
    for bad in ["", "=1", "read_expire", "read_expire=soon", "../x=1", "a=1 a=2", "a=1,b=2"] {
        assert!(read(bad).unwrap_err().help.contains("read_expire=100"), "{bad}");
    }
    assert!(tunables("read_expire=100", None).unwrap_err().help.contains("mq-deadline"));
}
