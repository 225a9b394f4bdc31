//! The presets against what is known of the real drives.
//!
//! The sources of the figures are in the presets' files. Figures that values were fitted to are in
//! the files themselves, and `tests/plausible` holds the model to them; those here are ratings,
//! predictions, and fits that take long to check. Large drives are made smaller, which keeps their
//! ratios and their dies. Each line that a test prints is a line of a table: `cargo test --release
//! -p ssdlab-flash --test presets -- --nocapture`.

use ssdlab_flash::bench;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::evidence::Value;
use ssdlab_flash::figures::FigureCheck;
use ssdlab_flash::grounded::grounded;
use ssdlab_flash::specification::WriteCache;
use ssdlab_flash::{
    Command, Condition, Drive, DriveWorkload, Extent, Nanos, Pattern, RequestGenerator,
    SECTOR_BYTES, Specification, Stream, play, presets,
};
use ssdlab_quantity::Bytes;

const SEED: u64 = 1;
const ALWAYS_PPM: u32 = 1_000_000;
const SECOND: Nanos = Nanos(1_000_000_000);

/// Prints a line of the table, and fails if the model is too far off.
fn check(figure: &str, cited: f64, measured: f64, tolerance: f64) {
    let off = measured / cited - 1.0;
    println!("| {figure} | {cited} | {measured:.2} | {:+.1} % |", 100.0 * off);
    assert!(
        off.abs() <= tolerance,
        "{figure}: cited {cited}, measured {measured}, off by {:.1} %",
        100.0 * off
    );
}

/// A preset at a fraction of its capacity.
fn specification(name: &str, fraction: u64) -> Specification {
    let preset = presets::find(name).expect("a preset has this name");
    let mut file = DriveFile::parse(preset.text).expect("a preset can be read");
    file.scale_down_to(Bytes(file.capacity.get_ref().0 / fraction));
    file.resolve().unwrap_or_else(|error| panic!("{name}: {error}; {}", error.help))
}

/// What a number of requests came to.
#[derive(Debug, Clone, Copy)]
struct Measured {
    /// 10^6 bytes a second.
    mb_per_s: f64,
    requests_per_s: f64,
    /// Pages programmed for each page the host wrote.
    amplification: f64,
}

/// A drive, and the time on it.
struct Bench {
    drive: Drive,
    now: Nanos,
    seed: u64,
}

impl Bench {
    fn new(name: &str, fraction: u64) -> Self {
        Self { drive: Drive::new(specification(name, fraction), SEED), now: Nanos::ZERO, seed: 0 }
    }

    fn in_condition(name: &str, fraction: u64, condition: Condition) -> Self {
        let mut bench = Self::new(name, fraction);
        bench
            .drive
            .condition(condition, bench.pages(), SEED, &mut ssdlab_flash::unwatched)
            .expect("the span is the drive");
        bench
    }

    fn filled(name: &str, fraction: u64) -> Self {
        Self::in_condition(name, fraction, Condition::Filled)
    }

    fn pages(&self) -> u32 {
        self.drive.specification().logical_pages
    }

    fn page_bytes(&self) -> u64 {
        u64::from(self.drive.specification().page_bytes)
    }

