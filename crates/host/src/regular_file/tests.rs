use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

#[test]
fn only_regular_files_of_a_bounded_size_are_read() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "text").unwrap();
    assert_eq!(read_own(&at("file")).unwrap(), b"text");
    let at_most = |most| bounded::read(open_own(&at("file")).unwrap(), most);
    assert_eq!(at_most(4).unwrap(), b"text");
    assert!(at_most(3).unwrap_err().to_string().contains("more than 3"));
    symlink("/dev/zero", at("zeros")).unwrap();
    symlink(at("file"), at("link")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), rustix::fs::Mode::RUSR).unwrap();
    let cases = [
        ("zeros", "a symbolic link"),
        ("link", "a symbolic link"),
        ("socket", "a socket"),
        ("folder", "a folder"),
        ("fifo", "a FIFO"),
    ];
    for (name, expected) in cases {
        let error = read_own(&at(name)).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    for (name, expected) in [("zeros", "a character device"), ("fifo", "a FIFO")] {
        let error = open(&at(name)).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    assert!(open(&at("link")).is_ok());
    let error = open_or_pipe(Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(error.contains("a character device"), "{error}");
    assert_eq!(other_kind(&at("fifo")), Some("a FIFO"));
    assert_eq!((other_kind(&at("link")), other_kind(&at("none"))), (None, None));
    let device = read_own(Path::new("/dev/zero")).unwrap_err().to_string();
    assert!(device.contains("a character device"), "{device}");
    assert_eq!(read_own(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}
