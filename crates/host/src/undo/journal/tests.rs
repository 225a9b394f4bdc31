use crate::mounts::MountIdentity;

use super::*;

#[test]
fn changes_are_taken_back_newest_first_and_the_journal_goes() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    let mut journal = Journal::create(&folder).unwrap();
    let name = format!("ssdlab-{}", journal.marker());
    let outer = place.path().join(&name);
    let inner = outer.join(&name);
    for path in [&outer, &inner] {
        journal.make_folder(path).unwrap();
    }
    journal.undo_to(1).unwrap();
    assert!(outer.exists() && !inner.exists());
    journal.finish().unwrap();
    assert!(!outer.exists());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_value_that_somebody_else_set_since_is_left_alone() {
    use crate::undo::change::restore_value;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("scheduler");
    fs::write(&path, "none mq-deadline [kyber]\n").unwrap();
    restore_value(&path, "none", "bfq").unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("kyber"));
    restore_value(&path, "none", "kyber").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "none");
}

#[test]
fn restore_leaves_a_living_run_alone_and_cleans_after_a_dead_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    let mut journal = Journal::create(&folder).unwrap();
    let [alive, left] =
        [journal.marker(), "dead"].map(|of| place.path().join(format!("ssdlab-{of}")));
    journal.make_folder(&alive).unwrap();
    fs::create_dir(&left).unwrap();
    assert_eq!(restore(&folder).unwrap().alive.len(), 1);
    assert!(alive.exists());

    // As if killed: the file stays, the lock is released. The last line was truncated by the kill.
    let copy = folder.join("dead.undo");
    let text = fs::read_to_string(&journal.path).unwrap().replace(journal.marker(), "dead");
    fs::write(&copy, text + "{\"mount\":{\"tar").unwrap();
    let restored = restore(&folder).unwrap();
    assert_eq!(restored.undone, 1);
    assert!(restored.failed.is_empty());
    assert!(!left.exists() && !copy.exists());
}

#[test]
fn a_journal_that_others_could_have_written_runs_no_command() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    let trace = place.path().join("trace");
    let mut journal = Journal::create(&folder).unwrap();
    journal.will(Change::Tweak { undo: format!("echo >> {}", trace.display()) }).unwrap();
    let text = fs::read(&journal.path).unwrap();
    let planted = folder.join("planted.undo");
    for (mode, failed) in [(0o666, 1), (0o600, 0)] {
        fs::write(&planted, &text).unwrap();
        fs::set_permissions(&planted, PermissionsExt::from_mode(mode)).unwrap();
        let restored = restore(&folder).unwrap();
        assert_eq!((restored.failed.len(), trace.exists()), (failed, failed == 0), "{mode:o}");
    }
}

#[test]
fn a_command_that_fails_keeps_nothing_else_from_being_undone() {
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    let left = place.path().join(format!("ssdlab-{}", journal.marker()));
    journal.make_folder(&left).unwrap();
    journal.will(Change::Tweak { undo: "echo no such service >&2; exit 5".to_owned() }).unwrap();
    let error = journal.undo_to(0).unwrap_err().to_string();
    assert!(error.contains("no such service"), "{error}");
    assert!(!left.exists());
}

#[test]
fn what_could_not_be_undone_is_not_journaled() {
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    let change = Change::Sysfs {
        path: "/sys/devices/virtual/block/loop0/queue/nomerges".into(),
        disk: None,
        before: "0".to_owned(),
        after: "3".to_owned(),
    };
    assert!(journal.will(change).is_err());
    assert_eq!(journal.mark(), 0);
}

#[test]
fn a_folder_that_cannot_be_looked_at_is_no_empty_one() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(restore(&place.path().join("none")).unwrap().undone, 0);
    let folder = place.path().join("loop");
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let error = restore(&folder).unwrap_err().to_string();
    assert!(error.contains("cannot look at") && error.contains("loop"), "{error}");
}