    fn pages_in(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(self.page_bytes())).expect("fewer than the drive has")
    }

    fn workload(&self, pattern: Pattern, request_bytes: u64, reads_ppm: u32) -> DriveWorkload {
        DriveWorkload {
            pattern,
            span_pages: self.pages(),
            request_pages: self.pages_in(request_bytes),
            reads_ppm,
            trims_ppm: 0,
        }
    }

    fn play(&mut self, requests: &mut RequestGenerator, count: u64, depth: usize) -> Measured {
        self.drive.reset_counts();
        let end = play(&mut self.drive, requests, count, depth, self.now, |_, _| {})
            .expect("the requests are on the drive");
        let seconds = end.since(self.now).0 as f64 / SECOND.0 as f64;
        self.now = end;
        let asked = self.drive.host_counters();
        Measured {
            mb_per_s: (asked.read_bytes + asked.written_bytes) as f64 / 1e6 / seconds,
            requests_per_s: count as f64 / seconds,
            amplification: self.drive.flash_counters().programs.total() as f64
                / asked.written_pages.max(1) as f64,
        }
    }

    fn run(&mut self, workload: DriveWorkload, count: u64, depth: usize) -> Measured {
        self.seed += 1;
        self.play(&mut RequestGenerator::new(workload, self.seed), count, depth)
    }

    fn read_in_order(&mut self, request_bytes: u64, count: u64, depth: usize) -> Measured {
        self.run(self.workload(Pattern::Sequential, request_bytes, ALWAYS_PPM), count, depth)
    }

    fn write_in_order(&mut self, request_bytes: u64, count: u64, depth: usize) -> Measured {
        self.run(self.workload(Pattern::Sequential, request_bytes, 0), count, depth)
    }

    fn write_at_random(&mut self, count: u64, depth: usize) -> Measured {
        self.run(self.workload(Pattern::Uniform, 4 << 10, 0), count, depth)
    }

    /// Writes 4 KiB at random within a first part of the drive.
    fn write_within(&mut self, span_pages: u32, count: u64, depth: usize) -> Measured {
        let workload = self.workload(Pattern::Uniform, 4 << 10, 0);
        self.run(DriveWorkload { span_pages, ..workload }, count, depth)
    }

    /// Does a command alone. Returns how long it took, in seconds.
    fn submit(&mut self, command: Command) -> f64 {
        let done = self.drive.submit(self.now, command).expect("the command is on the drive").at;
        let taken = done.since(self.now);
        self.now = done;
        taken.0 as f64 / SECOND.0 as f64
    }

    fn discard_all(&mut self) -> f64 {
        let length_bytes = self.drive.specification().capacity_bytes();
        self.submit(Command::Discard(Extent { offset_bytes: 0, length_bytes }))
    }

    fn assert_discards_do_nothing(&mut self) {
        let mapped = self.drive.mapped_pages();
        assert!(mapped > 0, "the drive holds data");
        assert!(self.discard_all().abs() < f64::EPSILON, "a discard takes no time");
        assert_eq!(self.drive.mapped_pages(), mapped, "a discard unmaps nothing");
    }
}

const SEQUENTIAL_BYTES: u64 = 128 << 10;

#[test]
fn every_preset_has_its_name_a_description_and_a_drive() {
    for preset in presets::ALL {
        let specification = Specification::parse(preset.text)
            .unwrap_or_else(|error| panic!("{}: {error}; {}", preset.name, error.help));
        assert_eq!(specification.name, preset.name);
        assert!(!specification.description.is_empty(), "{} says what it is", preset.name);
        assert_eq!(specification.timing.is_none(), preset.name == "ideal");
    }
}

#[test]
fn every_spare_factor_lies_inside_of_what_is_plausible() {
    for preset in presets::ALL {
        let values = grounded(preset.text).expect("a preset has evidence");
        let spare = values.iter().find(|value| value.key == "spare_factor").expect("it has one");
        let evidence = spare.evidence.as_ref().expect("a preset has evidence for every value");
        let Some([Value::Number(least), Value::Number(most)]) = &evidence.range else {
            panic!("{}: {:?}", preset.name, evidence.range);
        };
        let own: f64 = spare.value.parse().expect("it is a number");
        assert!(*least < own && own < *most, "{}: {least} < {own} < {most}", preset.name);
    }
}

#[test]
fn a_drive_of_our_time_is_discarded_in_seconds_to_minutes() {
    const FRACTION: u64 = 64;
    for name in [
        "sata-tlc",
        "970-pro",
        "tlc-dramless",
        "tlc-dram",
        "qlc",
        "tlc-gen4",
        "tlc-2023",
        "datacenter",
        "datacenter-tlc",
        "datacenter-gen4",
        "datacenter-gen5",
    ] {
        let mut bench = Bench::filled(name, FRACTION);
        let full = bench.discard_all() * FRACTION as f64;
        let empty = bench.discard_all() * FRACTION as f64;
        for seconds in [full, empty] {
            assert!((2.0..=300.0).contains(&seconds), "{name}: full {full} s, empty {empty} s");
        }
    }
}

