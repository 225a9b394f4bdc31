use super::*;
use std::os::unix::fs::MetadataExt;

#[test]
fn a_copy_is_equal_and_has_no_zeros() {
    let [from, to] = [(); 2].map(|()| tempfile::tempfile().unwrap());
    from.set_len((8 << 20) + 700).unwrap();
    for (place, byte) in [(5000, 1), (3 << 20, 0), ((8 << 20) + 600, 2)] {
        from.write_all_at(&[byte; 100], place).unwrap();
    }
    from.write_all_at(&vec![0; 2 << 20], 4 << 20).unwrap();
    copy(&from, &to).unwrap();
    let read = |file: &File| {
        let mut bytes = vec![0; (8 << 20) + 700];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    assert!(read(&from) == read(&to));
    assert!(to.metadata().unwrap().blocks() * 512 <= 64 << 10);
    assert_eq!(hash(&from).unwrap(), hash(&to).unwrap());
    to.write_all_at(&[3], 6 << 20).unwrap();
    assert_ne!(hash(&from).unwrap(), hash(&to).unwrap());
}
