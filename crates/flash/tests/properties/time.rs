//! Time: what a command takes on an idle drive, what overlaps, and what does not.

use ssdlab_flash::{Command, Condition, Drive, Extent, Nanos, Stream};

use crate::specification;

/// Two dies on two channels; a page takes 1 ms over the bus and 0.1 ms over the link.
const HEAD: &str = "name = \"timed\"\ncapacity = \"4 MiB\"\nspare_factor = 0.2\n\
                    pages_per_block = 16\nsuperblock = 2\n";
const TIMING: &str = "[timing]\nchannels = 2\ndies_per_channel = 1\nread = \"2 ms\"\n\
                      program = \"10 ms\"\nerase = \"100 ms\"\nbus = \"4096 kB/s\"\n\
                      link_read = \"40960 kB/s\"\nlink_write = \"40960 kB/s\"\n\
                      controller_read = \"30 us\"\ncontroller_write = \"40 us\"\n";

const fn micros(micros: u64) -> Nanos {
    Nanos(micros * 1000)
}

fn filled(text: &str) -> Drive {
    let mut drive = Drive::new(specification(text), 1);
    let pages = drive.specification().logical_pages;
    drive.condition(Condition::Filled, pages, 1, &mut ssdlab_flash::unwatched).expect("it is new");
    drive
}

fn page(number: u64) -> Extent {
    Extent { offset_bytes: number * 4096, length_bytes: 4096 }
}

fn at(drive: &mut Drive, now: Nanos, command: Command) -> Nanos {
    drive.submit(now, command).expect("it is in range").at
}

#[test]
fn a_read_takes_controller_cells_bus_and_link() {
    let mut drive = filled(&format!("{HEAD}{TIMING}"));
    assert_eq!(at(&mut drive, micros(0), Command::Read(page(0))), micros(30 + 2000 + 1000 + 100));
}

#[test]
fn reads_of_two_dies_overlap_and_of_one_do_not() {
    let mut drive = filled(&format!("{HEAD}{TIMING}"));
    let first = at(&mut drive, micros(0), Command::Read(page(0)));
    let other_die = at(&mut drive, micros(0), Command::Read(page(1)));
    let same_die = at(&mut drive, micros(0), Command::Read(page(2)));
    assert_eq!(other_die - first, micros(30), "only the controller is in the way");
    assert_eq!(same_die - first, micros(2000), "the cells are read one after the other");
}

/// What a flush takes besides is for what has changed since the last, and the buffer first.
#[test]
fn a_flush_has_its_latency_once_for_what_was_changed() {
    let flushed = |head: &str| {
        let mut drive = filled(&format!("{head}{HEAD}{TIMING}flush_latency = \"7 ms\"\n"));
        let untouched = at(&mut drive, micros(0), Command::Flush);
        let write = at(&mut drive, untouched, Command::Write(page(0), Stream::Cold));
        let flush = at(&mut drive, write, Command::Flush);
        let again = at(&mut drive, flush, Command::Flush);
        let read = at(&mut drive, again, Command::Read(page(9)));
        let after_read = at(&mut drive, read, Command::Flush);
        [untouched, flush - write, again - flush, after_read - read]
    };
    let none = micros(0);
    assert_eq!(flushed(""), [none, micros(7000), none, none], "nothing to write out");
    assert_eq!(flushed("flush = \"ignored\"\n"), [none; 4], "nothing is done at all");
    let buffered = "write_buffer = { size = \"64 KiB\" }\n";
    let after_programs = [none, micros(1000 + 10_000 + 7000), none, none];
    assert_eq!(flushed(buffered), after_programs, "bus, program, and the map");
    let protected = format!("power_loss_protection = true\n{buffered}");
    assert_eq!(flushed(&protected), [none, micros(7000), none, none], "the buffer stays");
}