/// How far the model is off each figure of drives with `PCIe` that nothing was fitted to.
fn held_out() -> Vec<(String, f64)> {
    let nvme = [
        "970-pro",
        "tlc-dramless",
        "tlc-dram",
        "qlc",
        "tlc-gen4",
        "tlc-2023",
        "datacenter",
        "datacenter-tlc",
        "datacenter-gen4",
        "datacenter-gen5",
        "optane",
    ];
    let mut off = Vec::new();
    for name in nvme {
        let preset = presets::find(name).expect("a preset has this name");
        let file = DriveFile::parse(preset.text).expect("a preset can be read");
        let evidence = file.evidence.values();
        let fitted: Vec<&String> =
            evidence.flat_map(|evidence| &evidence.get_ref().fitted_to).collect();
        let mut bench = bench::Bench::new(&file);
        for (id, figure) in file.figures.iter().filter(|(id, _)| !fitted.contains(id)) {
            if matches!(figure.check, FigureCheck::Unchecked { .. }) {
                continue;
            }
            let ratio = figure.compare(&mut bench).expect("it is tested").expect("on this drive");
            println!("| {name}: {id} | {} | {:+.0} % |", figure.value, 100.0 * (ratio - 1.0));
            off.push((format!("{name}: {id}"), (ratio - 1.0).abs()));
        }
    }
    off
}

#[test]
fn nvme_drives_predict_most_of_what_others_measured() {
    let off = held_out();
    let within = |most: f64| off.iter().filter(|(_, off)| *off <= most).count();
    let (quarter, half) = (within(0.25), within(0.5));
    println!("{} figures: {quarter} within 25 %, {half} within 50 %", off.len());
    assert!(off.len() >= 20, "{}", off.len());
    assert!(2 * quarter >= off.len(), "{quarter} of {} within 25 %", off.len());
    assert!(5 * half >= 4 * off.len(), "{half} of {} within 50 %", off.len());
}

#[test]
fn every_preset_can_be_filled_and_overwritten_at_random() {
    for preset in presets::ALL {
        let whole = specification(preset.name, 1).capacity_bytes();
        let mut bench = Bench::filled(preset.name, (whole >> 33).max(1));
        let pages = bench.pages();
        let workload = bench.workload(Pattern::Uniform, 4 << 10, 0);
        let mut requests = RequestGenerator::new(workload, SEED);
        // A block-mapped drive copies as much within a few writes as others within many.
        let mut programs = 0;
        while programs < u64::from(pages) {
            bench.play(&mut requests, 1000, 4);
            programs += bench.drive.flash_counters().programs.total();
        }
        assert_eq!(bench.drive.mapped_pages(), pages, "{} keeps all data", preset.name);
    }
}

#[test]
fn eeepc_4g_rewrites_a_block_for_a_small_write() {
    let mut bench = Bench::filled("eeepc-4g", 1);
    let pages = bench.drive.specification().pages_per_block;
    assert_eq!(u64::from(pages) * bench.page_bytes(), 128 << 10, "a block is 128 KiB");
    let write = bench.write_at_random(2000, 1);
    // 64 pages for two.
    check("eeepc-4g: write amplification, random 4 KiB", 32.0, write.amplification, 0.01);
    let erases = bench.drive.flash_counters().erases.total();
    assert!((1990..=2000).contains(&erases), "an erase a write: {erases}");
    bench.assert_discards_do_nothing();
}

#[test]
fn sd_card_reads_as_measured() {
    let read = Bench::filled("sd-card", 8).read_in_order(SEQUENTIAL_BYTES, 1000, 1);
    check("sd-card: sequential read, MB/s", 20.4, read.mb_per_s, 0.15);
}

#[test]
fn sd_card_writes_three_to_five_pages_a_second_beyond_its_open_units() {
    let mut bench = Bench::filled("sd-card", 8);
    let write = bench.write_at_random(300, 1);
    check("sd-card: random write, pages a second (3 to 5)", 4.0, write.requests_per_s, 0.25);
}

