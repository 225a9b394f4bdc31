use super::*;
use ssdlab_plan::io::{BlockSize, IoContents, IoEnd, IoSyncPolicy, SyncBy};

fn operations(pattern: IoPattern, read_share: f64, seed: u64) -> Vec<EngineOperation> {
    let io = Io {
        file: "data".to_owned(),
        files: 1,
        size_bytes: 10_000_000,
        pattern,
        read_share,
        blocks: vec![BlockSize { bytes: 4096, weight: 3 }, BlockSize { bytes: 65_536, weight: 1 }],
        contents: IoContents::Random,
        depth: 1,
        direct: false,
        sync: IoSyncPolicy::Never,
        sync_by: SyncBy::Fdatasync,
        end: IoEnd::Operations(1),
        period_ns: None,
    };
    let mut operations = EngineOperations::of(&io, seed, vec![0]);
    (0..40_000).map(|_| operations.next()).collect()
}

#[test]
fn operations_lie_within_the_file_at_multiples_of_their_size() {
    for operation in operations(IoPattern::Random, 0.5, 1) {
        assert_eq!(operation.offset % u64::from(operation.length), 0);
        assert!(operation.offset + u64::from(operation.length) <= 10_000_000);
    }
    for pair in operations(IoPattern::Sequential, 0.5, 1).windows(2) {
        let end = pair[0].offset + u64::from(pair[0].length);
        assert!(pair[1].offset == end || pair[1].offset == 0);
        assert!(pair[1].offset + u64::from(pair[1].length) <= 10_000_000);
    }
}

#[test]
fn shares_are_the_stated_ones() {
    let some = operations(IoPattern::Random, 0.7, 2);
    let share = |is: fn(&EngineOperation) -> bool| {
        some.iter().filter(|operation| is(operation)).count() as f64 / some.len() as f64
    };
    // Four standard errors of 40,000 draws are below 0.01.
    assert!((share(|operation| operation.kind == EngineOperationKind::Read) - 0.7).abs() < 0.01);
    assert!((share(|operation| operation.length == 4096) - 0.75).abs() < 0.01);
    let lower = share(|operation| operation.offset < 5_000_000);
    assert!((lower - 0.5).abs() < 0.01, "{lower}");
    for (read_share, kind) in [(0.0, EngineOperationKind::Write), (1.0, EngineOperationKind::Read)]
    {
        let all = operations(IoPattern::Random, read_share, 2);
        assert!(all.iter().all(|operation| operation.kind == kind));
    }
}

#[test]
fn a_seed_decides_everything() {
    let of = |seed| operations(IoPattern::Random, 0.5, seed);
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}
