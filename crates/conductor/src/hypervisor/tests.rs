//! A guest's folder is there for as long as the guest.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use ssdlab_flash::{Drive, Specification};
use ssdlab_plan::find_host;

use super::*;
use crate::computing::Computing;

/// A program that ends before it connects, as a kernel that cannot boot does. It needs no library,
/// which it could not read: an ELF file (elf(5)) whose only segment is its 64-byte header, that of
/// the segment, and `exit(1)`.
fn failing() -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    // A program for x86-64, which starts behind the headers.
    file.extend([2_u16, 62].iter().flat_map(|half| half.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    let address = 0x40_0000_u64;
    file.extend([address + 120, 64, 0].iter().flat_map(|word| word.to_le_bytes()));
    file.extend(0_u32.to_le_bytes());
    file.extend([64_u16, 56, 1, 64, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
    // To be loaded, read and executed.
    file.extend([1_u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    let length = 132;
    let segment = [0, address, address, length, length, 4096];
    file.extend(segment.iter().flat_map(|word| word.to_le_bytes()));
    // mov edi, 1; mov eax, 60; syscall.
    file.extend(b"\xbf\x01\0\0\0\xb8\x3c\0\0\0\x0f\x05");
    file
}

#[test]
fn a_guest_that_dies_leaves_its_name_to_the_next() {
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    let interrupt = Interrupt::default();
    let hypervisor = Hypervisor::open(1 << 20, &interrupt, &mut journal).unwrap();
    let path = place.path().join("kernel");
    fs::write(&path, failing()).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let [identity, version] = [String::new(), String::new()];
    let kernel = LabKernel { path, identity, version };
    let run = GuestRun {
        name: "guest-0",
        kernel: &LoadedKernel { kernel, filesystems: Vec::new() },
        host: find_host("modern-2020s").unwrap(),
        seed: 1,
        limit: Nanos(1_000_000_000),
        timeout: GUEST_TIMEOUT,
        errors: None,
    };
    let job = GuestJob::Computing(Computing { filesystem: "ext4".to_owned(), checksums: None });
    let file = "name = \"small\"\ncapacity = \"1 MiB\"\nspare_factor = 0.1\npages_per_block = 8";
    let drive = Drive::new(Specification::parse(file).unwrap(), 1);
    let flash = Arc::new(Mutex::new(Flash::new(drive)));
    for _ in 0..2 {
        let ended = hypervisor.run::<()>(&run, &job, &flash, None, |_, _| {});
        assert!(matches!(ended, Err(Failure::Died(_))), "{ended:?}");
        assert!(!hypervisor.folder.join(run.name).exists());
    }
}
