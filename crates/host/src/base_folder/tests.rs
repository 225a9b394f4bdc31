use super::*;

#[test]
fn links_are_followed_as_far_as_there_are_any() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    std::fs::create_dir(place.join("real")).unwrap();
    std::os::unix::fs::symlink("real", place.join("link")).unwrap();
    assert_eq!(real(&place.join("link/a/b")), place.join("real/a/b"));
    assert_eq!(real(&place.join("link")), place.join("real"));
}
