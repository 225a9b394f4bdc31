use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[test]
fn every_folder_above_counts_and_a_sticky_one_protects() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    let (above, folder) = (place.join("a"), place.join("a/b"));
    fs::create_dir_all(&folder).unwrap();
    let user = rustix::process::geteuid().as_raw();
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    // Whatever the umask is.
    for path in [&place, &above, &folder] {
        mode(path, 0o700);
    }
    let found = |path: &Path| exposed(path, user).unwrap().map(|exposed| exposed.path);
    assert_eq!(found(&folder), None);
    for open in [0o777, 0o775] {
        mode(&above, open);
        assert_eq!(found(&folder), Some(above.clone()));
    }
    mode(&above, 0o1777);
    assert_eq!(found(&folder), None);
    assert_eq!(found(&above), Some(above.clone()), "what is in it is anybody's");
    let link = place.join("link");
    symlink(&folder, &link).unwrap();
    assert_eq!(found(&link), Some(link.clone()));
    if user == 0 {
        std::os::unix::fs::chown(&folder, Some(4321), None).unwrap();
        assert_eq!(found(&folder), Some(folder));
    }
}
