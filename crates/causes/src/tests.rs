use proptest::prelude::*;
use ssdlab_filesystem::layout::Area;
use ssdlab_filesystem::{BlockKind, InodePlaces, Layout};

use super::*;

const DISK: u64 = 7 << 20;
const LOOP: u64 = 7 << 20 | 1;
const FSID: u64 = 0xb7f5;
/// Threads.
const A: u32 = 100;
const B: u32 = 101;
const FLUSHER: u32 = 50;
const JOURNAL: u32 = 51;

/// A watch of a disk with one filesystem, fed by hand.
struct Stage {
    watch: Watch,
    now_ns: u64,
    counter_bytes: u64,
}

fn running(thread: u32, program: &str, is_kernel: bool) -> RunningTask {
    let cgroup = format!("/{program}");
    RunningTask { thread, process: thread, program: program.to_owned(), cgroup, is_kernel }
}

fn letters(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u64::from_le_bytes(bytes)
}

impl Stage {
    fn new(model: ModelSpec, layout: Layout) -> Self {
        let mut watch = Watch::default();
        let device = watch.add_device(spec(DISK));
        let fsid = matches!(model, ModelSpec::Btrfs(_)).then_some(FSID);
        let member = Member { device, sectors: 0..1 << 30, id: 1 };
        let backing = vec![DISK];
        let (members, number) = (vec![member], DISK);
        watch.add_filesystem(FilesystemSpec { model, members, layout, number, backing, fsid });
        for (thread, program, is_kernel) in [
            (A, "a", false),
            (B, "b", false),
            (FLUSHER, "kworker/u8:1-flush", true),
            (JOURNAL, "jbd2/loop0-8", true),
        ] {
            watch.tasks.add(&running(thread, program, is_kernel));
        }
        watch.begin(0, WrittenReading { began_ns: 1, ended_ns: 2, written_bytes: 0 });
        Self { watch, now_ns: 1_000_000_000, counter_bytes: 0 }
    }

    fn event(&mut self, thread: u32, point: EventPoint, numbers: &[u64]) -> &mut Self {
        let key = if point.source() == SourceKey::Fsid { FSID } else { DISK };
        self.event_of(thread, point, key, numbers)
    }

    fn event_of(&mut self, thread: u32, point: EventPoint, key: u64, numbers: &[u64]) -> &mut Self {
        let mut all = [0; MOST_NUMBERS];
        all[..numbers.len()].copy_from_slice(numbers);
        self.now_ns += 1000;
        let time_ns = self.now_ns;
        self.watch.take(&CauseEvent { time_ns, thread, point, key, numbers: all, text: None });
        self
    }

    fn queue(&mut self, thread: u32, sector: u64, sectors: u64, rwbs: &str) -> &mut Self {
        self.event(thread, EventPoint::Queued, &[sector, sectors, letters(rwbs)])
    }

    fn complete(&mut self, sector: u64, sectors: u64) -> &mut Self {
        self.counter_bytes += sectors * 512;
        self.event(FLUSHER, EventPoint::Completed, &[sector, sectors, letters("W")])
    }

    fn write(&mut self, thread: u32, sector: u64, sectors: u64, rwbs: &str) -> &mut Self {
        self.queue(thread, sector, sectors, rwbs).complete(sector, sectors)
    }

    /// Program, kind, inode and bytes of each row that has bytes; the sum must be the counter's.
    fn rows(&mut self) -> Vec<(String, &'static str, u64, u64)> {
        let (began_ns, ended_ns) = (self.now_ns + 10_000_000, self.now_ns + 10_001_000);
        let written_bytes = self.counter_bytes;
        self.watch.set_next(0, WrittenReading { began_ns, ended_ns, written_bytes });
        let balance = self.watch.settle(0).unwrap();
        assert!(balance.is_exact(), "{balance:?}");
        let ledger = &self.watch.devices()[0].ledger;
        assert_eq!(ledger.bytes(), self.counter_bytes);
        let rows = ledger.rows().filter(|(_, amounts)| amounts.bytes > 0);
        rows.map(|(key, amounts)| {
            let program = self.watch.tasks.name(key.causer).program.clone();
            let inode = key.inode.map_or(0, |inode| inode.number);
            (program, key.kind.name(), inode, amounts.bytes)
        })
        .collect()
    }
}

fn spec(number: u64) -> DeviceSpec {
    DeviceSpec { number, counted: 0..1 << 30, ..DeviceSpec::default() }
}

