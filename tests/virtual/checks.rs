//! The checks that power cuts are judged by see damage, and none where there is none.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde_json::Value;

use super::common::{sh, shown};
use super::dm_log::{FUA, entry, log};
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 1] = [("each_check_finds_planted_damage", planted)];

const IMAGE_BYTES: u64 = 512 << 20;
const BLOCK_BYTES: usize = 4096;

/// Damage to a filesystem.
struct Damage {
    filesystem: &'static str,
    make: &'static str,
    plant: fn(&Path),
}

const DAMAGES: [Damage; 4] = [
    Damage {
        filesystem: "ext4",
        make: "mkfs.ext4 -q -F",
        plant: |image| {
            sh(&format!("debugfs -w -R 'clri lost+found' '{}' 2>&1", image.display()));
        },
    },
    Damage {
        filesystem: "xfs",
        make: "mkfs.xfs -q",
        plant: |image| {
            let links = "-c 'inode 128' -c 'write core.nlinkv2 9'";
            sh(&format!("xfs_db -x {links} '{}'", image.display()));
        },
    },
    Damage { filesystem: "btrfs", make: "mkfs.btrfs -q", plant: erase_uuid_tree },
    Damage { filesystem: "f2fs", make: "mkfs.f2fs -q", plant: miscount_links },
];

/// Erases both copies of the tree of subvolumes' UUIDs.
fn erase_uuid_tree(image: &Path) {
    let image = image.display();
    let leaf = sh(&format!(
        "btrfs inspect-internal dump-tree -t 9 '{image}' | awk '/^leaf/ {{ print $2; exit }}'"
    ));
    let copies = sh(&format!("btrfs-map-logical -l {} '{image}'", leaf.trim()));
    let physical = |line: &str| line.split(' ').nth(5).unwrap().parse().unwrap();
    let copies: Vec<u64> = copies.lines().map(physical).collect();
    assert_eq!(copies.len(), 2);
    let file = OpenOptions::new().write(true).open(image.to_string()).unwrap();
    for at in copies {
        file.write_all_at(&[0; BLOCK_BYTES], at).unwrap();
    }
}

/// Gives the root directory other links than it has. Its number is 3, which stands twice in its
/// block's footer; the links are at byte 12 (`struct f2fs_inode`, `include/linux/f2fs_fs.h`).
fn miscount_links(image: &Path) {
    const FOOTER: usize = BLOCK_BYTES - 24;
    let contents = fs::read(image).unwrap();
    let is_root = |block: &[u8]| {
        block[FOOTER..FOOTER + 8] == [3, 0, 0, 0, 3, 0, 0, 0] && block[..2] != [0, 0]
    };
    let block = contents.chunks(BLOCK_BYTES).position(is_root).unwrap();
    let file = OpenOptions::new().write(true).open(image).unwrap();
    file.write_all_at(&[9], (block * BLOCK_BYTES) as u64 + 12).unwrap();
}

/// What the last state of a device's log is found to be: a cut after a write that changes nothing.
fn judged(place: &Place, filesystem: &str) -> Value {
    let image = place.path("made.img");
    let mut first = vec![0; BLOCK_BYTES];
    File::open(&image).unwrap().read_exact_at(&mut first, 0).unwrap();
    let mut same = entry(0, 8, FUA, "", 512);
    same[512..].copy_from_slice(&first);
    fs::write(place.path("device.log"), log(&[same], 512)).unwrap();
    let mut command = place.command(&["cut", "--device-log", "device.log"]);
    command.args(["--before", "made.img", "--filesystem", filesystem, "--cuts", "1"]);
    command.args(["--json", "--kernel"]).arg(kernel().as_ref().unwrap());
    let output = command.current_dir(place.path("")).output().unwrap();
    assert!(output.status.success(), "{filesystem}: {}", shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn planted() {
    for Damage { filesystem, make, plant } in DAMAGES {
        let place = Place::new();
        let image = place.path("made.img");
        File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        sh(&format!("{make} '{}' >&2", image.display()));
        let sound = judged(&place, filesystem);
        assert_eq!(sound["amiss"]["count"], 0, "{filesystem}: {sound}");
        plant(&image);
        let damaged = judged(&place, filesystem);
        assert_eq!(damaged["amiss"]["count"], 1, "{filesystem}: {damaged}");
    }
}
