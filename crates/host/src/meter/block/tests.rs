use super::*;

#[test]
fn every_counter_has_its_place() {
    let text = "  1 2 3 4   5 6 7 8  9 10 11  12 13 14 15  16 17\n";
    let reading = parse(text).unwrap();
    assert_eq!(reading.in_flight, 9);
    assert_eq!((reading.reads_ms, reading.others_ms), (4, 8 + 15 + 17));
    assert_eq!(
        reading.counters,
        Counters {
            read_requests: 1,
            read_bytes: 3 * 512,
            write_requests: 5,
            write_merges: 6,
            written_bytes: 7 * 512,
            discard_requests: 12,
            discarded_bytes: 14 * 512,
            flushes: 16,
        }
    );
}

#[test]
fn old_kernels_count_less_and_nonsense_is_refused() {
    assert_eq!(parse("1 1 1 1 1 1 1 1 1 1 1").unwrap().counters.flushes, 0);
    assert!(parse("1 2 3").is_err());
    assert!(parse("a b c d e f g h i j k").is_err());
}

#[test]
fn only_differences_count() {
    let earlier = Counters { written_bytes: 512, flushes: 3, ..Counters::default() };
    let later = Counters { written_bytes: 2048, flushes: 4, ..Counters::default() };
    let grown = later.since(&earlier);
    assert_eq!((grown.written_bytes, grown.flushes), (1536, 1));
}