#[test]
fn a_drive_that_is_missing_keeps_nothing_else_from_being_undone() {
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(place.path()).unwrap();
    let left = place.path().join(format!("ssdlab-{}", journal.marker()));
    let own = journal.path().to_owned();
    journal.make_folder(&left).unwrap();
    let cache = Change::WriteCache {
        drive: "naa.of-no-disk".to_owned(),
        before: "write back".to_owned(),
        after: "write through".to_owned(),
    };
    journal.will(cache.clone()).unwrap();
    let later = place.path().join(format!("ssdlab-{}-later", journal.marker()));
    journal.make_folder(&later).unwrap();
    let error = journal.undo_to(0).unwrap_err();
    assert!(error.to_string().contains("no disk, or more than one, has this name"), "{error}");
    assert!(!left.exists() && !later.exists());
    drop(journal);
    // Only that is left for `ssdlab restore`, which names it.
    let JournalContents { changes, unsound } =
        parse(&fs::read(&own).unwrap(), &ThisMachine::now().unwrap().boot, "m").unwrap();
    assert_eq!(changes.into_iter().map(|(_, change)| change).collect::<Vec<_>>(), [cache]);
    assert_eq!(unsound, []);
    let restored = restore(place.path()).unwrap();
    assert_eq!((restored.undone, restored.failed.len()), (0, 1));
    assert!(own.exists());
}

#[test]
fn a_journal_cannot_name_anything_but_what_runs_change() {
    let sysfs = |path: &str| Change::Sysfs {
        path: path.into(),
        disk: None,
        before: "x".to_owned(),
        after: "y".to_owned(),
    };
    let refused = [
        sysfs("/etc/passwd"),
        sysfs("/sys/../etc/passwd"),
        sysfs("/sys/devices/virtual/block/loop0/queue/read_ahead_kb"),
        Change::Tuning {
            path: "/sys/devices/virtual/block/loop0/queue/scheduler".into(),
            disk: None,
            scheduler: "bfq".to_owned(),
            before: "none".to_owned(),
        },
        Change::Folder { path: "/home".into() },
        Change::Folder { path: "/var/tmp/ssdlab-theirs".into() },
        Change::Mount { target: "/srv/mnt".into(), mounted: MountIdentity::Any },
        Change::Folder { path: "/var/ssdlab-x/..".into() },
        Change::Loop { device: "/dev/sda".into(), backing: "x".into(), file: None },
        Change::Daemon { folders: vec!["/run/zfs".into(), "/home".into()] },
        Change::Daemon { folders: vec!["/run/lock/..".into()] },
        Change::Pool { name: "tank".into() },
        Change::Trace { instance: "/sys/kernel/tracing/instances/theirs".into() },
        Change::Trace { instance: "/home/ssdlab-x".into() },
    ];
    for change in refused {
        assert!(change.undo("m").is_err(), "{change:?}");
    }
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Journal::create(place.path()).unwrap_err();
    assert!(error.to_string().contains("XDG_STATE_HOME"));
}

#[test]
fn a_journal_of_another_machine_is_left_alone_and_its_machine_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    let here = ThisMachine::now().unwrap();
    let this = Machine::this();
    let renamed = Machine { host: "renamed".to_owned(), ..this.clone() };
    let cloned = Machine { host: "clone".to_owned(), ..this.clone() };
    let other = Machine { id: Some("0".to_owned()), host: "other".to_owned() };
    let journals = [
        ("this", &here.boot, Some(this)),
        ("renamed", &here.boot, Some(renamed)),
        ("earlier", &here.boot, None),
        ("cloned", &"another".to_owned(), Some(cloned)),
        ("foreign", &here.boot, Some(other)),
    ];
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    for (name, boot, machine) in journals {
        let left = place.path().join(format!("ssdlab-{name}"));
        fs::create_dir(&left).unwrap();
        let mut header =
            serde_json::to_value(JournalHeader { boot: boot.clone(), machine }).unwrap();
        // Earlier versions say nothing of a machine.
        header.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let change = serde_json::to_string(&Change::Folder { path: left }).unwrap();
        fs::write(folder.join(name).with_extension(ENDING), format!("{header}\n{change}\n"))
            .unwrap();
    }
    assert_eq!(leftovers(&folder), Some(Leftovers::Folders));
    let restored = restore(&folder).unwrap();
    let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
    left.retain(|entry| entry.file_name().to_string_lossy().starts_with("ssdlab-"));
    assert_eq!((restored.undone, left.len()), (3, 2), "{restored:?}");
    let hosts: Vec<_> = restored.elsewhere.iter().map(|(_, host)| host.as_str()).collect();
    assert_eq!(hosts, ["clone", "other"]);
    assert!(restored.elsewhere.iter().all(|(path, _)| path.exists()));
    assert_eq!(leftovers(&folder), None);
}

