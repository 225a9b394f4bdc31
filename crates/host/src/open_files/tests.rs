use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::*;

#[test]
fn another_process_is_named_and_this_one_is_not() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let object = Object::at(file.path()).unwrap();
    // A child that another test is starting has this process's files open, until it is its program.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holders(&[object]).is_empty() && Instant::now() < deadline {
        sleep(Duration::from_millis(1));
    }
    assert!(holders(&[object]).is_empty());
    let mut reader = Command::new("sleep")
        .arg("300")
        .stdin(file.reopen().unwrap())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let writes = true;
    let holder = OpenFileHolder { pid: reader.id(), command: "sleep".to_owned(), writes };
    let expected = [(object, holder)];
    let mut found = holders(&[object]);
    while found != expected && Instant::now() < deadline {
        sleep(Duration::from_millis(1));
        found = holders(&[object]);
    }
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert_eq!(found, expected);
}

#[test]
fn flags_are_octal() {
    let info = "pos:\t0\nflags:\t0100002\nmnt_id:\t15\nino:\t5\n";
    assert!(flags(info).unwrap().contains(OFlags::RDWR));
    let path = flags("flags:\t010000000\n").unwrap();
    assert!(path.contains(OFlags::PATH) && !path.intersects(OFlags::RWMODE));
    assert!(flags("").is_none());
}
