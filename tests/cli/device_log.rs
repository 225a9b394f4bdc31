//! Which logs of devices `ssdlab cut --device-log` refuses, before a lab is opened.

use std::fs::{self, File};

use super::Place;
use super::dm_log::{FLUSH, MARK, entry, log};

/// The smallest size of the default drive.
const IMAGE_BYTES: u64 = 512 << 20;

/// A place with a blank image and a log.
fn place(log: &[u8]) -> Place {
    let place = Place::new();
    File::create(place.0.path().join("blank.img")).unwrap().set_len(IMAGE_BYTES).unwrap();
    fs::write(place.0.path().join("device.log"), log).unwrap();
    place
}

/// What is said of a command line that is wrong.
fn refused(place: &Place, more: &[&str]) -> String {
    let arguments = ["cut", "--device-log", "device.log", "--before", "blank.img"];
    let output = place.ssdlab(&[&arguments, more].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{more:?}: {said}");
    // Long messages are wrapped.
    said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

#[test]
fn a_log_that_cannot_be_that_of_the_device_is_refused() {
    let write = entry(8, 1, 0, "", 512);
    let last_sector = IMAGE_BYTES / 512 - 1;
    let whole = log(&[write.clone(), entry(0, 0, FLUSH, "", 512)], 512);
    for (log, expected) in [
        (vec![0; 4096], "the magic number is 0, not 0x6a736677736872"),
        (Vec::new(), "the dm-log-writes trace is truncated at the header"),
        (whole[..1200].to_vec(), "the dm-log-writes trace is truncated at record 1 (byte 512)"),
        (
            log(&[write.clone(), entry(last_sector, 2, 0, "", 512)], 512),
            "device.log: entry 1 of the log ends at byte 536871424, but the image has 536870912 \
             bytes help: --before is to be an image of the whole logged device",
        ),
        (log(&[entry(0, 0, MARK, "made", 512)], 512), "the log has no requests help: log a device"),
    ] {
        let said = refused(&place(&log), &["--filesystem", "ext4"]);
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn arguments_that_do_not_fit_the_log_are_refused() {
    let place = place(&log(&[entry(8, 1, 0, "", 512), entry(0, 0, MARK, "made", 512)], 512));
    let cases: [(&[&str], &str); 9] = [
        (&[], "--filesystem <NAME>"),
        (&["--filesystem", "ext5"], "it is none of ext2, ext3"),
        (
            &["--filesystem", "ext4", "--after", "mkfs"],
            "no mark \"mkfs\"; its marks are [\"made\"]",
        ),
        (&["--filesystem", "ext4", "--after", "made"], "no requests after the mark \"made\""),
        (&["--filesystem", "ext4", "--cut", "100"], "the cuts are 0 to 99, each with survivors 0"),
        (&["--filesystem", "ext4", "--image", "cut.img"], "--cut <N>"),
        (&["--filesystem", "ext4", "--cut", "1", "--lose", "none"], "cannot be used with"),
        (&["--filesystem", "ext4", "--shrink"], "cannot be used with"),
        (&["--filesystem", "ext4", "--drive", "tlc-dram"], "extend a copy of the image"),
    ];
    for (more, expected) in cases {
        let said = refused(&place, more);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(!place.0.path().join("cut.img").exists());
    let output = place.ssdlab(&["cut", "some-run", "--trial", "0", "--cut", "0", "--cuts", "5"]);
    assert_eq!(output.status.code(), Some(2));
}