/// A killed run of the virtual lab, or `ssdlab cut`, has only made folders.
#[test]
fn folders_that_a_killed_run_has_left_are_no_changes_to_the_machine() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    let boot = ThisMachine::now().unwrap().boot;
    let temporary = Change::Folder { path: "/var/tmp/ssdlab-x".into() };
    let target = "/var/tmp/ssdlab-x/mnt".into();
    let mount = Change::Mount { target, mounted: MountIdentity::Device("7:0".to_owned()) };
    let [temporary, mount] =
        [temporary, mount].map(|change| serde_json::to_string(&change).unwrap());
    let left = |boot: &str, lines: &[&str]| {
        let text = format!("{{\"boot\":\"{boot}\"}}\n{}", lines.concat());
        fs::write(folder.join("x.undo"), text).unwrap();
        leftovers(&folder)
    };
    let [line, other] = [format!("{temporary}\n"), format!("{mount}\n")];
    assert_eq!(left(&boot, &[]), None);
    assert_eq!(left(&boot, &[&line]), Some(Leftovers::Folders));
    assert_eq!(left(&boot, &[&line, &other]), Some(Leftovers::Changes));
    assert_eq!(left(&boot, &[&line, "{\"moon\":1}\n"]), Some(Leftovers::Changes));
    // The mount has ended with its boot, and one that was never completely written was never made.
    assert_eq!(left("another", &[&line, &other]), Some(Leftovers::Folders));
    assert_eq!(left(&boot, &[&line, &mount]), Some(Leftovers::Folders));
    // The worst of several journals counts.
    fs::write(folder.join("y.undo"), "no journal\n").unwrap();
    assert_eq!(leftovers(&folder), Some(Leftovers::Changes));
}

#[test]
fn names_that_are_not_utf_8_are_undone_and_those_of_earlier_journals_read() {
    use std::os::unix::ffi::OsStrExt;
    let place = tempfile::tempdir().unwrap();
    let theirs = place.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir(&theirs).unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    let ours = theirs.join(format!("ssdlab-{}", journal.marker()));
    journal.make_folder(&ours).unwrap();
    let text = fs::read(journal.path()).unwrap();
    let boot = ThisMachine::now().unwrap().boot;
    let changes = parse(&text, &boot, journal.marker()).unwrap().changes;
    assert_eq!(changes[0].1, Change::Folder { path: ours.clone() });
    journal.finish().unwrap();
    assert!(theirs.exists() && !ours.exists());
    let earlier: Change = serde_json::from_str(r#"{"mount":{"target":"/mnt"}}"#).unwrap();
    let target = "/mnt".into();
    assert_eq!(earlier, Change::Mount { target, mounted: MountIdentity::Any });
    let loops = r#"{"loop":{"device":"/dev/loop7","backing":"/a"}}"#;
    assert!(serde_json::from_str::<Change>(loops).is_ok());
}

#[test]
fn a_folder_that_was_there_before_is_not_removed() {
    let place = tempfile::tempdir().unwrap();
    let theirs = place.path().join("ssdlab-theirs");
    fs::create_dir(&theirs).unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    assert!(journal.make_folder(&theirs).is_err());
    journal.finish().unwrap();
    assert!(theirs.exists());
}

#[test]
fn a_journal_that_was_only_begun_goes_if_its_run_is_dead() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("undo");
    Journal::create(&folder).unwrap().finish().unwrap();
    // No process has the number 0; `held` is of one in another container.
    let [dead, held] = ["0-1.new", "0-2.new"].map(|name| folder.join(name));
    let living = folder.join(format!("{}-3.new", std::process::id()));
    for path in [&dead, &held, &living] {
        fs::write(path, "").unwrap();
    }
    let lock = File::open(&held).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    assert!(restore(&folder).unwrap().failed.is_empty());
    assert!(!dead.exists() && held.exists() && living.exists());
    drop(lock);
    restore(&folder).unwrap();
    assert!(!held.exists() && living.exists());
}
