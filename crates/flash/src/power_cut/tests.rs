//! What may survive of logs short enough to check by hand.

use super::{LoggedRequest, PowerCuts, RequestLogError, RevertedSectors, SectorContents};
use crate::command::{Command, Extent, Stream};
use crate::specification::{Flush, PowerFault, Specification, TrimmedReads};
use crate::units::Nanos;

const PAGE: u64 = 8;

fn drive() -> Specification {
    let file = "name = \"cut\"\ncapacity = \"1 MiB\"\nspare_factor = 0.1\npages_per_block = 8\n\
                atomic_write_unit = \"4 KiB\"\n[write_buffer]\nsize = \"16 KiB\"";
    Specification::parse(file).unwrap()
}

fn extent(first: u64, sectors: u64) -> Extent {
    Extent { offset_bytes: first * 512, length_bytes: sectors * 512 }
}

fn write(first: u64, sectors: u64) -> Command {
    Command::Write(extent(first, sectors), Stream::Cold)
}

/// Requests one after another, each of which takes 5 of the 10 ns until the next.
fn in_turn(commands: &[Command]) -> Vec<LoggedRequest> {
    let logged = |(number, command): (u64, &Command)| LoggedRequest {
        submitted: Nanos(10 * number),
        completed: Some(Nanos(10 * number + 5)),
        command: *command,
        is_fua: false,
    };
    (0..).zip(commands).map(logged).collect()
}

/// All different survivors of a cut.
fn survivors(drive: &Specification, log: &[LoggedRequest], at: u64) -> Vec<Vec<RevertedSectors>> {
    let mut cuts = PowerCuts::new(drive, log).unwrap();
    let cut = cuts.at(Nanos(at));
    let mut found: Vec<Vec<RevertedSectors>> = Vec::new();
    for seed in 0..500 {
        let survivor = cut.survivor(seed).reverted;
        if !found.contains(&survivor) {
            found.push(survivor);
        }
    }
    let may_lose = cut.at_risk().next().is_some() || drive.power_loss.fault == PowerFault::LostMap;
    assert_eq!(may_lose, found != [[]]);
    found
}

fn reverted(first: u64, sectors: u64, to: SectorContents) -> RevertedSectors {
    RevertedSectors { sectors: first..first + sectors, to }
}

#[test]
fn what_was_flushed_survives_and_what_was_not_may_not() {
    let log = in_turn(&[write(0, PAGE), Command::Flush, write(0, PAGE)]);
    assert_eq!(survivors(&drive(), &log, 15), [[]]);
    let after = survivors(&drive(), &log, 25);
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(
        after.contains(&vec![]) && after.contains(&vec![reverted(0, PAGE, SectorContents::Of(0))])
    );
}

#[test]
fn at_risk_is_what_is_not_flushed_and_what_is_under_way() {
    let log = in_turn(&[write(0, PAGE), Command::Flush, write(0, PAGE), write(PAGE, 2 * PAGE)]);
    let at_risk = |at| -> Vec<(usize, u64)> {
        PowerCuts::new(&drive(), &log).unwrap().at(Nanos(at)).at_risk().collect()
    };
    assert_eq!(at_risk(5), [(0, 4096)]);
    assert_eq!(at_risk(15), []);
    assert_eq!(at_risk(32), [(2, 4096), (3, 8192)]);
}

#[test]
fn a_flush_covers_what_was_done_when_it_was_submitted() {
    let mut log = in_turn(&[write(0, PAGE), Command::Flush]);
    log[0].completed = Some(Nanos(12));
    let after = survivors(&drive(), &log, 20);
    assert!(after.contains(&vec![reverted(0, PAGE, SectorContents::Original)]), "{after:?}");
    log[0].completed = Some(Nanos(10));
    assert_eq!(survivors(&drive(), &log, 20), [[]]);
}

