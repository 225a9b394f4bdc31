//! Checksums and compression: filesystems are made and mounted as requested.

use std::fs;

use serde_json::Value;

use super::support::{Place, number, sh, treatment};
use super::{Case, Needs, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("checksums_are_what_the_filesystems_own_programs_say", checksums),
        case("xfs_of_version_4_runs_or_keeps_its_row", xfs_without_checksums),
        case("compression_of_btrfs_writes_less", || {
            compression("btrfs", ["off", "zlib", "lzo", "zstd"]);
        }),
        Case::new("compression_of_zfs_writes_less", Needs::OwnZfs, || {
            compression("zfs", ["off", "on", "lzjb", "gzip"]);
        }),
    ]
}

/// Runs a plan whose only phase after an unpack queries the device; returns the answers, one line
/// per treatment, and the output of `--json`.
fn ask(filesystem: &str, factor: &str, levels: &[&str], question: &str) -> (Vec<String>, Value) {
    let place = Place::new();
    let told = place.path("told");
    fs::write(&told, "").unwrap();
    let file = told.display();
    let first = levels[0];
    let plan = place.plan(&format!(
        r#"
        name = "settings"
        question = "Is it made as asked?"
        [target]
        size = "600 MiB"
        [factors]
        filesystem = "{filesystem}"
        {factor} = {levels:?}
        [baseline]
        {factor} = "{first}"
        [workload]
        tree = {{ files = 300, size = "5 MB" }}
        phases = [
            {{ do = "unpack", sync = true }},
            {{ do = "command", name = "ask", run = ["sh", "-c", '''
                disk=$(findmnt --noheadings --output SOURCE --target .); ({question}) >> {file}
            '''] }},
        ]
        "#
    ));
    let (code, json) = place.run(&plan, &["--runs", "1", "--verify"]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
    let mut told: Vec<String> =
        fs::read_to_string(&told).unwrap().lines().map(str::to_owned).collect();
    told.sort();
    (told, json)
}

fn checksums() {
    let of_ext4 = "dumpe2fs -h $disk 2> /dev/null | grep --count metadata_csum || true";
    assert_eq!(ask("ext4", "checksums", &["on", "off"], of_ext4).0, ["0", "1"]);
    let of_btrfs = "btrfs inspect-internal dump-super $disk | sed -n 's/^csum_type.*(//p'; \
                    grep --count \"^$disk .*nodatasum\" /proc/mounts || true";
    let levels = ["crc32c", "xxhash", "sha256", "blake2"];
    let told = ask("btrfs", "checksums", &levels, of_btrfs).0;
    assert_eq!(told, ["0", "0", "0", "0", "blake2)", "crc32c)", "sha256)", "xxhash64)"]);
    assert_eq!(ask("btrfs", "checksums", &["off"], of_btrfs).0, ["1", "crc32c)"]);
}

fn xfs_without_checksums() {
    let of_xfs = "xfs_info $(findmnt --noheadings --output TARGET --target .) | \
                  grep --only-matching crc=.";
    assert_eq!(ask("xfs", "checksums", &["on"], of_xfs).0, ["crc=1"]);
    let place = Place::new();
    let set = ["--set", "filesystem=xfs", "--set", "discard=off", "--set", "checksums=off"];
    let (_, json) =
        place.run("discard", &[&["--scale", "0.005", "--runs", "1"][..], &set].concat());
    let row = &json["treatments"][0];
    let is_refused = row["reason"].to_string().contains("xfs refused it (the kernel log");
    assert!(row["status"] == "ok" || is_refused, "{row:#}");
    let records = sh(&format!("cat {}/ssdlab/*/records.jsonl", place.path("data").display()));
    assert!(row["status"] != "ok" || records.contains("\"checksums\":\"off\""), "{records}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn compression(filesystem: &str, levels: [&str; 4]) {
    let (_, json) = ask(filesystem, "compression", &levels, "true");
    let written = |level| number(treatment(&json, "compression", level), "unpack", "written_bytes");
    for level in &levels[1..] {
        let (less, plain) = (written(level), written("off"));
        assert!(less < plain * 3 / 4, "{filesystem} {level}: {less} of {plain}");
    }
}