#[test]
fn sd_card_keeps_five_units_open() {
    let seconds_a_write = |units: u64| {
        let mut bench = Bench::filled("sd-card", 8);
        let mut worst: f64 = 0.0;
        for page in 0..8 {
            for unit in 0..units {
                let extent = Extent {
                    offset_bytes: unit * (4 << 20) + page * (4 << 10),
                    length_bytes: 4 << 10,
                };
                let taken = bench.submit(Command::Write(extent, Stream::default()));
                // The first page opens the unit.
                if page > 0 {
                    worst = worst.max(taken);
                }
            }
        }
        worst
    };
    assert!(seconds_a_write(5) < 0.01, "five units in turn stay open");
    assert!(seconds_a_write(6) > 0.1, "a sixth closes the first");
}

#[test]
fn x25m_g1_is_as_fast_as_rated() {
    let mut bench = Bench::filled("x25m-g1", 10);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 8000, 32);
    check("x25m-g1: sequential read, MB/s", 250.0, read.mb_per_s, 0.03);
    let write = bench.write_in_order(SEQUENTIAL_BYTES, 30_000, 32);
    check("x25m-g1: sequential write, MB/s", 70.0, write.mb_per_s, 0.03);
}

#[test]
fn x25m_g1_slows_down_with_use_and_has_no_trim() {
    let mut bench = Bench::new("x25m-g1", 10);
    let span = bench.pages() / 10;
    let new = bench.write_within(span, u64::from(span), 3);
    check("x25m-g1: random write over a tenth, new, MB/s", 40.8, new.mb_per_s, 0.03);
    let mut bench = Bench::filled("x25m-g1", 10);
    bench.write_within(span, 2 * u64::from(span), 3);
    let used = bench.write_within(span, u64::from(span), 3);
    check("x25m-g1: random write over a tenth, used, MB/s", 26.3, used.mb_per_s, 0.05);
    bench.assert_discards_do_nothing();
}

#[test]
fn x25m_g2_slows_down_on_the_second_pass_and_recovers_by_trim() {
    const FRACTION: u64 = 10;
    let mut bench = Bench::new("x25m-g2", FRACTION);
    let pass = u64::from(bench.pages());
    let fresh = bench.write_at_random(pass, 16);
    check("x25m-g2: random write, fresh, MB/s", 37.9, fresh.mb_per_s, 0.15);
    let second = bench.write_at_random(pass, 16);
    check("x25m-g2: random write, second pass, MB/s", 13.8, second.mb_per_s, 0.15);
    let seconds = bench.discard_all();
    assert_eq!(bench.drive.mapped_pages(), 0, "everything is trimmed");
    assert!(seconds * (FRACTION as f64) < 30.0, "the whole drive is trimmed in less than 30 s");
    // There are no erased blocks yet, and no idle time to make some.
    let trimmed = bench.write_at_random(pass, 16);
    check("x25m-g2: random write, after TRIM, MB/s", 38.0, trimmed.mb_per_s, 0.15);
}

#[test]
fn x25m_g2_is_as_fast_as_rated() {
    let mut bench = Bench::filled("x25m-g2", 10);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 8000, 32);
    check("x25m-g2: sequential read, MB/s", 250.0, read.mb_per_s, 0.15);
    let write = bench.write_in_order(SEQUENTIAL_BYTES, 30_000, 32);
    check("x25m-g2: sequential write, MB/s", 70.0, write.mb_per_s, 0.15);
}

#[test]
fn vertex_le_is_as_fast_as_rated() {
    let mut bench = Bench::filled("vertex-le", 10);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 20_000, 32);
    check("vertex-le: sequential read, MB/s", 270.0, read.mb_per_s, 0.03);
    // Once over the drive, which takes the spare space and comes to the filled blocks.
    let write = bench.write_in_order(SEQUENTIAL_BYTES, 76_000, 32);
    check("vertex-le: sequential write, MB/s", 235.0, write.mb_per_s, 0.03);
}