#[test]
fn a_drive_that_ignores_flushes_loses_what_was_flushed() {
    let lies = |flush| {
        let mut drive = drive();
        drive.power_loss.flush = flush;
        drive
    };
    let mut log = in_turn(&[write(0, PAGE), Command::Flush, write(PAGE, PAGE)]);
    log[2].is_fua = true;
    assert_eq!(survivors(&lies(Flush::Honest), &log, 30), [[]]);
    let found = survivors(&lies(Flush::Ignored), &log, 30);
    assert!(found.contains(&vec![reverted(0, 2 * PAGE, SectorContents::Original)]), "{found:?}");
}

#[test]
fn capacitors_save_what_was_acknowledged() {
    let mut drive = drive();
    drive.power_loss.protection = true;
    let log = in_turn(&[write(0, PAGE), write(0, PAGE)]);
    assert_eq!(survivors(&drive, &log, 15), [[]]);
    let under_way = survivors(&drive, &log, 12);
    assert!(under_way.contains(&vec![reverted(0, PAGE, SectorContents::Of(0))]), "{under_way:?}");
    drive.power_loss.protection = false;
    drive.write_buffer = None;
    assert_eq!(survivors(&drive, &log, 15), [[]], "there is nothing to lose");
}

#[test]
fn a_full_cache_makes_the_oldest_line_safe() {
    // Four lines; the first is written again, so that the second is the oldest.
    let pages = [0, 1, 2, 3, 0, 4].map(|page| write(page * PAGE, PAGE));
    let log = in_turn(&pages);
    let found = survivors(&drive(), &log, 55);
    let lost = |page: u64| {
        found.iter().flatten().any(|reverted| reverted.sectors.contains(&(page * PAGE)))
    };
    assert_eq!([0, 1, 2, 3, 4].map(lost), [true, false, true, true, true]);
}

#[test]
fn units_are_whole_and_have_all_that_came_before() {
    // Two halves of a page: the second is not there without the first.
    let log = in_turn(&[write(0, 4), write(4, 4)]);
    let found = survivors(&drive(), &log, 15);
    assert_eq!(found.len(), 3, "{found:?}");
    for lost in [(0, 0), (4, 4), (0, 8)] {
        let lost = reverted(lost.0, lost.1, SectorContents::Original);
        let lost: Vec<_> = Some(lost).filter(|lost| !lost.sectors.is_empty()).into_iter().collect();
        assert!(found.contains(&lost), "{lost:?} is not among {found:?}");
    }
}

#[test]
fn just_what_is_chosen_is_lost() {
    let log =
        in_turn(&[write(0, PAGE), write(PAGE, PAGE), write(2 * PAGE, 4), write(2 * PAGE, PAGE)]);
    let drive = drive();
    let mut cuts = PowerCuts::new(&drive, &log).unwrap();
    let cut = cuts.at(Nanos(35));
    let losing = |lost: &[usize]| cut.losing(&lost.iter().copied().collect());
    assert_eq!(losing(&[]).reverted, []);
    let second = losing(&[1]);
    assert_eq!(second.reverted, [reverted(PAGE, PAGE, SectorContents::Original)]);
    let older = (0..4).filter(|number| second.is_older(*number, log[*number].command));
    assert_eq!(older.collect::<Vec<_>>(), [1]);
    assert_eq!(losing(&[2]).reverted, [], "the unit has the next request, which came later");
    let parts = [(2 * PAGE, SectorContents::Of(2)), (2 * PAGE + 4, SectorContents::Original)];
    assert_eq!(losing(&[3]).reverted, parts.map(|(first, to)| reverted(first, 4, to)));
    assert_eq!(losing(&[0, 1, 2, 3]), cut.losing(&(0..9).collect()));
}

#[test]
fn a_request_is_torn_between_units() {
    let torn = |unit: u32| {
        let mut drive = drive();
        drive.power_loss.atomic_write_bytes = unit;
        let found = survivors(&drive, &in_turn(&[write(0, 2 * PAGE)]), 2);
        let ends = found.iter().flatten().flat_map(|lost| [lost.sectors.start, lost.sectors.end]);
        ends.map(|sector| sector * 512 % u64::from(unit)).max()
    };
    assert_eq!(torn(512), Some(0));
    assert_eq!(torn(4096), Some(0));
    let mut drive = drive();
    drive.power_loss.atomic_write_bytes = 8192;
    let found = survivors(&drive, &in_turn(&[write(0, 2 * PAGE)]), 2);
    assert_eq!(found.len(), 2, "whole or not: {found:?}");
}

