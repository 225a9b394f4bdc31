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
    assert_eq!(queue("nomerges=2 nr_requests=8").unwrap().len(), 2);
    for bad in ["wbt_lat_usec=0", "nomerges", "scheduler=1", "nomerges=3", "nomerges=1 nomerges=2"]
    {
        assert!(queue(bad).unwrap_err().help.contains("read_ahead_kb"), "{bad}");
    }
    assert!(tunables("read_expire=100", None).unwrap_err().help.contains("mq-deadline"));
}
