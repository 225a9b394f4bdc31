//! Tests of drives with another capacity.

use super::*;
use crate::presets;

const GB: u64 = 1_000_000_000;

fn preset(name: &str) -> DriveFile {
    DriveFile::parse(presets::find(name).unwrap().text).unwrap()
}

/// The caches of a drive that is given a capacity: of one bit a cell, and of the map.
fn caches(name: &str, gigabytes: u64) -> (u64, Option<u64>, Option<u64>) {
    let mut file = preset(name);
    file.with_capacity(Bytes(gigabytes * GB));
    let (slc, map) = (file.slc_cache.unwrap(), file.map_cache);
    let cut_from = slc.cut_from.map(|whole| whole.0);
    (slc.size.get_ref().0, cut_from, map.map(|map| map.size.get_ref().0))
}

#[test]
fn caches_keep_their_size_as_far_as_the_flash_holds_them() {
    assert_eq!(caches("tlc-dram", 1000), (42 * GB, None, None));
    assert_eq!(caches("tlc-dram", 256), (42 * GB, None, None));
    let (cut, whole, _) = caches("tlc-dram", 64);
    assert!(cut.abs_diff(64 * GB / 3) < 4096 && whole == Some(42 * GB), "{cut} {whole:?}");
    assert_eq!(caches("tlc-dramless", 64), (12 * GB, None, Some(64 << 20)));
}

#[test]
fn a_drive_at_its_own_capacity_is_the_drive() {
    for preset in presets::ALL {
        let mut file = DriveFile::parse(preset.text).unwrap();
        let own = *file.capacity.get_ref();
        file.check_capacity(own).unwrap();
        file.with_capacity(own);
        let whole = DriveFile::parse(preset.text).unwrap().resolve();
        assert_eq!(file.resolve(), whole, "{}", preset.name);
    }
}

#[test]
fn the_least_capacity_has_100_superblocks_of_them_10_spare() {
    for preset in presets::ALL {
        let file = DriveFile::parse(preset.text).unwrap();
        let blocks = |capacity: u64| {
            let mut file = file.clone();
            file.with_capacity(Bytes(capacity));
            let drive = file.resolve().unwrap();
            let all = f64::from(drive.blocks);
            (all, all * file.spare_factor.get_ref())
        };
        let least = file.least_capacity().0;
        file.check_capacity(Bytes(least)).unwrap();
        // To the nearest block.
        let (all, spare) = blocks(least);
        assert!(all > 99.0 && spare > 9.9, "{}: {all} {spare}", preset.name);
        let (all, spare) = blocks(least / 10 * 8);
        assert!(all < 100.0 || spare < 10.0, "{}: {all} {spare}", preset.name);
    }
}

#[test]
fn a_smaller_capacity_is_refused_with_the_least_one() {
    let refusal = preset("tlc-dram").check_capacity(Bytes(8 * GB)).unwrap_err();
    assert_eq!(refusal.help, "give it a capacity of at least \"27.0 GB\"");
    let least: Bytes = "27.0 GB".parse().unwrap();
    preset("tlc-dram").check_capacity(least).unwrap();
    // A small real drive has the capacity that it has.
    let tiny = "name = \"tiny\"\ncapacity = \"16 MiB\"\nspare_factor = 0.1\n";
    let tiny = DriveFile::parse(tiny).unwrap();
    tiny.check_capacity(Bytes(16 << 20)).unwrap();
    tiny.check_capacity(Bytes(15 << 20)).unwrap_err();
}