fn row(
    program: &str,
    kind: &'static str,
    inode: u64,
    bytes: u64,
) -> (String, &'static str, u64, u64) {
    (program.to_owned(), kind, inode, bytes)
}

#[test]
fn a_device_without_requests_counts_what_is_queued_to_it_and_passes_its_causes_on() {
    const MAPPED: u64 = 253 << 20;
    let mut stage = Stage::new(ModelSpec::Generic, Layout::unknown());
    let mapped = stage.watch.add_device(DeviceSpec { has_no_requests: true, ..spec(MAPPED) });
    for (thread, bytes) in [(A, 4096), (B, 8192)] {
        let reading = |at_ns, written_bytes| WrittenReading {
            began_ns: at_ns,
            ended_ns: at_ns,
            written_bytes,
        };
        stage.watch.begin(mapped, reading(stage.now_ns, 0));
        stage.now_ns += 10_000_000;
        let numbers = [64, bytes / 512, letters("WS")];
        stage.event_of(thread, EventPoint::Queued, MAPPED, &numbers);
        // Sectors outside of the filesystem below, which a mirror writes twice.
        for to in [1 << 30, 2 << 30] {
            stage.event(FLUSHER, EventPoint::Remapped, &[to, bytes / 512, MAPPED, 64]);
            stage.queue(FLUSHER, to, bytes / 512, "WS").complete(to, bytes / 512);
        }
        stage.watch.set_next(mapped, reading(stage.now_ns + 10_000_000, bytes));
        assert!(stage.watch.settle(mapped).unwrap().is_exact());
    }
    let ledger = &stage.watch.devices()[mapped].ledger;
    let of = |program: &str| {
        let rows =
            ledger.rows().filter(|(key, _)| stage.watch.tasks.name(key.causer).program == program);
        rows.map(|(_, amounts)| amounts.bytes).sum::<u64>()
    };
    assert_eq!((of("a"), of("b")), (4096, 8192));
}

/// A journal of 1 MiB at 1 MiB, and a table of inodes of 64 KiB at 2 MiB.
fn ext() -> Stage {
    let area = |offset_bytes, length_bytes, kind| Area { offset_bytes, length_bytes, kind };
    let areas =
        vec![area(1 << 20, 1 << 20, BlockKind::Journal), area(2 << 20, 64 << 10, BlockKind::Inode)];
    let places =
        InodePlaces::Tables { tables: vec![2 << 20], inodes_per_group: 256, inode_bytes: 256 };
    let layout = Layout::new(areas, 4096, BlockKind::Directory);
    Stage::new(ModelSpec::Ext { places: Some(places) }, layout)
}

const WHOLE: [u64; 3] = [u64::MAX >> 1, 0, u64::MAX >> 1];

impl Stage {
    fn flush(&mut self, inode: u64, sector: u64, sectors: u64) -> &mut Self {
        let [most, start, end] = WHOLE;
        self.event(FLUSHER, EventPoint::ExtFlushBegan, &[inode, most, start, end])
            .write(FLUSHER, sector, sectors, "W")
            .event(FLUSHER, EventPoint::ExtFlushEnded, &[inode, 0, sectors / 8])
    }
}

#[test]
fn data_of_ext4_is_whose_who_wrote_the_file_whoever_flushes_it() {
    let mut stage = ext();
    stage.event(A, EventPoint::ExtWritten, &[20, 0, 12288]);
    stage.event(B, EventPoint::ExtWritten, &[20, 12288, 4096]);
    stage.event(B, EventPoint::ExtWritten, &[21, 0, 4096]);
    stage.flush(20, 80_000, 32).flush(21, 90_000, 8);
    let expected =
        [row("a", "data", 20, 12288), row("b", "data", 20, 4096), row("b", "data", 21, 4096)];
    assert_eq!(stage.rows(), expected);
}

#[test]
fn who_writes_a_file_while_it_is_flushed_pays_for_the_next_pass() {
    let mut stage = ext();
    stage.event(A, EventPoint::ExtWritten, &[20, 0, 8192]);
    let [most, start, end] = WHOLE;
    stage.event(FLUSHER, EventPoint::ExtFlushBegan, &[20, most, start, end]);
    stage.write(FLUSHER, 80_000, 8, "W");
    stage.event(B, EventPoint::ExtWritten, &[20, 8192, 4096]);
    stage.write(FLUSHER, 80_008, 8, "W");
    stage.event(FLUSHER, EventPoint::ExtFlushEnded, &[20, 0, 2]);
    stage.flush(20, 80_016, 8);
    assert_eq!(stage.rows(), [row("a", "data", 20, 8192), row("b", "data", 20, 4096)]);
}

