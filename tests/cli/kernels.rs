//! Kernels that a plan names and that do not exist.

use super::Place;

#[test]
fn a_kernel_that_is_not_in_the_cache_is_refused_before_anything_runs() {
    let place = Place::new();
    for command in ["check", "run"] {
        let output = place.ssdlab(&[command, "discard", "--set", "kernel=6.1,6.12"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(4), "{message}");
        for word in ["no lab kernel of Linux 6.1; found: none", "ssdlab kernel build --source"] {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
    assert!(!place.0.path().join("data").exists());
    let output = place.ssdlab(&["check", "discard", "--lab", "image", "--set", "kernel=6.1"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("run under the kernel that is running"), "{message}");
    let output = place.ssdlab(&["kernel", "default", "6.1"]);
    assert_eq!(output.status.code(), Some(4));
    let output = place.ssdlab(&["kernel", "list"]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("there is no lab kernel"));
}