#[test]
fn vertex_le_discards_what_holds_data_slowly_and_in_the_way() {
    let mut bench = Bench::filled("vertex-le", 10);
    let tree = Extent { offset_bytes: 0, length_bytes: 512 << 20 };
    let begun = bench.now;
    assert!(bench.submit(Command::Discard(tree)) > 30.0, "half a GiB takes as many seconds");
    let beyond = Extent { offset_bytes: tree.length_bytes, length_bytes: 4096 };
    let read = bench.drive.submit(begun + Nanos(1000), Command::Read(beyond));
    let read = read.expect("the page is on the drive").at;
    assert!(read > bench.now, "a read waits for the discard");
    assert!(read.since(bench.now) < Nanos(1_000_000), "and for nothing else");
    bench.now = read;
    let again = bench.submit(Command::Discard(tree));
    check("vertex-le: the same discard again, s", 0.001, again, 0.01);
}

#[test]
fn pro_970_is_as_fast_as_rated() {
    let mut bench = Bench::filled("970-pro", 32);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 40_000, 32);
    check("970-pro: sequential read, MB/s", 3500.0, read.mb_per_s, 0.15);
    let write = bench.write_in_order(SEQUENTIAL_BYTES, 160_000, 32);
    check("970-pro: sequential write, MB/s", 2300.0, write.mb_per_s, 0.15);
}

#[test]
fn pro_970_syncs_300_to_800_writes_a_second() {
    let mut bench = Bench::filled("970-pro", 256);
    let extent = |page: u64| Extent { offset_bytes: page << 12, length_bytes: 4 << 10 };
    let mut flushed = 0.0;
    for page in 0..200 {
        flushed += bench.submit(Command::Write(extent(page), Stream::default()));
        flushed += bench.submit(Command::Flush);
    }
    let forced: f64 = (200..400).map(|page| bench.submit(Command::WriteFua(extent(page)))).sum();
    for (how, seconds) in [("with a flush", flushed), ("with FUA", forced)] {
        let rate = 200.0 / seconds;
        assert!((300.0..=800.0).contains(&rate), "{how}: {rate} a second");
    }
}

#[test]
fn drives_with_capacitors_report_no_volatile_cache_and_have_nothing_to_flush() {
    for name in ["datacenter", "datacenter-tlc", "datacenter-gen4", "datacenter-gen5", "optane"] {
        let mut bench = Bench::filled(name, 256);
        assert_eq!(bench.drive.specification().write_cache, WriteCache::Through, "{name}");
        let extent = Extent { offset_bytes: 0, length_bytes: 4 << 10 };
        let plain = bench.submit(Command::Write(extent, Stream::default()));
        assert!(bench.submit(Command::Flush).abs() < f64::EPSILON, "{name}");
        let forced = bench.submit(Command::WriteFua(extent));
        assert!((forced - plain).abs() < 1e-6, "{name}: {forced} s with FUA, {plain} s without");
    }
}

#[test]
fn tlc_dramless_falls_off_a_cliff_and_recovers_when_idle() {
    const FRACTION: u64 = 16;
    /// Requests of a stretch of 131 MB.
    const STRETCH: u64 = 1000;
    let stretch_gb = (STRETCH * SEQUENTIAL_BYTES) as f64 / 1e9;
    let mut bench = Bench::new("tlc-dramless", FRACTION);
    let workload = bench.workload(Pattern::Sequential, SEQUENTIAL_BYTES, 0);
    let mut requests = RequestGenerator::new(workload, SEED);
    for round in ["new", "after 30 s of idleness"] {
        let mut cached = 0.0;
        loop {
            let write = bench.play(&mut requests, STRETCH, 32);
            if write.mb_per_s < 2900.0 {
                break;
            }
            check("tlc-dramless: write into the cache, MB/s", 3000.0, write.mb_per_s, 0.03);
            cached += stretch_gb;
        }
        let cited = 12.0 / FRACTION as f64;
        assert!(
            (cited - 2.5 * stretch_gb..=cited).contains(&cached),
            "{round}: the cache takes {cited} GB, to within two stretches: {cached}"
        );
        // Six stretches fold the cache out once over.
        let write = bench.play(&mut requests, 6 * STRETCH, 32);
        check("tlc-dramless: write beyond the cache, MB/s", 600.0, write.mb_per_s, 0.20);
        bench.now += Nanos(30 * SECOND.0);
    }
}

