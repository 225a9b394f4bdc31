//! Tests of which word of a mount's options is in force. Remounts are tested in `tests/machine`.

use super::*;

fn mounted(kind: &str, options: &str) -> Mount {
    Mount {
        device: "0:0".to_owned(),
        target: "/nowhere/of/a/test".into(),
        source: "none".into(),
        kind: kind.to_owned(),
        options: options.split(',').map(str::to_owned).collect(),
    }
}

#[test]
fn of_each_choice_one_word_is_in_force() {
    for (options, asked, found) in [
        ("rw,noatime", "relatime", "noatime"),
        ("rw,relatime", "noatime", "relatime"),
        ("rw", "noatime", "strictatime"),
        ("rw,nodiratime", "noatime", "strictatime"),
        ("rw,relatime", "lazytime", "nolazytime"),
        ("lazytime,relatime,rw", "nolazytime", "lazytime"),
    ] {
        assert_eq!(in_force(&mounted("xfs", options), asked).as_deref(), Some(found), "{options}");
    }
}

#[test]
fn options_that_the_driver_does_not_change_are_unknown() {
    for word in ["discard", "commit=60", "logbufs=8"] {
        assert_eq!(in_force(&mounted("xfs", "rw,noatime"), word), None);
    }
    assert_eq!(in_force(&mounted("btrfs", "rw"), "commit=60").as_deref(), Some("commit=30"));
    assert_eq!(in_force(&mounted("btrfs", "rw"), "discard").as_deref(), Some("nodiscard"));
    let found = in_force(&mounted("btrfs", "discard=async,rw"), "discard=sync");
    assert_eq!(found.as_deref(), Some("discard=async"));
}

#[test]
fn only_known_words_can_be_put_back() {
    for word in ["commit=5", "nodiscard", "noatime", "nolazytime", "max_batch_time=0"] {
        assert!(can_be_put_back(word), "{word}");
    }
    for word in ["commit=", "commit=-1", "commit=5,ro", "data=journal", "ro", "dax", "barrier=0"] {
        assert!(!can_be_put_back(word), "{word}");
    }
}

#[test]
fn what_is_not_mounted_is_not_remounted() {
    let error = put_in_force(&mounted("ext4", "rw"), &["noatime".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("another filesystem"), "{error}");
}
