//! A library is told by its contents, and found where programs of its system find it.

use std::fs;
use std::os::unix::fs::symlink;

use super::digest_in;

#[test]
fn a_library_is_identified_by_its_contents_within_its_system() {
    let system = tempfile::tempdir().unwrap();
    let path = |name: &str| system.path().join(name);
    fs::create_dir_all(path("usr/lib/folder")).unwrap();
    fs::write(path("usr/lib/one.so.1"), "one").unwrap();
    symlink("/usr/lib/one.so.1", path("usr/lib/one.so")).unwrap();
    symlink("usr/lib", path("lib")).unwrap();
    symlink("/etc/passwd", path("usr/lib/outside")).unwrap();
    let digest = |name: &str| digest_in(system.path(), name).unwrap();
    let first = digest("/usr/lib/one.so.1");
    assert_eq!(first.as_ref().unwrap().len(), 16);
    assert_eq!(digest("/lib/one.so"), first);
    assert_eq!(digest("/usr/lib/folder"), None);
    assert_eq!(digest("/usr/lib/outside"), None, "it is not this machine's file");
    fs::write(path("usr/lib/one.so.1"), "two").unwrap();
    assert_ne!(digest("/lib/one.so"), first);
}
