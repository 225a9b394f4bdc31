//! Journals that were cut, changed and forged.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::mounts::MountIdentity;

use super::*;
use crate::undo::fuzzing::{BOOT, MARKER, fuzz_journal};
use crate::undo::restore;

#[test]
fn after_a_reboot_only_what_outlives_it_is_taken_back() {
    let folder = Change::Folder { path: "/var/tmp/ssdlab-1-x".into() };
    let target = "/var/tmp/ssdlab-1-x/mnt".into();
    let mount = Change::Mount { target, mounted: MountIdentity::Device("7:0".to_owned()) };
    let line = |value: &Change| format!("{}\n", serde_json::to_string(value).unwrap());
    let text = format!("{{\"boot\":\"one\"}}\n{}{}", line(&folder), line(&mount));
    let parsed = |text: &str, boot| parse(text.as_bytes(), boot, "1-x").unwrap();
    assert_eq!(parsed(&text, "one").changes.len(), 2);
    let left = parsed(&text, "two").changes;
    assert_eq!(left.into_iter().map(|(_, change)| change).collect::<Vec<_>>(), [folder]);
    // A truncated last line is of a change that was never made; an unreadable line in the middle is
    // reported, and is not the end.
    assert_eq!(parsed(&text[..text.len() - 3], "one").changes.len(), 1);
    let broken = parsed(&text.replace("folder", "moon"), "one");
    assert_eq!((broken.changes.len(), broken.unsound.len()), (1, 1));
    assert_eq!(broken.unsound[0].number, 2);
}

#[test]
fn a_line_that_cannot_be_undone_keeps_no_other_from_being_undone_and_stays() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    let left = ["a", "b", "c"].map(|name| place.path().join("ssdlab-x").with_extension(name));
    let line =
        |path: &Path| serde_json::to_string(&Change::Folder { path: path.to_owned() }).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let forged = line(Path::new("/home"));
    let text = format!(
        "{{\"boot\":\"{}\"}}\n{}\n{{\"moon\":1}}\n{}\n{forged}\n{}\n",
        boot.trim(),
        line(&left[0]),
        line(&left[1]),
        line(&left[2])
    );
    let journal = folder.join("x.undo");
    fs::write(&journal, text).unwrap();
    for undone in [3, 0] {
        left.iter().take(undone).for_each(|path| fs::create_dir(path).unwrap());
        let restored = restore(&folder).unwrap();
        assert!(left.iter().all(|path| !path.exists()));
        assert_eq!((restored.undone, restored.failed.len()), (undone, 2), "{restored:?}");
        let says = restored.failed.iter().map(ToString::to_string).collect::<String>();
        for told in ["line 3, `{\"moon\":1}`", "line 5, ", "/home", "no run makes such"] {
            assert!(says.contains(told), "no {told} in {says}");
        }
        let help = miette::Diagnostic::help(&restored.failed[0]).unwrap().to_string();
        assert!(help.contains("by hand") && help.contains("remove the journal"), "{help}");
    }
    // Only changes that need a person are left.
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines[1..], ["{\"moon\":1}", &forged]);
}

/// Only from journals that are accepted does the fuzzer get beyond their refusal.
#[test]
fn the_fuzzer_begins_with_sound_journals() {
    let journals = [
        (&include_bytes!("../../../../../fuzz/seeds/journals/changes.undo")[..], 8),
        (&include_bytes!("../../../../../fuzz/seeds/journals/current.undo")[..], 5),
    ];
    for (journal, count) in journals {
        let JournalContents { changes, unsound } = parse(journal, BOOT, MARKER).unwrap();
        assert_eq!((changes.len(), unsound), (count, vec![]));
        fuzz_journal(journal);
    }
}
