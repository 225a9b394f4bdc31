//! Kernels that a plan names or that are to be judged, and that do not exist.

use std::path::Path;

use super::{INSTALLED_KERNEL, Place};

#[test]
fn a_kernel_that_is_not_in_the_cache_is_refused_before_anything_runs() {
    let place = Place::new();
    let is_installed = Path::new(INSTALLED_KERNEL).exists();
    let found = if is_installed { "found: " } else { "found: none" };
    let lacks = format!("no lab kernel of Linux 5.99; {found}");
    for command in ["check", "run"] {
        let output = place.ssdlab(&[command, "discard", "--set", "kernel=5.99,6.12"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{message}");
        for word in [&lacks, "ssdlab kernel build --source"] {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
    assert!(!place.0.path().join("data").exists());
    let output = place.ssdlab(&["check", "discard", "--lab", "image", "--set", "kernel=5.99"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("run under the kernel that is running"), "{message}");
    let output = place.ssdlab(&["kernel", "default", "5.99"]);
    assert_eq!(output.status.code(), Some(4));
    let output = place.ssdlab(&["kernel", "list"]);
    let is_none = String::from_utf8(output.stdout).unwrap().contains("there is no lab kernel");
    assert_ne!(is_none, is_installed);
}

#[test]
fn what_cannot_be_judged_is_refused_before_anything_is_built() {
    let place = Place::new();
    let refused = |arguments: &[&str], says: &str| {
        let output = place.ssdlab(&[&["judge"], arguments].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        // To `git bisect run` a lower code is a verdict.
        assert_eq!(output.status.code(), Some(128), "{message}");
        assert!(message.contains(says), "{says}: {message}");
    };
    refused(&["discard"], "<CLAIM>");
    refused(&["discard", "any-io-is-slow", "--tree", "nowhere"], "nowhere");
    refused(&["discard", "slow"], "discard makes no claim `slow`");
    refused(&["discard", "fstrim-six-minutes", "--scale", "0.1"], "cannot be judged");
    refused(&["fsync", "ext3-slow"], "name one of: ");
    refused(&["discard", "any-io-is-slow", "--set", "kernel=6.1"], "under that of the tree");
    refused(&["discard", "any-io-is-slow", "--set", "discard=off"], "no treatments of this run");
    assert!(!place.0.path().join("cache").exists() && !place.0.path().join("data").exists());
}
