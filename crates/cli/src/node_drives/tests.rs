use std::os::unix::fs::PermissionsExt;

use super::*;

fn refusal(text: &str, mode: u32, kind: &str) -> Result<String, String> {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("drives.toml");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    find_in(&file, kind).map(|permitted| permitted.path().display().to_string())
}

#[test]
fn only_roots_own_word_lets_a_drive_be_wiped() {
    let good = "[drives]\nx25m = \"ata-INTEL_1\"\nbad = \"../sda\"\n";
    let is_root = rustix::process::geteuid().is_root();
    let found = refusal(good, 0o644, "x25m");
    assert_eq!(found.is_ok(), is_root, "{found:?}");
    if is_root {
        assert_eq!(found.unwrap(), "/dev/disk/by-id/ata-INTEL_1");
    }
    assert!(refusal(good, 0o664, "x25m").is_err());
    assert!(refusal(good, 0o644, "other").is_err());
    assert!(refusal(good, 0o644, "bad").is_err());
    assert!(refusal("[drive]\n", 0o644, "x25m").is_err());
    assert!(find_in(Path::new("/etc/ssdlab-none/drives.toml"), "x").is_err());
}