#[test]
fn tlc_dramless_is_as_fast_as_rated_where_its_map_is_at_hand() {
    const FRACTION: u64 = 16;
    let mut bench = Bench::filled("tlc-dramless", FRACTION);
    // The filling has left the cache full.
    bench.now = Nanos(60 * SECOND.0);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 40_000, 32);
    check("tlc-dramless: sequential read, MB/s", 3500.0, read.mb_per_s, 0.05);
    let workload = bench.workload(Pattern::Uniform, 4 << 10, ALWAYS_PPM);
    let near = DriveWorkload { span_pages: bench.pages() / 20, ..workload };
    bench.run(near, 100_000, 128);
    let read = bench.run(near, 200_000, 128);
    check("tlc-dramless: random read, IOPS", 460_000.0, read.requests_per_s, 0.05);
    let far = bench.run(workload, 200_000, 128);
    assert!(far.requests_per_s < 0.8 * read.requests_per_s, "the map is read beyond");
}

#[test]
fn datacenter_is_as_fast_as_rated() {
    let mut bench = Bench::filled("datacenter", 100);
    let read = bench.read_in_order(SEQUENTIAL_BYTES, 40_000, 32);
    check("datacenter: sequential read, MB/s", 2800.0, read.mb_per_s, 0.20);
}

#[test]
fn datacenter_writes_at_random_in_its_steady_state_as_rated() {
    let mut bench = Bench::in_condition("datacenter", 100, Condition::Steady);
    let write = bench.write_at_random(u64::from(bench.pages()) / 2, 128);
    check("datacenter: random write, steady, IOPS", 150_000.0, write.requests_per_s, 0.20);
}

#[test]
fn datacenter_loses_nothing_when_the_power_fails() {
    let mut bench = Bench::new("datacenter", 100);
    bench.write_at_random(10_000, 32);
    let before = bench.now;
    assert_eq!(bench.drive.cut_power(), []);
    // Its time begins anew, and nothing that was saved is waited for.
    for page in 0..1_000 {
        let extent = Extent { offset_bytes: page << 14, length_bytes: 4 << 10 };
        let done = bench.drive.submit(Nanos::ZERO, Command::Write(extent, Stream::default()));
        assert!(done.unwrap().at < before, "{page}");
    }
    let mut bench = Bench::new("vertex-le", 10);
    bench.write_at_random(10_000, 32);
    assert_ne!(bench.drive.cut_power(), [], "a drive without that protection does");
}

#[test]
fn ideal_adds_nothing() {
    let mut bench = Bench::filled("ideal", 16);
    let pages = u64::from(bench.pages());
    let workload = bench.workload(Pattern::Uniform, 4 << 10, 0);
    let mut requests = RequestGenerator::new(workload, SEED);
    let submitted = Nanos(42);
    play(&mut bench.drive, &mut requests, 3 * pages, 1, submitted, |_, played| {
        assert_eq!(played.submitted, played.done, "a write is done at once");
    })
    .expect("the requests are on the drive");
    assert_eq!(bench.drive.host_counters().written_pages, 3 * pages);
    assert_eq!(
        bench.drive.flash_counters().programs.total(),
        3 * pages,
        "write amplification is 1"
    );
    assert_eq!(bench.drive.flash_counters().reads.total(), 0);
    let extent = Extent { offset_bytes: SECTOR_BYTES, length_bytes: 1 << 20 };
    for command in [
        Command::Read(extent),
        Command::Flush,
        Command::WriteZeroes(extent),
        Command::Discard(extent),
        Command::Write(extent, Stream::Hot),
    ] {
        let done = bench.drive.submit(submitted, command).expect("it is on the drive").at;
        assert_eq!(done, submitted, "{command:?} is done at once");
    }
}
