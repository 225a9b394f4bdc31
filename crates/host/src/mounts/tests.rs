use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn names_are_bytes_and_blanks_are_read_as_they_are() {
    let table = b"36 35 7:0 / /media/My\\040Passport\\134x rw,noatime shared:1 - ext4 \
                      /dev/loop0 rw,stripe=4,discard\n\
                      37 36 0:44 /a /mnt/\xff\\012\\0401 rw - tmpfs  rw\n";
    let mounts = parse(table).unwrap();
    assert_eq!(mounts[0].target, Path::new("/media/My Passport\\x"));
    assert_eq!(mounts[0].source, "/dev/loop0");
    assert_eq!(mounts[0].options, ["noatime", "rw", "discard", "rw", "stripe=4"]);
    assert_eq!(mounts[1].target.as_os_str().as_bytes(), b"/mnt/\xff\n 1");
    assert_eq!((mounts[1].source.as_os_str(), mounts[1].kind.as_str()), ("".as_ref(), "tmpfs"));
    assert_eq!(parse(b"36 35 7:0 / /mnt rw\n").unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn swap_files_have_names_of_bytes_too() {
    let table = b"Filename\tType\tSize\tUsed\tPriority\n/a\\040\xfe  file\t8\t0\t-2\n";
    let areas = parse_swaps(table);
    assert_eq!(areas.len(), 1);
    assert_eq!(areas[0].as_os_str().as_bytes(), b"/a \xfe");
}

#[test]
fn what_others_mount_on_the_same_folder_is_told_from_ours() {
    let mount = |device: &str, source: &str| Mount {
        device: device.to_owned(),
        target: "/mnt".into(),
        source: source.into(),
        kind: "ext4".to_owned(),
        options: Vec::new(),
    };
    let ours = MountIdentity::Device("7:0".to_owned());
    assert!(ours.is(&mount("7:0", "/dev/loop0")) && !ours.is(&mount("7:1", "/dev/none")));
    let ours = MountIdentity::Source("ssdlab-1-x".to_owned());
    assert!(ours.is(&mount("0:9", "ssdlab-1-x")) && !ours.is(&mount("0:9", "ssdlab-2-x")));
    assert!(MountIdentity::Any.is(&mount("0:9", "tank")));
}
