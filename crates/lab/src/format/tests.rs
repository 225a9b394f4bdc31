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
