use super::*;

/// A page that was discarded and is written again waits as long as any other, with its new stream.
#[test]
fn a_page_that_was_discarded_and_rewritten_waits_for_its_new_turn() {
    let (a, b) = (LogicalPage(7), LogicalPage(3));
    let mut buffer = Buffer::new(4, false, 16);
    buffer.take(a, Stream::Hot);
    buffer.take(b, Stream::Cold);
    assert_eq!(buffer.remove(PageRun::page(a)), [a]);
    buffer.take(a, Stream::Cold);
    assert_eq!(buffer.overflow(), None, "two pages wait, and two may");
    assert_eq!(buffer.oldest(1), Some((PageRun::page(b), Stream::Cold)));
    assert_eq!(buffer.oldest(1), Some((PageRun::page(a), Stream::Cold)));
    assert!(!buffer.holds(a) && !buffer.holds(b));
}
