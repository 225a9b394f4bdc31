use std::os::unix::net::{UnixDatagram, UnixStream};

use super::*;

#[test]
fn only_a_socket_that_nobody_answers_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    drop(UnixListener::bind(&path).unwrap());
    let dead = fs::symlink_metadata(&path).unwrap().ino();
    let socket = TemporarySocket::bind(&path).unwrap();
    assert!(matches!(TemporarySocket::bind(&path), Err(ServeError::InUse(_))));
    // Nobody accepts, so that the queue of connections fills up.
    rustix::net::listen(&socket.stream, 2).unwrap();
    let waiting: Vec<_> = (0..8192).map_while(|_| queued(&path)).collect();
    assert!((1..8192).contains(&waiting.len()), "{}", waiting.len());
    assert!(matches!(TemporarySocket::bind(&path), Err(ServeError::InUse(_))), "{}", waiting.len());
    drop((waiting, socket));
    assert!(!path.exists(), "inode {dead}");

    let datagrams = UnixDatagram::bind(&path).unwrap();
    let refusal = TemporarySocket::bind(&path).unwrap_err().to_string();
    assert!(refusal.contains("tell whether anybody listens"), "{refusal}");
    assert!(path.exists());
    drop(datagrams);
    fs::remove_file(&path).unwrap();

    for other in ["file", "folder", "link"] {
        let path = folder.path().join(other);
        match other {
            "file" => fs::write(&path, "data").unwrap(),
            "folder" => fs::create_dir(&path).unwrap(),
            _ => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
        }
        assert!(matches!(TemporarySocket::bind(&path), Err(ServeError::NotASocket(_))), "{other}");
        assert!(fs::symlink_metadata(&path).is_ok(), "{other}");
    }
}

#[test]
fn a_folder_whose_lock_is_held_is_not_waited_for_in_vain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let lock = || FileLock::exclusive(File::open(folder.path()).unwrap()).unwrap().unwrap();
    let held = lock();
    let started = Instant::now();
    let refusal = TemporarySocket::bind(&path).unwrap_err().to_string();
    assert!(refusal.contains("the folder's lock is held by"), "{refusal}");
    assert!(started.elapsed() >= LOCK_TIMEOUT);
    assert!(!path.exists());
    drop(held);
    let held = lock();
    std::thread::scope(|scope| {
        let bound = scope.spawn(|| TemporarySocket::bind(&path));
        drop(held);
        assert!(bound.join().unwrap().is_ok());
    });
}

fn queued(path: &Path) -> Option<std::os::fd::OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(path).unwrap()).ok().map(|()| socket)
}

#[test]
fn a_socket_that_another_server_made_in_the_same_place_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let first = TemporarySocket::bind(&path).unwrap();
    fs::rename(&path, folder.path().join("moved")).unwrap();
    let second = TemporarySocket::bind(&path).unwrap();
    drop(first);
    assert!(UnixStream::connect(&path).is_ok());
    drop(second);
    assert!(!path.exists());
}