#[test]
fn what_was_discarded_reads_as_the_drive_has_it() {
    let mut drive = drive();
    let log = in_turn(&[
        write(0, PAGE),
        Command::Flush,
        Command::Discard(extent(0, PAGE)),
        Command::Flush,
    ]);
    let old = vec![reverted(0, PAGE, SectorContents::Of(0))];
    assert!(survivors(&drive, &log, 25).contains(&old), "the discard was not flushed");
    assert_eq!(survivors(&drive, &log, 40), [[]]);
    drive.trim.reads = TrimmedReads::OldOrZeros;
    assert_eq!(survivors(&drive, &log, 40).len(), 2);
    drive.trim.honoured = false;
    assert_eq!(survivors(&drive, &log, 40), [old]);
}

#[test]
fn what_was_written_after_a_discard_stays() {
    let mut drive = drive();
    drive.trim.reads = TrimmedReads::OldOrZeros;
    let discard = Command::Discard(extent(0, 2 * PAGE));
    let log = in_turn(&[discard, write(0, PAGE), Command::Flush]);
    let found = survivors(&drive, &log, 40);
    assert!(found.iter().flatten().all(|reverted| reverted.sectors.start >= PAGE), "{found:?}");
}

#[test]
fn an_earlier_cut_begins_anew() {
    let log = in_turn(&[write(0, PAGE), write(PAGE, PAGE), Command::Flush]);
    let mut cuts = PowerCuts::new(&drive(), &log).unwrap();
    let first = cuts.at(Nanos(5)).survivor(1);
    assert_eq!(cuts.at(Nanos(25)).at_risk().next(), None);
    let again = cuts.at(Nanos(5));
    assert_eq!((again.submitted(), again.survivor(1)), (1, first));
}

#[test]
fn cuts_are_where_something_happens() {
    let log = in_turn(&[write(0, PAGE), Command::Flush, write(0, PAGE), Command::Flush]);
    let drive = drive();
    let cuts = PowerCuts::new(&drive, &log).unwrap();
    let nanos = |count| -> Vec<u64> {
        let within = Nanos::ZERO..Nanos(100);
        cuts.moments(&within, &[Nanos(17)], count, 1).into_iter().map(|at| at.0).collect()
    };
    assert_eq!(nanos(5), [10, 15, 17, 30, 35]);
    assert_eq!(nanos(100), [0, 5, 10, 15, 17, 20, 25, 30, 35]);
    assert_eq!(nanos(7).len(), 7);
    let few = nanos(2);
    assert!(few.len() == 2 && few[0] < few[1], "{few:?}");
    assert_eq!(nanos(0), [0; 0]);
    let random = PowerCuts::at_random(&(Nanos(10)..Nanos(20)), 100, 1);
    assert!(random.is_sorted() && random.len() == 100);
    assert_eq!((random[0], random[99]), (Nanos(10), Nanos(19)));
    let within = Nanos(15)..Nanos(30);
    assert_eq!(cuts.moments(&within, &[Nanos(17)], 9, 1), [15, 17, 20, 25].map(Nanos));
}

#[test]
fn a_log_that_contradicts_itself_is_refused() {
    let fault = |change: &dyn Fn(&mut Vec<LoggedRequest>)| {
        let mut log = in_turn(&[write(0, PAGE), write(0, PAGE)]);
        change(&mut log);
        PowerCuts::new(&drive(), &log).map(drop).unwrap_err()
    };
    assert_eq!(fault(&|log| log.swap(0, 1)), RequestLogError::Unsorted { number: 1 });
    assert_eq!(
        fault(&|log| log[1].completed = Some(Nanos(3))),
        RequestLogError::Backwards { number: 1 }
    );
    let half = Command::Write(Extent { offset_bytes: 256, length_bytes: 512 }, Stream::Cold);
    assert_eq!(fault(&|log| log[0].command = half), RequestLogError::Misaligned { number: 0 });
}
