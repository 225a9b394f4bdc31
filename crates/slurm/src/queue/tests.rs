use super::*;

#[test]
fn elements_are_read_as_squeue_prints_them() {
    let text = "p-1|7|0|RUNNING|None|node1\np-1|7|12|PENDING|Resources|\n\
             p-1|7|1|NODE_FAIL|None|node2\nslurm_load_jobs error\n";
    let queue = Queue::read(text);
    assert_eq!(queue.elements.len(), 2);
    assert!(queue.has("p-1", 12) && !queue.has("p-1", 1));
    assert_eq!((queue.over.len(), &*queue.over[0].node), (1, "node2"));
    assert_eq!(queue.elements[1].attempt(), "7_12");
    assert_eq!(Queue::read("p-1|7;id|0|RUNNING|None|node1\n"), Queue::default());
    // An element that is there is never taken for gone.
    for node in ["-e sh", "a:b", "node[1-2]"] {
        let queue = Queue::read(&format!("p-1|7|0|RUNNING|None|{node}\n"));
        assert!(queue.has("p-1", 0) && queue.elements[0].node.is_empty(), "{node}");
    }
    assert_eq!((&*queue.elements[0].state, &*queue.elements[0].node), ("running", "node1"));
}
