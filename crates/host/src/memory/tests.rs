use std::ffi::OsString;

use super::*;

fn mount(target: &Path, kind: &str, option: &str) -> Mount {
    Mount {
        device: "0:30".to_owned(),
        target: target.to_owned(),
        source: OsString::from("cgroup"),
        kind: kind.to_owned(),
        options: vec!["rw".to_owned(), option.to_owned()],
    }
}

fn group(folder: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn the_tightest_group_of_either_version_counts() {
    let place = tempfile::tempdir().unwrap();
    let (new, old) = (place.path().join("new"), place.path().join("old"));
    group(
        &new.join("a"),
        &[
            ("memory.max", "1000\n"),
            ("memory.high", "max\n"),
            ("memory.current", "500\n"),
            ("memory.stat", "anon 9\ninactive_file 100\n"),
        ],
    );
    group(&new.join("a/b"), &[("memory.max", "max\n"), ("memory.current", "300\n")]);
    let mounts = [mount(&new, "cgroup2", "nsdelegate"), mount(&old, "cgroup", "memory")];
    assert_eq!(left_in_groups("0::/a/b\n", &mounts), Some(600));
    assert_eq!(left_in_groups("0::/\n", &mounts), None);
    assert_eq!(left_in_groups("0::/a/b\n", &mounts[1..]), None);

    // The path is the host's; the mount point is the container's own group.
    group(
        &old,
        &[
            ("memory.limit_in_bytes", "400\n"),
            ("memory.usage_in_bytes", "450\n"),
            ("memory.stat", "inactive_file 1\ntotal_inactive_file 200\n"),
        ],
    );
    let both = "4:cpu,memory:/docker/c\n3:cpu:/\n0::/a\n";
    assert_eq!(left_in_groups(both, &mounts), Some(150));
    group(&new.join("a"), &[("memory.high", "420\n")]);
    assert_eq!(left_in_groups(both, &mounts), Some(20));
}