/// It waits for its own data alone, and leaves nothing to flush.
#[test]
fn a_write_with_fua_has_its_own_latency_and_spares_the_flush() {
    let buffered = "write_buffer = { size = \"64 KiB\" }\n";
    let timing = format!("{TIMING}flush_latency = \"7 ms\"\n");
    let times = |text: &str| {
        let mut drive = filled(text);
        let forced = at(&mut drive, micros(0), Command::WriteFua(page(0)));
        let flush = at(&mut drive, forced, Command::Flush);
        let write = at(&mut drive, flush, Command::Write(page(1), Stream::Cold));
        let beside = at(&mut drive, write, Command::WriteFua(page(2)));
        let after = at(&mut drive, beside, Command::Flush);
        [forced, flush - forced, beside - write, after - beside]
    };
    let (taken, program) = (40 + 100, 1000 + 10_000);
    let fua = format!("{buffered}{HEAD}{timing}fua_latency = \"3 ms\"\n");
    let forced = micros(taken + program + 3000);
    // Page 1 is flushed; it is on the other die.
    let flush = micros(program + 7000);
    assert_eq!(times(&fua), [forced, micros(0), forced, flush]);
    let without = times(&format!("{buffered}{HEAD}{timing}"));
    let written_and_flushed = micros(taken + program + 7000);
    assert_eq!(without, [written_and_flushed, micros(0), written_and_flushed, micros(0)]);
    let lies = times(&format!("flush = \"ignored\"\n{fua}"));
    assert_eq!(lies, [micros(taken), micros(0), micros(taken), micros(0)]);
}

#[test]
fn a_drive_that_writes_through_has_nothing_to_flush() {
    let head = "write_cache = \"through\"\npower_loss_protection = true\n\
                write_buffer = { size = \"64 KiB\" }\n";
    let mut drive =
        filled(&format!("{head}{HEAD}{TIMING}flush_latency = \"7 ms\"\nfua_latency = \"3 ms\"\n"));
    assert!(!drive.specification().takes_fua(), "the host need not ask");
    let forced = at(&mut drive, micros(0), Command::WriteFua(page(0)));
    assert_eq!(forced, micros(40 + 100));
    assert_eq!(at(&mut drive, forced, Command::Flush), forced);
    assert!(drive.cut_power().is_empty());
    let unprotected = head.replace("true", "false");
    let refused = ssdlab_flash::Specification::parse(&format!("{unprotected}{HEAD}{TIMING}"));
    assert!(refused.unwrap_err().help.contains("power_loss_protection = true"));
}

#[test]
fn a_write_is_done_when_it_is_in_the_buffer_and_safe_when_it_is_flushed() {
    let mut drive = filled(&format!("{HEAD}[write_buffer]\nsize = \"64 KiB\"\n{TIMING}"));
    let write = at(&mut drive, micros(0), Command::Write(page(0), Stream::Cold));
    assert_eq!(write, micros(40 + 100));
    let flush = at(&mut drive, write, Command::Flush);
    assert_eq!(flush - write, micros(1000 + 10_000), "bus and program");
    assert_eq!(at(&mut drive, flush, Command::Flush), flush, "nothing is left to do");
    let mut unbuffered = filled(&format!("{HEAD}{TIMING}"));
    let write = at(&mut unbuffered, micros(0), Command::Write(page(0), Stream::Cold));
    assert_eq!(write, micros(40 + 100 + 1000 + 10_000));
}

#[test]
fn a_read_goes_before_waiting_programs_and_a_suspended_one() {
    for (suspend, waits) in [("", 10_000 - 1000), ("suspend = \"50 us\"\n", 50)] {
        let mut drive = filled(&format!("{HEAD}{TIMING}{suspend}"));
        for number in 0..8 {
            at(&mut drive, micros(0), Command::Write(page(number), Stream::Cold));
        }
        // Programs on the die of page 0 begin 1.14 ms after the start at the earliest; one is in
        // progress, and three wait.
        let now = micros(2140);
        let read = at(&mut drive, now, Command::Read(page(100)));
        let alone = micros(30 + 2000 + 1000 + 100);
        let waited = read - now - alone;
        assert!(waited <= micros(waits + 100), "{suspend}: {waited:?}");
        assert!(waited >= micros(waits / 2), "{suspend}: {waited:?}");
    }
}

