use ssdlab_plan::{Factor, Levels};

use super::*;

#[test]
fn a_superblock_that_says_otherwise_is_a_mismatch() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    // csum_type of btrfs: sha256.
    file.as_file().write_all_at(&[2], 0x10000 + 0xc4).unwrap();
    let device = BlockDevice {
        node: file.path().to_owned(),
        name: String::new(),
        number: String::new(),
        folder: std::path::PathBuf::new(),
    };
    let of = |level: &str| {
        let levels = [(Factor::Filesystem, "btrfs"), (Factor::Checksums, level)];
        let levels = levels.map(|(factor, level)| (factor, level.to_owned()));
        read_back(&device, &Setup::new(&Levels(levels.into())).unwrap())
    };
    assert_eq!(of("sha256").unwrap()["checksums"], "sha256");
    let message = of("xxhash").unwrap_err().to_string();
    assert!(message.contains("`xxhash`") && message.contains("`sha256`"), "{message}");
}

#[test]
fn a_uuid_in_use_is_told_with_what_may_hold_it() {
    let of = |output: &str| {
        let failed = ProgramError::Failed {
            command: "mkfs.btrfs /dev/loop1".to_owned(),
            how: "ended with 1".to_owned(),
            output: output.to_owned(),
        };
        refused(failed).to_string()
    };
    let told = of("btrfs-progs v6.2\nERROR: non-unique UUID: 00000000-0000-4000-8000-000000000001");
    assert!(told.starts_with("`mkfs.btrfs /dev/loop1` ended with 1"), "{told}");
    assert!(told.contains("non-unique UUID") && told.contains("`ssdlab restore`"), "{told}");
    assert!(!of("ERROR: the device is too small").contains("restore"));
}

/// The kernel is named first: installing a mkfs that is missing, too, would be in vain.
#[test]
fn a_filesystem_that_the_kernel_lacks_is_not_blamed_on_its_mkfs() {
    let empty = tempfile::tempdir().unwrap();
    let programs = Toolbox::Shipped(empty.path().to_owned());
    let bcachefs = ssdlab_filesystem::find("bcachefs").unwrap();
    let both = missing_with(bcachefs, false, &programs);
    assert_eq!(both.as_deref(), Some("this kernel has no bcachefs"));
    let of_mkfs = missing_with(bcachefs, true, &programs);
    let says = "mkfs.bcachefs is not installed (package bcachefs-tools)";
    assert_eq!(of_mkfs.as_deref(), Some(says));
}
