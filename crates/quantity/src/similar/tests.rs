use super::*;

#[test]
fn a_slip_is_recognised_and_another_word_is_not() {
    let filesystems = ["ext2", "ext3", "ext4", "xfs", "btrfs"];
    assert_eq!(similar("etx4", filesystems), Some("ext4"));
    assert_eq!(similar("brtfs", filesystems), Some("btrfs"));
    assert_eq!(similar("ntfs", ["ext4", "xfs"]), None);
    assert_eq!(similar("modern", ["phenom-ii-x4-965", "modern-2020s"]), Some("modern-2020s"));
    assert_eq!(similar("", filesystems), None);
    assert_eq!(did_you_mean("discrd", ["discard", "tandem"]), "did you mean `discard`? ");
    assert_eq!(did_you_mean("zzz", ["discard", "tandem"]), "");
    let message = "unknown field `spare_facter`, expected one of `name`, `spare_factor`";
    assert_eq!(similar_key(message), Some("spare_factor"));
}
