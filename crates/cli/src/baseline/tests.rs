//! Paths of a baseline are the same in every checkout.

use std::path::Path;

use super::load::relative;

#[test]
fn a_path_is_told_from_a_folder() {
    let of = |folder: &str, path: &str| relative(Path::new(folder), Path::new(path));
    assert_eq!(of("/home/me/repo", "/home/me/repo"), ".");
    assert_eq!(of("/home/me/repo/ci", "/home/me/repo"), "..");
    assert_eq!(of("/home/me/repo", "/home/me/repo/tests/load"), "tests/load");
    assert_eq!(of("/home/me/repo/ci", "/home/me/repo/tests"), "../tests");
    assert_eq!(of("/home/me", "/opt/drive.toml"), "../../opt/drive.toml");
}