#[test]
fn a_reused_inode_is_another_file() {
    let mut stage = ext();
    stage.event(A, EventPoint::ExtWritten, &[20, 0, 40960]);
    stage.event(A, EventPoint::ExtInodeFreed, &[20]);
    stage.event(B, EventPoint::ExtWritten, &[20, 0, 4096]);
    stage.flush(20, 80_000, 8);
    assert_eq!(stage.rows(), [row("b", "data", 20, 4096)]);
}

#[test]
fn the_journal_is_whose_who_dirtied_its_blocks_and_commits_tell_who_waited() {
    let mut stage = ext();
    stage.event(A, EventPoint::JournalHandle, &[7, 3]);
    stage.event(B, EventPoint::JournalHandle, &[7, 1]);
    stage.event(B, EventPoint::ExtSyncBegan, &[20]);
    stage.event(JOURNAL, EventPoint::CommitBegan, &[7]);
    stage.write(JOURNAL, 2048, 64, "WSM");
    stage.event(JOURNAL, EventPoint::CommitEnded, &[7]);
    stage.event(B, EventPoint::ExtSyncEnded, &[20]);
    let journal = 64 * 512;
    let expected = [row("a", "journal", 0, journal / 4 * 3), row("b", "journal", 0, journal / 4)];
    assert_eq!(stage.rows(), expected);
    let commits = &stage.watch.devices()[0].ledger.commits;
    let [(_, asked)] = commits.iter().collect::<Vec<_>>()[..] else { panic!("{commits:?}") };
    assert_eq!(*asked, CommitsAsked { commits: 1, carried_bytes: journal / 4 * 3 });
}

#[test]
fn an_inode_table_is_whose_who_changed_its_inodes_even_if_a_worker_did_it_for_them() {
    let mut stage = ext();
    stage.event(A, EventPoint::ExtWritten, &[17, 0, 4096]).flush(17, 80_000, 8);
    // Inodes 17 to 32 are in the second block of the table.
    stage.event(FLUSHER, EventPoint::ExtInodeDirtied, &[17]);
    stage.event(B, EventPoint::ExtInodeDirtied, &[32]);
    stage.event(B, EventPoint::ExtInodeDirtied, &[1]);
    stage.write(FLUSHER, 4096 + 8, 8, "WM");
    let expected =
        [row("a", "data", 17, 4096), row("a", "inode", 0, 2048), row("b", "inode", 0, 2048)];
    assert_eq!(stage.rows(), expected);
}

#[test]
fn without_a_layout_the_journal_s_thread_tells_it_and_without_a_journal_who_dirties_a_block() {
    let model = || ModelSpec::Ext { places: None };
    let mut stage = Stage::new(model(), Layout::unknown());
    stage.event(A, EventPoint::JournalHandle, &[7, 3]);
    stage.event(JOURNAL, EventPoint::CommitBegan, &[7]);
    stage.write(JOURNAL, 2048, 8, "WSM");
    stage.event(JOURNAL, EventPoint::CommitEnded, &[7]);
    assert_eq!(stage.rows(), [row("a", "journal", 0, 4096)]);
    let mut stage = Stage::new(model(), Layout::unknown());
    stage.event(B, EventPoint::FolioDirtied, &[DISK, 512]);
    stage.write(FLUSHER, 4096, 8, "WM");
    assert_eq!(stage.rows(), [row("b", "metadata", 0, 4096)]);
}

#[test]
fn direct_io_is_the_submitter_s_by_each_call() {
    let mut stage = ext();
    stage.event(A, EventPoint::DirectBegan, &[20, 0, 8192]);
    stage.event(B, EventPoint::DirectBegan, &[20, 8192, 4096]);
    stage.queue(A, 80_000, 16, "WS").queue(B, 80_016, 8, "WS");
    stage.complete(80_000, 24);
    stage.event(A, EventPoint::DirectEnded, &[20]).event(B, EventPoint::DirectEnded, &[20]);
    assert_eq!(stage.rows(), [row("a", "data", 20, 8192), row("b", "data", 20, 4096)]);
}

