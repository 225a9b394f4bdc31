//! Drives that are the one of a record, and others.

use super::*;

fn drive() -> ExistingDrive {
    ExistingDrive {
        node: "/dev/sdb".into(),
        names: ["ata-X25_1", "wwn-0x5"].map(str::to_owned).to_vec(),
        model: Some("X25".to_owned()),
        size_bytes: 80_026_361_856,
    }
}

fn recorded(drive: &ExistingDrive) -> BTreeMap<String, String> {
    drive.facts().into_iter().collect()
}

#[test]
fn a_drive_is_the_one_that_was_recorded_under_any_of_its_names() {
    let applied = recorded(&drive());
    drive().check(&applied).unwrap();
    let mut renamed = drive();
    renamed.node = "/dev/sdc".into();
    renamed.names.reverse();
    renamed.check(&applied).unwrap();
    // A trial that failed before it had a drive, and one of an earlier version.
    drive().check(&BTreeMap::new()).unwrap();
    let size = BTreeMap::from([("device_bytes".to_owned(), "80026361856".to_owned())]);
    drive().check(&size).unwrap();
}

#[test]
fn another_drive_is_refused_with_both_and_a_way_out() {
    let others = [
        (
            ExistingDrive { names: vec!["ata-X25_2".to_owned()], ..drive() },
            "ata-X25_1",
            "ata-X25_2",
        ),
        (ExistingDrive { names: Vec::new(), ..drive() }, "ata-X25_1", "none"),
        (ExistingDrive { model: Some("870".to_owned()), ..drive() }, "X25", "870"),
        (ExistingDrive { model: None, ..drive() }, "X25", "none"),
        (ExistingDrive { size_bytes: 80_026_361_344, ..drive() }, "80026361856", "80026361344"),
    ];
    for (other, then, now) in others {
        let error = other.check(&recorded(&drive())).unwrap_err();
        let says = error.to_string();
        assert!(says.contains("/dev/sdb") && says.contains(then) && says.contains(now), "{says}");
        let help = error.help().unwrap().to_string();
        assert!(help.contains("new one") && help.contains("nothing was written"), "{help}");
    }
}
