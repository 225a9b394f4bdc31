use super::*;

/// A folder on tmpfs: holders of locks on btrfs are not found.
pub(crate) const MEMORY: &str = "/dev/shm";

#[test]
fn whoever_holds_a_lock_is_named() {
    let file = tempfile::NamedTempFile::new_in(MEMORY).unwrap();
    assert_eq!(holder(file.path()), None);
    file.as_file().lock().unwrap();
    let found = holder(file.path()).unwrap();
    assert_eq!(found.pid, i32::try_from(std::process::id()).ok());
    let says = found.to_string();
    let own = std::env::args().next().unwrap();
    let uid = rustix::process::getuid().as_raw();
    let user = user(uid).unwrap_or_else(|| format!("user {uid}"));
    assert!(says.contains(&format!(" of {user}: ")), "{says}");
    assert!(says.contains(&own[..own.len().min(40)]), "{says}");
    file.as_file().unlock().unwrap();
    assert_eq!(holder(file.path()), None);
    assert!(LockHolder { pid: None }.to_string().contains("an unknown process"));
    assert!(LockHolder { pid: Some(i32::MAX) }.to_string().contains("has ended"));
}

#[test]
fn a_lock_ends_when_it_is_dropped_although_its_file_is_open() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("lock");
    let lock = || FileLock::exclusive(File::create(&path).unwrap()).unwrap();
    let first = lock().unwrap();
    assert!(lock().is_none());
    // As a program that is just being started has it.
    let _copy = first.file().try_clone().unwrap();
    drop(first);
    let second = lock().unwrap();
    assert!(second.is_at(&path));
    fs::remove_file(&path).unwrap();
    assert!(!second.is_at(&path));
    // Others lock another file by now.
    assert!(lock().is_some_and(|third| third.is_at(&path) && !second.is_at(&path)));
}