#[test]
fn a_loop_s_worker_is_those_who_wrote_to_the_loop_device() {
    let mut stage = ext();
    let above = stage.watch.add_device(spec(LOOP));
    stage.watch.add_loop(above, 0, 20, 0);
    stage.event_of(A, EventPoint::Queued, LOOP, &[8, 8, letters("W")]);
    stage.event_of(B, EventPoint::Queued, LOOP, &[16, 8, letters("W")]);
    stage.event(FLUSHER, EventPoint::ExtWritten, &[20, 4096, 8192]);
    stage.flush(20, 80_000, 16);
    stage.event_of(FLUSHER, EventPoint::Completed, LOOP, &[8, 16, letters("W")]);
    assert_eq!(stage.rows(), [row("a", "data", 20, 4096), row("b", "data", 20, 4096)]);
    let layer = LoopLayer { upper: above, lower: 0, bytes: 8192, below_bytes: 8192 };
    assert_eq!(stage.watch.loops_above(0), [layer]);
}

#[test]
fn what_was_dirty_before_and_what_no_event_tells_have_rows_of_their_own() {
    let mut stage = ext();
    stage.flush(20, 80_000, 8).complete(99_000, 8);
    let rows = stage.rows();
    let expected = [
        row("(written before the recording)", "data", 20, 4096),
        row("(unseen)", "unknown", 0, 4096),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn data_of_xfs_is_by_range() {
    let mut stage = Stage::new(ModelSpec::Xfs { places: None }, Layout::unknown());
    stage.event(A, EventPoint::XfsWritten, &[200, 0, 8192]);
    stage.event(B, EventPoint::XfsWritten, &[200, 4096, 100]);
    stage.event(FLUSHER, EventPoint::IoendAdded, &[200, 0, 8192, 80_000 * 512, 0]);
    stage.write(FLUSHER, 80_000, 16, "W");
    assert_eq!(stage.rows(), [row("a", "data", 200, 4096), row("b", "data", 200, 4096)]);
}

#[test]
fn a_reused_inode_of_xfs_is_another_file_whoever_worked_on_the_first() {
    let mut stage = Stage::new(ModelSpec::Xfs { places: None }, Layout::unknown());
    stage.event(A, EventPoint::XfsWritten, &[200, 0, 4096]);
    stage.event(A, EventPoint::XfsInodeLeft, &[200]);
    free_inode_of_xfs(&mut stage, 200);
    stage.event(FLUSHER, EventPoint::XfsInodePinned, &[200]);
    // Nothing says that the inode is logged again: it is in the checkpoint already.
    stage.event(B, EventPoint::DirectBegan, &[200, 0, 4096]).write(B, 80_000, 8, "WS");
    assert_eq!(stage.rows(), [row("b", "data", 200, 4096)]);
    let lives = stage.watch.take_fresh().iter().map(|inode| inode.life).collect::<Vec<_>>();
    assert_eq!((lives, stage.watch.take_deleted().len()), (vec![0, 1], 1));
}

/// A worker inactivates an inode that was deleted.
fn free_inode_of_xfs(stage: &mut Stage, inode: u64) {
    stage.event(FLUSHER, EventPoint::XfsInactivating, &[inode]);
    stage.event(FLUSHER, EventPoint::XfsInodeFreed, &[]);
    stage.event(FLUSHER, EventPoint::XfsInodeFreed, &[]);
}

#[test]
fn an_inode_of_xfs_that_was_an_empty_file_s_meanwhile_has_had_another_life() {
    let mut stage = Stage::new(ModelSpec::Xfs { places: None }, Layout::unknown());
    stage.event(A, EventPoint::XfsWritten, &[200, 0, 4096]);
    free_inode_of_xfs(&mut stage, 200);
    free_inode_of_xfs(&mut stage, 200);
    // What leaves memory with space behind its end is there still.
    stage.event(A, EventPoint::XfsWritten, &[200, 0, 4096]);
    stage.event(B, EventPoint::XfsInodeLeft, &[200]);
    stage.event(A, EventPoint::XfsWritten, &[200, 4096, 4096]);
    let lives = |inodes: Vec<Inode>| inodes.iter().map(|inode| inode.life).collect::<Vec<_>>();
    assert_eq!(lives(stage.watch.take_fresh()), [0, 2]);
    let deleted = stage.watch.take_deleted().into_iter().map(|(inode, _)| inode).collect();
    assert_eq!(lives(deleted), [0, 1]);
}

#[test]
fn the_log_of_xfs_is_whose_items_joined_the_checkpoint() {
    let areas =
        vec![Area { offset_bytes: 1 << 20, length_bytes: 1 << 20, kind: BlockKind::Journal }];
    let layout = Layout::new(areas, 4096, BlockKind::Unattributed);
    let mut stage = Stage::new(ModelSpec::Xfs { places: None }, layout);
    stage.event(A, EventPoint::XfsInodePinned, &[200]);
    stage.event(B, EventPoint::XfsBufferLogged, &[16, 8]);
    stage.event(FLUSHER, EventPoint::XfsTicketEnded, &[100]);
    stage.write(FLUSHER, 2048, 6, "WSM");
    stage.event(A, EventPoint::XfsInodePinned, &[200]);
    stage.write(FLUSHER, 2056, 2, "WSM");
    stage.write(FLUSHER, 16, 8, "WM");
    let expected = [
        row("a", "journal", 0, 2048 + 1024),
        row("b", "journal", 0, 1024),
        row("b", "metadata", 0, 4096),
    ];
    assert_eq!(stage.rows(), expected);
}

fn btrfs() -> Stage {
    let chunk = |logical, copies| BtrfsChunk { logical, copies };
    let chunks = vec![
        chunk(1 << 20..2 << 20, vec![(1, 8 << 20)]),
        chunk(4 << 20..5 << 20, vec![(1, 16 << 20), (1, 32 << 20)]),
    ];
    let geometry = BtrfsGeometry { node_bytes: 16384, chunks };
    Stage::new(ModelSpec::Btrfs(geometry), Layout::unknown())
}

#[test]
fn data_of_btrfs_is_marked_where_its_extent_is_placed() {
    let mut stage = btrfs();
    stage.event(A, EventPoint::FolioDirtied, &[300, 0]).event(
        B,
        EventPoint::FolioDirtied,
        &[300, 1],
    );
    // Compressed to a block.
    stage.event(FLUSHER, EventPoint::BtrfsPlaced, &[300, 0, 1 << 20, 8192, 4096, 5]);
    stage.write(FLUSHER, (8 << 20) / 512, 8, "W");
    assert_eq!(stage.rows(), [row("a", "data", 300, 2048), row("b", "data", 300, 2048)]);
}

#[test]
fn a_tree_block_of_btrfs_is_its_copier_s_in_both_copies() {
    let mut stage = btrfs();
    let page = (4 << 20) / 4096;
    stage.event(A, EventPoint::BtrfsCopied, &[5, 4 << 20]).event(
        A,
        EventPoint::FolioDirtied,
        &[1, page],
    );
    stage.event(B, EventPoint::BtrfsCopied, &[2, (4 << 20) + 16384]);
    stage.event(B, EventPoint::FolioDirtied, &[1, page + 4]);
    for copy in [16 << 20, 32 << 20] {
        stage.write(FLUSHER, copy / 512, 64, "WM");
    }
    // The extent tree is everybody's: those of the transaction.
    let expected = [
        row("a", "file tree", 0, 32768),
        row("a", "extent tree", 0, 16384),
        row("b", "extent tree", 0, 16384),
    ];
    assert_eq!(stage.rows(), expected);
}

#[test]
fn any_other_filesystem_is_by_the_inode_that_is_written_back() {
    let mut stage = Stage::new(ModelSpec::Generic, Layout::unknown());
    stage.event(A, EventPoint::FolioDirtied, &[9, 0]);
    stage.event(FLUSHER, EventPoint::WritebackBegan, &[9]);
    stage.write(FLUSHER, 80_000, 8, "W");
    stage.event(FLUSHER, EventPoint::WritebackEnded, &[9]);
    stage.write(B, 90_000, 8, "W");
    assert_eq!(stage.rows(), [row("a", "data", 9, 4096), row("b", "data", 0, 4096)]);
}

#[test]
fn as_many_completions_as_were_in_flight_are_of_before_the_recording() {
    let mut watch = Watch::default();
    watch.add_device(DeviceSpec { in_flight: 1, ..spec(DISK) });
    watch.begin(0, WrittenReading { began_ns: 1, ended_ns: 2, written_bytes: 0 });
    let mut stage = Stage { watch, now_ns: 1_000_000_000, counter_bytes: 0 };
    stage.complete(0, 8).complete(8, 8);
    let rows = stage.rows();
    let before = row("(written before the recording)", "unknown", 0, 4096);
    assert_eq!(rows, [before, row("(unseen)", "unknown", 0, 4096)]);
}

#[test]
fn discards_are_outside_the_sum() {
    let mut stage = ext();
    stage.queue(A, 80_000, 80, "D");
    assert_eq!(stage.rows(), []);
    let ledger = &stage.watch.devices()[0].ledger;
    assert_eq!(ledger.rows().map(|(_, amounts)| amounts.discarded_bytes).sum::<u64>(), 40_960);
}

#[test]
fn the_filters_name_every_device_and_filesystem() {
    let mut stage = ext();
    stage.watch.add_device(DeviceSpec { partitions: vec![8 << 20 | 1], ..spec(8 << 20) });
    let events = stage.watch.events();
    let filter = |point| &events.iter().find(|(event, _)| event.point == point).unwrap().1;
    let devices = "dev == 8388608 || dev == 8388609 || (dev >= 7340032 && dev < 8388608)";
    assert_eq!(filter(EventPoint::Completed), devices);
    let backing = "name == \"7:0\" || name ~ \"7:*\" || name ~ \"btrfs-*\"";
    assert_eq!(filter(EventPoint::FolioDirtied), backing);
    assert_eq!(filter(EventPoint::NewTask), "");
    let later = stage.watch.later_events();
    for placed in [EventPoint::IoendAdded, EventPoint::BtrfsPlaced, EventPoint::F2fsPlaced] {
        assert!(later.iter().any(|(event, _)| event.point == placed), "{placed:?}");
    }
    assert!(later.iter().all(|event| !events.contains(event)));
}

#[test]
fn another_filesystem_on_the_same_sectors_replaces_the_former() {
    let mut stage = ext();
    stage.event(A, EventPoint::DirectBegan, &[9, 0, 4096]).write(A, 80_000, 8, "WS");
    stage.watch.retire(0, &(0..1 << 30));
    let member = Member { device: 0, sectors: 0..1 << 30, id: 0 };
    stage.watch.add_filesystem(FilesystemSpec {
        model: ModelSpec::Generic,
        members: vec![member],
        layout: Layout::unknown(),
        number: DISK,
        backing: vec![DISK],
        fsid: None,
    });
    stage.event(B, EventPoint::DirectBegan, &[9, 0, 4096]).write(B, 80_000, 8, "WS");
    assert_eq!(stage.rows(), [row("a", "data", 9, 4096), row("b", "data", 9, 4096)]);
    let fresh = stage.watch.take_fresh();
    assert_eq!(fresh.iter().map(|inode| inode.filesystem).collect::<Vec<_>>(), [0, 1]);
}

proptest! {
    /// Whatever events there are, and whatever is lost of them, the rows are the counter's.
    #[test]
    fn the_sum_is_exact_whatever_events_are_lost(
        which in 0..4_u8,
        events in prop::collection::vec(
            (0..12_u8, 0..6_u32, prop::array::uniform5(0..64_u64), any::<bool>()), 0..200,
        ),
    ) {
        let mut stage = match which {
            0 => ext(),
            1 => Stage::new(ModelSpec::Xfs { places: None }, Layout::unknown()),
            2 => btrfs(),
            _ => Stage::new(ModelSpec::F2fs, Layout::unknown()),
        };
        let points = [
            EventPoint::ExtWritten, EventPoint::ExtFlushBegan, EventPoint::ExtInodeDirtied,
            EventPoint::JournalHandle,
            EventPoint::CommitBegan, EventPoint::IoendAdded, EventPoint::XfsInodePinned,
            EventPoint::BtrfsPlaced,
            EventPoint::FolioDirtied, EventPoint::DirectBegan,
        ];
        for (kind, thread, numbers, is_lost) in events {
            let thread = [A, B, FLUSHER, JOURNAL, 1, 2][thread as usize];
            let [sector, sectors, ..] = numbers;
            match points.get(usize::from(kind)) {
                Some(_) if is_lost => {}
                Some(point) => { stage.event(thread, *point, &numbers); }
                None if kind == 10 && !is_lost => {
                    let rwbs = if numbers[2] % 2 == 0 { "WM" } else { "W" };
                    stage.queue(thread, 16_000 + sector, sectors, rwbs);
                }
                None => { stage.complete(16_000 + sector, sectors); }
            }
        }
        stage.rows();
    }
}
