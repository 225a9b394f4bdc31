use super::*;

fn allowed() -> u32 {
    sched_getaffinity(None).unwrap().count()
}

#[test]
fn a_thread_has_its_processors_again_after_a_guest() {
    let before = allowed();
    let kept = KeptProcessor::current();
    assert_eq!(allowed(), 1);
    drop(kept);
    assert_eq!(allowed(), before);
}