#[test]
fn a_read_behind_programs_of_the_slc_cache_waits_for_one_of_these() {
    let slc = "[slc_cache]\nsize = \"1 MiB\"\nbits_per_cell = 4\nprogram = \"3 ms\"\n";
    let read_behind = |data_program: &str| {
        let timing = TIMING.replace("program = \"10 ms\"", data_program);
        let mut drive = Drive::new(specification(&format!("{HEAD}{slc}{timing}")), 1);
        for number in 0..32 {
            at(&mut drive, micros(0), Command::Write(page(number), Stream::Cold));
        }
        // All are on their dies, where a dozen programs still wait.
        let now = micros(20_240);
        at(&mut drive, now, Command::Read(page(0))) - now
    };
    let waited = read_behind("program = \"10 ms\"") - micros(30 + 2000 + 1000 + 100);
    assert!(waited > micros(0) && waited <= micros(3000), "{waited:?}");
    assert_eq!(read_behind("program = \"3 ms\""), read_behind("program = \"10 ms\""));
}

/// The stream's page and the log's newest are merged, then the stream's block and the log's are
/// erased, and the log goes on in the latter.
#[test]
fn the_block_of_a_stream_is_erased_once_its_pages_are_safe_elsewhere() {
    let head = "name = \"fast\"\ncapacity = \"64 KiB\"\nspare_factor = 0.3\npages_per_block = 4\n\
                mapping = \"fast\"\nlog_fraction = 0.25\n";
    let timing = TIMING.replace("channels = 2", "channels = 3");
    let mut drive = Drive::new(specification(&format!("{head}{timing}")), 1);
    let mut now = micros(0);
    for number in [0, 2, 2, 2, 2] {
        now = at(&mut drive, now, Command::Write(page(number), Stream::Cold));
    }
    let end = at(&mut drive, now, Command::Write(page(2), Stream::Cold));
    let copies = 2000 + 1000 + 1000 + 2 * 10_000;
    assert_eq!(end - now, micros(40 + 100 + copies + 2 * 100_000 + 10_000));
}

#[test]
fn a_blocking_discard_holds_up_everything_and_a_queued_one_nothing() {
    let costs = "per_command = \"1 ms\"\nper_mapped_page = \"2 ms\"\nper_unmapped_mib = \"5 ms\"";
    for (blocking, read_at) in [(true, 1000 + 2 * 2000), (false, 0)] {
        let mut drive = filled(&format!("{HEAD}[trim]\nblocking = {blocking}\n{costs}\n{TIMING}"));
        let two = Extent { offset_bytes: 0, length_bytes: 8192 };
        let discard = at(&mut drive, micros(0), Command::Discard(two));
        assert_eq!(discard, micros(1000 + 2 * 2000));
        let read = at(&mut drive, micros(0), Command::Read(page(100)));
        assert_eq!(read, micros(read_at + 30 + 2000 + 1000 + 100), "blocking: {blocking}");
        // What is discarded already is cheap: two pages are 1/128 MiB.
        let again = at(&mut drive, micros(100_000), Command::Discard(two));
        assert_eq!(again, Nanos(101_000_000 + 5_000_000 / 128));
    }
}

#[test]
fn a_drive_outside_time_takes_none() {
    let mut drive = filled(HEAD);
    for command in [
        Command::Read(page(0)),
        Command::Write(page(0), Stream::Cold),
        Command::Flush,
        Command::Discard(page(0)),
        Command::WriteZeroes(page(0)),
    ] {
        assert_eq!(at(&mut drive, micros(7), command), micros(7), "{command:?}");
    }
}
