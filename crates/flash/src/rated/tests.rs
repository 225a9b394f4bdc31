//! Tests of drive files that are made from ratings.

use ssdlab_quantity::{Bytes, Rate};

use super::{Ratings, rated};
use crate::bench::Bench;
use crate::drive_file::DriveFile;
use crate::evidence::Basis;
use crate::{DriveFileError, EvidencedValue, Plausible, grounded, presets};

const GB: u64 = 1_000_000_000;

fn like(preset: &str, ratings: &Ratings) -> Result<String, DriveFileError> {
    rated("mine", ratings, presets::find(preset).unwrap().text)
}

const fn mb_per_s(rate: u64) -> Rate {
    Rate(rate * 1_000_000)
}

/// What the box of a SATA drive says.
const BOX: Ratings = Ratings {
    capacity: Some(Bytes(1_000 * GB)),
    read: Some(mb_per_s(550)),
    write: Some(mb_per_s(520)),
    random_reads: Some(98_000),
    random_writes: Some(88_000),
    written: Some(Bytes(600_000 * GB)),
};

fn value<'a>(values: &'a [EvidencedValue], key: &str) -> &'a EvidencedValue {
    values.iter().find(|value| value.key == key).unwrap()
}

#[test]
fn ratings_determine_values_and_the_others_are_assumed() {
    let text = like("sata-tlc", &BOX).unwrap();
    let made = grounded(&text).unwrap();
    let there = grounded(presets::find("sata-tlc").unwrap().text).unwrap();
    let rated = [
        ("capacity", "1000000000000", Basis::Datasheet),
        ("timing.controller_read", "\"10204 ns\"", Basis::Fitted),
        ("timing.controller_write", "\"11364 ns\"", Basis::Fitted),
        ("timing.link_read", "\"550 MB/s\"", Basis::Fitted),
        ("timing.link_write", "\"520 MB/s\"", Basis::Fitted),
        ("wear.endurance", "600", Basis::Datasheet),
    ];
    for (key, expected, basis) in rated {
        let EvidencedValue { value, evidence, .. } = value(&made, key);
        assert_eq!((&**value, evidence.as_ref().unwrap().basis), (expected, basis), "{key}");
    }
    assert_eq!(made.len(), there.len());
    for of_like in there.iter().filter(|of| rated.iter().all(|(key, ..)| *key != of.key)) {
        let EvidencedValue { key, value, evidence } = value(&made, &of_like.key);
        assert_eq!(*value, of_like.value, "{key}");
        let (evidence, theirs) = (evidence.as_ref().unwrap(), of_like.evidence.as_ref().unwrap());
        assert_eq!((evidence.basis, &evidence.range), (Basis::Assumed, &theirs.range), "{key}");
        assert_eq!(evidence.source, format!("as `sata-tlc`: {}", theirs.source));
    }
}

#[test]
fn a_drive_gives_its_ratings_and_plausible_ones_do() {
    let text = like("sata-tlc", &BOX).unwrap();
    let file = DriveFile::parse(&text).unwrap();
    let mut bench = Bench::new(&file);
    assert_eq!(file.figures.len(), 4);
    for (name, figure) in &file.figures {
        let ratio = figure.compare(&mut bench).unwrap().unwrap();
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {ratio}");
    }
    let drawn = Plausible::of(&text).unwrap().draw(1, 0).unwrap();
    assert_eq!(drawn.drive.capacity_bytes(), 1_000 * GB);
}

#[test]
fn flash_that_is_too_slow_for_a_rating_is_made_as_fast_as_it_needs() {
    let ratings =
        Ratings { read: Some(mb_per_s(5_150)), write: Some(mb_per_s(4_900)), ..Ratings::default() };
    let made = grounded(&like("tlc-dramless", &ratings).unwrap()).unwrap();
    let of = |key| value(&made, key);
    // Four channels carry 4 KiB in 3842 ns each, and 128 planes program 4 KiB in 165 us.
    assert_eq!(of("timing.bus").value, "\"1416102012 B/s\"");
    assert_eq!(of("slc_cache.program").value, "\"97270 ns\"");
    let rests_on = |key| of(key).evidence.as_ref().unwrap().fitted_to.clone();
    assert_eq!(rests_on("timing.bus"), ["sequential-read"]);
    assert_eq!(rests_on("slc_cache.program"), ["sequential-write"]);
    // They can be read fast enough.
    assert_eq!(of("timing.read").value, "\"75 us\"");
}

#[test]
fn a_smaller_drive_has_no_larger_slc_cache_than_its_cells_hold() {
    let ratings = Ratings { capacity: Some(Bytes(256 * GB)), ..Ratings::default() };
    let made = grounded(&like("qlc", &ratings).unwrap()).unwrap();
    assert_eq!(value(&made, "slc_cache.size").value, "\"64000000000 B\"");
    assert!(made.iter().all(|value| value.evidence.is_some()));
    // Nor is one plausible. Of half the capacity, the published size still fits.
    for (like_it, gb, range) in [
        ("qlc", 500, ["\"12 GB\"", "\"124999999488 B\""]),
        ("tlc-2023", 500, ["\"20 GB\"", "\"166666665984 B\""]),
        ("sata-tlc", 1_000, ["\"4 GB\"", "\"60 GB\""]),
    ] {
        let ratings = Ratings { capacity: Some(Bytes(gb * GB)), ..Ratings::default() };
        let made = grounded(&like(like_it, &ratings).unwrap()).unwrap();
        let evidence = value(&made, "slc_cache.size").evidence.clone().unwrap();
        let found = evidence.range.unwrap().map(|end| end.into_toml().to_string());
        assert_eq!(found, range, "{like_it}");
    }
}

/// A figure's test that needs too large a drive would rule the geometry out without a word.
#[test]
fn the_tests_of_ratings_rule_out_no_geometry_of_the_drive_like_it() {
    let text = like("qlc", &BOX).unwrap();
    let plausible = Plausible::of(&text).unwrap();
    let pages = (0..3).map(|number| plausible.draw(1, number).unwrap().drive.pages_per_block);
    let pages: Vec<u32> = pages.collect();
    assert!(pages.contains(&(768 * 128)), "{pages:?}");
}

#[test]
fn what_a_drive_cannot_have_is_refused_with_the_limit() {
    let none = Ratings::default();
    let cases = [
        (
            "sata-tlc",
            Ratings { read: Some(mb_per_s(3_500)), ..none },
            "a read rating of 3500 MB/s: SATA carries at most 600 MB/s",
        ),
        (
            "sata-tlc",
            Ratings { random_writes: Some(200_000), ..none },
            "a drive like `sata-tlc` does not reach 200000/s (rated: random writes of 4 KiB, on \
             the box): the rest of it allows 124",
        ),
        (
            "ideal",
            Ratings { random_reads: Some(1_000), ..none },
            "`ideal` is a drive without times",
        ),
        (
            "sata-tlc",
            Ratings { capacity: Some(Bytes(8 * GB)), ..none },
            "with 8.0 GB the drive `sata-tlc` has fewer than 100 superblocks",
        ),
        (
            "sata-tlc",
            Ratings { written: Some(Bytes(300 * GB)), ..none },
            "300.0 GB written in all are 0 times the capacity of the drive",
        ),
    ];
    for (preset, ratings, expected) in cases {
        let error = like(preset, &ratings).unwrap_err();
        assert!(error.message.starts_with(expected), "{expected}: {}", error.message);
    }
}
