mod corpus;

use super::*;

fn blank() -> Survey {
    Survey {
        node: "/dev/sdx".into(),
        name: "sdx".to_owned(),
        identity: Identity { number: "8:0".to_owned(), size_bytes: 1 << 30, sequence: Some(7) },
        names: vec!["ata-DRIVE_S123".to_owned(), "S123".to_owned()],
        ..Survey::default()
    }
}

fn used(name: &str, relation: Relation, purpose: Purpose) -> Survey {
    Survey { uses: vec![DeviceUse { name: name.to_owned(), relation, purpose }], ..blank() }
}

fn with_data() -> Survey {
    let signature = Signature {
        device: "sdx1".to_owned(),
        kind: "ntfs".to_owned(),
        label: Some("Photos".to_owned()),
    };
    Survey { signatures: vec![signature], ..blank() }
}

#[test]
fn a_blank_unused_device_is_free() {
    assert!(judge(&blank(), None).unwrap().is_empty());
}

/// axboe/fio#1007: writing to `vdb` while `vdb1` is mounted must not pass.
#[test]
fn no_use_of_any_relative_passes_and_no_word_helps() {
    let purposes = [
        Purpose::Mounted("/home".into()),
        Purpose::Swap,
        Purpose::Holder("dm-0".to_owned()),
        Purpose::BuiltOn("sdx".to_owned()),
    ];
    let relations =
        [Relation::Itself, Relation::Partition, Relation::Disk, Relation::Sibling, Relation::Below];
    for relation in relations {
        for purpose in &purposes {
            let survey = used("sdx1", relation, purpose.clone());
            assert!(judge(&survey, None).is_err());
            assert!(judge(&survey, Some("S123")).is_err(), "{relation:?} {purpose:?}");
        }
    }
}

#[test]
fn a_device_the_kernel_holds_is_refused_even_if_nobody_knows_why() {
    assert!(judge(&Survey { busy: true, ..blank() }, Some("S123")).is_err());
    assert!(judge(&Survey { read_only: true, ..blank() }, None).is_err());
    assert!(judge(&Survey { identity: Identity::default(), ..blank() }, None).is_err());
}

/// tytso/e2fsprogs#241: the device's own name is typed before its data is given up.
#[test]
fn data_is_given_up_only_by_the_devices_own_name() {
    let error = judge(&with_data(), None).unwrap_err();
    assert!(error.to_string().contains("sdx1 carries ntfs \"Photos\""));
    assert!(error.help.contains("--wipe 'ata-DRIVE_S123'"));
    for wrong in ["", "yes", "sdx", "/dev/sdx", "S12", "s123", "S123 "] {
        assert!(judge(&with_data(), Some(wrong)).is_err(), "{wrong}");
    }
    assert_eq!(judge(&with_data(), Some("S123")).unwrap().len(), 1);
}

#[test]
fn a_mistyped_name_is_refused_even_where_there_is_no_data() {
    assert!(judge(&blank(), Some("S124")).is_err());
}

#[test]
fn a_device_without_a_name_of_its_own_keeps_its_data() {
    let nameless = Survey { names: Vec::new(), ..with_data() };
    let error = judge(&nameless, Some("anything")).unwrap_err();
    assert!(error.help.contains("wipefs"));
}
