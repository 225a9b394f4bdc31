use std::fs;

use ssdlab_results::{AttemptId, node_of};

use super::*;

#[test]
fn what_a_node_does_not_confirm_is_not_taken_for_undone() {
    let run = tempfile::tempdir().unwrap();
    fs::create_dir(run.path().join(ATTEMPTS)).unwrap();
    let ids = ["1_1", "1_2"].map(|id| AttemptId::read(id).unwrap());
    let write = |id, text: &[u8]| fs::write(node_of(run.path(), id), text).unwrap();
    let attempts = Attempts::new(run.path(), &[]);
    let marker = b"node1\narray\n/var/lib/ssdlab/undo/7.undo\n";
    for id in ids {
        write(id, marker);
    }
    let left = attempts.not_undone().unwrap().left;
    let says = || all_undone(&attempts, &left, "it is busy".to_owned());
    assert_eq!(says(), Err("it is busy".to_owned()));
    write(ids[0], b"");
    assert_eq!(says(), Err("it is busy".to_owned()));
    write(ids[1], b"node1\n");
    assert!(says().unwrap_err().contains("1_2.node"));
    write(ids[1], b"");
    assert_eq!(says(), Ok(()));
}
