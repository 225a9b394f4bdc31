use super::*;
use std::fs;

#[test]
fn what_has_changed_since_the_run_began_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("input");
    fs::write(&path, "as it was").unwrap();
    let hash = checksum_of(&mut File::open(&path).unwrap()).unwrap();
    let hashes = FileHashes::from([(path.clone(), hash)]);
    let mut copy = private(&path, &hashes, &Interrupt::default()).unwrap();
    fs::write(&path, "otherwise").unwrap();
    let error = private(&path, &hashes, &Interrupt::default()).unwrap_err();
    assert!(error.to_string().contains("has changed since the run began"), "{error}");
    let mut text = String::new();
    copy.read_to_string(&mut text).unwrap();
    assert_eq!(text, "as it was");
}
