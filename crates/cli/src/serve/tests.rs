use ssdlab_disk::Memory;
use ssdlab_flash::{Drive, presets};

use super::*;

#[test]
fn a_drive_is_refused_where_memory_does_not_hold_its_contents_and_its_model() {
    for preset in presets::ALL {
        let drive = drive::load(preset.name, Some(Bytes(256_000_000_000))).unwrap();
        let contents_bytes = Memory::most_bytes(drive.capacity_bytes());
        let model_bytes = Drive::new(drive.clone(), 1).memory_bytes() as u64;
        let too_few = contents_bytes + model_bytes - 1;
        assert!(check_memory(&drive, too_few).is_err(), "{}", preset.name);
        let refusal = check_memory(&drive, 224_000_000_000).unwrap_err().to_string();
        assert!(refusal.contains("--capacity"), "{refusal}");
        check_memory(&drive, 262_400_000_000).unwrap();
    }
}

#[test]
fn what_could_not_be_typed_as_it_is_printed_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    for name in [&b"/tmp/a\xff"[..], b"/tmp/a\nb", b"/tmp/\x1b[2J"] {
        let refusal = printable(Path::new(OsStr::from_bytes(name))).unwrap_err().to_string();
        assert!(refusal.contains("/tmp/") && refusal.contains("not UTF-8"), "{refusal}");
    }
    assert!(printable(Path::new("/tmp/a 'b', \u{e9}")).is_ok());
    let place = tempfile::tempdir().unwrap();
    let odd = place.path().join(OsStr::from_bytes(b"odd \xff"));
    std::fs::create_dir(&odd).unwrap();
    assert!(mount_point(&odd).unwrap_err().to_string().contains("not UTF-8"));
    // The folder counts, not the path to it.
    std::os::unix::fs::symlink(&odd, place.path().join("plain")).unwrap();
    assert!(mount_point(&place.path().join("plain")).is_err());
}

#[test]
fn a_comma_in_the_socket_s_path_is_doubled_for_qemu() {
    let options = for_qemu("/tmp/a, b");
    assert!(options.contains(" -chardev 'socket,id=drive,path=/tmp/a,, b' "), "{options}");
}
