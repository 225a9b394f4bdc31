use std::os::unix::net::UnixListener;

use super::*;

/// A SCSI disk in a folder as sysfs has it; returns its `cache_type`.
fn disk(sys: &Path, name: &str, wwid: &str, cache_type: &str) -> PathBuf {
    let device = sys.join("block").join(name).join("device");
    let attributes = device.join("scsi_disk/0:0:0:0");
    fs::create_dir_all(&attributes).unwrap();
    fs::write(device.join("wwid"), wwid).unwrap();
    let attribute = attributes.join("cache_type");
    fs::write(&attribute, cache_type).unwrap();
    attribute
}

#[test]
fn a_write_cache_is_restored_on_its_drive_whatever_that_is_called_now() {
    let sys = tempfile::tempdir().unwrap();
    let block = sys.path().join("block");
    let restore = |drive: &str| restore_write_cache(&block, drive, "write back", "write through");
    // After the boot the names have changed places.
    let other = disk(sys.path(), "sda", "naa.5000c500a1b2c3d5\n", "write through\n");
    let ours = disk(sys.path(), "sdb", "naa.5000c500a1b2c3d4\n", "write through\n");
    restore("naa.5000c500a1b2c3d4").unwrap();
    assert_eq!(fs::read_to_string(&ours).unwrap(), "write back");
    assert_eq!(fs::read_to_string(&other).unwrap(), "write through\n");
    // Somebody else has set it since.
    fs::write(&ours, "none\n").unwrap();
    restore("naa.5000c500a1b2c3d4").unwrap();
    assert_eq!(fs::read_to_string(&ours).unwrap(), "none\n");
    let error = restore("naa.5000c500a1b2c3d6").unwrap_err();
    assert!(error.to_string().contains("naa.5000c500a1b2c3d6"), "{error}");
    let help = miette::Diagnostic::help(&error).unwrap().to_string();
    assert!(help.contains("then run `ssdlab restore`"), "{help}");
}

#[test]
fn a_write_cache_is_not_forgotten_over_a_reboot_and_takes_no_other_value() {
    let change = |before: &str| Change::WriteCache {
        drive: "naa.5000c500a1b2c3d4".to_owned(),
        before: before.to_owned(),
        after: "write through".to_owned(),
    };
    assert!(change("write back").outlives_a_crash());
    assert!(change("write back").check("m").is_ok());
    assert!(change("1; reboot").check("m").is_err());
}

#[test]
fn where_another_daemon_serves_by_now_nothing_is_removed() {
    let place = tempfile::tempdir().unwrap();
    let folders = ["lock", "run"].map(|name| place.path().join(name)).to_vec();
    for folder in &folders {
        fs::create_dir(folder).unwrap();
    }
    fs::write(folders[0].join("lock"), "").unwrap();
    let theirs = UnixListener::bind(folders[1].join("socket")).unwrap();
    end_daemon(&folders, "test-daemon", Duration::ZERO).unwrap();
    assert!(folders[0].join("lock").exists() && folders[1].join("socket").exists());
    drop(theirs);
    end_daemon(&folders, "test-daemon", Duration::ZERO).unwrap();
    assert!(folders.iter().all(|folder| !folder.exists()));
}
