use super::*;

fn letters(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u64::from_le_bytes(bytes)
}

#[test]
fn letters_say_what_counts_as_written() {
    let write = |is_metadata| BlockOperation::Write { is_metadata };
    for (text, expected) in [
        ("W", write(false)),
        ("WSM", write(true)),
        ("FWFS", write(false)),
        ("WZ", write(false)),
        ("N", write(false)),
        ("DE", write(false)),
        ("D", BlockOperation::Discard),
        ("DS", BlockOperation::Discard),
        ("FF", BlockOperation::Other),
        ("FFS", BlockOperation::Other),
        ("RM", BlockOperation::Other),
    ] {
        assert_eq!(BlockOperation::of(letters(text)), expected, "{text}");
    }
}

#[test]
fn backing_devices_are_told_apart_by_name() {
    assert_eq!(bdi_number("8:17"), (8 << 20) + 17);
    assert_eq!(bdi_number("btrfs-1"), bdi_number("btrfs-1"));
    assert_ne!(bdi_number("btrfs-1"), bdi_number("btrfs-2"));
    assert_ne!(bdi_number("btrfs-1"), bdi_number("fuse-1"));
    assert_eq!(bdi_number("odd"), u64::MAX);
}
