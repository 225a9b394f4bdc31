use super::*;

#[test]
fn a_log_that_comes_to_too_much_is_refused() {
    let log = "ssdlab operation log 1\ntitle x\nbefore\ndirectory 755 d\noperations\n\
                   mkdir 755 d/x\nsync\nend\n";
    let (before, operations) = read(log.as_bytes(), &mut Budget::of(3, 4)).unwrap();
    assert_eq!((before.len(), operations.len()), (1, 2));
    for (mut budget, expected) in
        [(Budget::of(2, 4), "operations"), (Budget::of(3, 3), "MiB of names")]
    {
        let error = read(log.as_bytes(), &mut budget).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("all logs of the plan"), "{error}");
    }
    // One log's use reduces the budget of the next.
    let mut budget = Budget::of(4, 100);
    assert!(read(log.as_bytes(), &mut budget).is_ok());
    assert!(read(log.as_bytes(), &mut budget).is_err());
}
