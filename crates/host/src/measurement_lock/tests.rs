use std::sync::mpsc::{self, Sender};
use std::thread;

use super::*;
use crate::lock::tests::MEMORY;

/// Locks in a folder, for root or another user.
fn locks(folder: &Path, is_root: bool) -> Locks {
    let [of_all, of_root] = ["all", "root"].map(|name| folder.join(name));
    Locks { of_all, of_root, is_root }
}

/// Takes the lock without waiting for others; the events are sent.
fn taken(
    locks: &Locks,
    interrupt: &Interrupt,
    told: &Sender<LockEvent>,
) -> Option<MeasurementLock> {
    let mut tell = |what: &LockEvent| told.send(what.clone()).unwrap();
    let mut timeout = Duration::ZERO;
    locks.take(&mut timeout, interrupt, &mut tell).unwrap()
}

#[test]
fn a_lock_that_others_spoil_does_not_keep_root_from_measuring() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    let [root, other] = [true, false].map(|is_root| locks(place.path(), is_root));
    std::os::unix::fs::symlink("nowhere", &root.of_all).unwrap();
    let (told, heard) = mpsc::channel();
    assert!(taken(&root, &Interrupt::default(), &told).is_some());
    assert!(matches!(heard.try_recv().unwrap(), LockEvent::Unusable { .. }));
    let mut timeout = Duration::ZERO;
    assert!(other.take(&mut timeout, &Interrupt::default(), &mut |_| {}).is_err());
}

#[test]
fn a_turn_is_waited_for_and_the_wait_can_be_ended() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    for (is_first_root, is_second_root) in [(false, false), (true, true), (true, false)] {
        let [first, second] =
            [is_first_root, is_second_root].map(|is_root| locks(place.path(), is_root));
        let interrupt = Interrupt::default();
        let (sender, told) = mpsc::channel();
        let turn = taken(&first, &interrupt, &sender).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| taken(&second, &interrupt, &sender));
            let LockEvent::Waiting { holder: Some(holder), .. } = told.recv().unwrap() else {
                panic!("it has not waited, or for nobody")
            };
            assert!(holder.is_this_process() && !waiting.is_finished());
            drop(turn);
            assert!(waiting.join().unwrap().is_some());
        });
        assert!(told.try_recv().is_err(), "it is told once");
        let _held = taken(&first, &interrupt, &sender).unwrap();
        interrupt.set();
        assert!(taken(&second, &interrupt, &sender).is_none());
    }
}

#[test]
fn a_user_who_holds_the_lock_of_all_does_not_keep_root_from_measuring() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    let [root, user] = [true, false].map(|is_root| locks(place.path(), is_root));
    let interrupt = Interrupt::default();
    let (sender, told) = mpsc::channel();
    let squatter = try_lock(&root.of_all, 0o644).unwrap().unwrap();
    let turn = taken(&root, &interrupt, &sender).unwrap();
    let LockEvent::Beside { lock, holder: Some(holder) } = told.recv().unwrap() else {
        panic!("it is beside somebody")
    };
    assert!(lock == root.of_all && holder.is_this_process());
    // Now that the lock of all is free, other users wait for root all the same.
    drop(squatter);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| taken(&user, &interrupt, &sender));
        assert!(matches!(told.recv().unwrap(), LockEvent::Waiting { .. }));
        drop(turn);
        assert!(waiting.join().unwrap().is_some());
    });
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!((mode(&root.of_root), mode(&root.of_all)), (0o600, 0o644));
}

#[test]
fn root_s_lock_is_in_a_folder_that_nobody_else_can_write_to() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    let folder = place.path().join("ssdlab");
    assert!(make_own(&folder).unwrap() && make_own(&folder).unwrap());
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o755);
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    assert!(make_own(&folder).is_err());
    fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(place.path(), &folder).unwrap();
    assert!(make_own(&folder).is_err());
}

#[test]
fn a_link_in_the_place_of_the_lock_is_not_followed() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    let path = place.path().join("lock");
    std::os::unix::fs::symlink(place.path().join("elsewhere"), &path).unwrap();
    assert!(open(&path, 0o644).is_err());
    assert!(!place.path().join("elsewhere").exists());
}

#[test]
fn the_shared_lock_is_where_every_user_can_create_it() {
    let place = tempfile::tempdir_in(MEMORY).unwrap();
    for (mode, is_used) in [(0o1777, true), (0o755, false), (0o775, false)] {
        fs::set_permissions(place.path(), Permissions::from_mode(mode)).unwrap();
        let folder = if is_used { place.path() } else { Path::new("/tmp") };
        assert_eq!(shared_folder(place.path()), folder, "{mode:o}");
    }
    assert_eq!(shared_folder(&place.path().join("missing")), Path::new("/tmp"));
}
