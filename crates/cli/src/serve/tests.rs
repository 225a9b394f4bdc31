use ssdlab_disk::Memory;
use ssdlab_flash::{Drive, presets};

use super::*;

#[test]
fn a_drive_is_refused_where_memory_does_not_hold_its_contents_and_its_model() {
    for preset in presets::ALL {
        let drive = drive::load(preset.name, Some(Bytes(8_000_000_000))).unwrap();
        let contents_bytes = Memory::most_bytes(drive.capacity_bytes());
        let model_bytes = Drive::new(drive.clone(), 1).memory_bytes() as u64;
        assert!(check_memory(&drive, contents_bytes + model_bytes - 1).is_err());
        let refusal = check_memory(&drive, 7_000_000_000).unwrap_err().to_string();
        assert!(refusal.contains("--capacity"), "{refusal}");
        check_memory(&drive, 8_200_000_000).unwrap();
    }
}

#[test]
fn a_comma_in_the_socket_s_path_is_doubled_for_qemu() {
    let options = for_qemu("/tmp/a, b");
    assert!(options.contains(" -chardev 'socket,id=drive,path=/tmp/a,, b' "), "{options}");
}
