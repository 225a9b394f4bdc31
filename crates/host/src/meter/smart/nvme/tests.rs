use super::*;

/// A health log of NVM Express Base Specification 2.0, figure 207: these bytes, by their place.
fn health(fields: &[(usize, &[u8])]) -> Log {
    let mut log = [0; LOG_BYTES];
    // 44 degrees, all the spare with a threshold of 10 %, and 31,000 hours.
    let usual: [(usize, &[u8]); 3] =
        [(1, &317_u16.to_le_bytes()), (3, &[100, 10]), (128, &31_000_u128.to_le_bytes())];
    for (first, bytes) in usual.iter().chain(fields) {
        log[*first..first + bytes.len()].copy_from_slice(bytes);
    }
    log
}

/// An extended log of the OCP specification: the physical media units written, and the GUID.
fn extended(written_bytes: u128, guid: [u8; 16]) -> Log {
    let mut log = [0; LOG_BYTES];
    log[..16].copy_from_slice(&written_bytes.to_le_bytes());
    // Read, which is not what was written.
    log[16..32].copy_from_slice(&u128::MAX.to_le_bytes());
    log[494] = 3;
    log[496..].copy_from_slice(&guid);
    log
}

/// As nvme-cli's plugin for OCP has it in memory.
const OCP: [u8; 16] = [
    0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf,
];

#[test]
fn every_field_is_read_from_its_place() {
    // 1,562,500,000 units are 800 TB.
    let written = 1_562_500_000_u128.to_le_bytes();
    let log = health(&[(5, &[31]), (32, &[0xff; 16]), (48, &written), (64, &[0xff; 16])]);
    let expected = DriveWear {
        used_percent: Some([31, 31]),
        spare_percent: Some(100),
        host_written_bytes: Some(800_000_000_000_000),
        power_on_hours: Some(31_000),
        temperature_c: Some(44),
        ..DriveWear::default()
    };
    assert_eq!(told(&log, &NONE), Some(expected.clone()));
    let amplified = DriveWear {
        flash_written_bytes: Some(2_000_000_000_000_000),
        amplification: Some(2.5),
        ..expected
    };
    assert_eq!(told(&log, &extended(2_000_000_000_000_000, OCP)), Some(amplified));
}

/// smartctl asks for the same log, and both are told alike.
#[test]
fn smartctl_tells_the_same() {
    let log = health(&[(0, &[0b1000]), (3, &[7, 10]), (5, &[104]), (48, &1000_u128.to_le_bytes())]);
    let by_smartctl = super::super::parse_smartctl(
        r#"{"smart_status": {"passed": false}, "nvme_smart_health_information_log":
        {"critical_warning": 8, "temperature": 44, "available_spare": 7,
        "available_spare_threshold": 10, "percentage_used": 104, "data_units_written": 1000},
        "temperature": {"current": 44}, "power_on_time": {"hours": 31000}}"#,
    );
    assert_eq!(told(&log, &NONE), by_smartctl);
}

#[test]
fn a_vendors_own_log_is_not_taken_for_ocps() {
    let log = health(&[(48, &1_000_000_u128.to_le_bytes())]);
    let reversed = {
        let mut guid = OCP;
        guid.reverse();
        guid
    };
    // OCP's boot drives count what cells with one bit took apart from that.
    let of_boot_drives = 0xc46d_d792_0f1e_4266_a178_d8ac_7888_4365_u128.to_le_bytes();
    for guid in [[0; 16], [0xff; 16], reversed, of_boot_drives] {
        let told = told(&log, &extended(1 << 50, guid)).unwrap();
        assert_eq!((told.flash_written_bytes, told.amplification), (None, None), "{guid:x?}");
        assert_eq!(told.host_written_bytes, Some(512_000_000_000));
    }
}

#[test]
fn a_log_that_says_nothing_tells_nothing() {
    assert_eq!(told(&NONE, &NONE), None);
    assert_eq!(told(&NONE, &extended(1 << 50, OCP)), None);
    // An end that was never sent is zeros: 0 units are unknown, and there is no spare to speak of.
    let mut log = health(&[(5, &[3])]);
    log[3] = 0;
    log[4] = 0;
    log[6..].fill(0);
    let told = told(&log, &NONE).unwrap();
    assert_eq!((told.used_percent, told.host_written_bytes), (Some([3, 3]), None));
    assert_eq!((told.spare_percent, told.temperature_c), (None, Some(44)));
    // No spare is left where some is wanted.
    let empty = health(&[(3, &[0, 10])]);
    assert_eq!(super::told(&empty, &NONE).unwrap().spare_percent, Some(0));
    // Below absolute zero is a sensor that is not there.
    assert_eq!(super::told(&health(&[(1, &[0, 0])]), &NONE).unwrap().temperature_c, None);
}

#[test]
fn counters_of_128_bits_that_cannot_be_true_are_not_told() {
    let most = u64::MAX / 512_000;
    let of = |units: u128| {
        let told = told(&health(&[(48, &units.to_le_bytes())]), &NONE).unwrap();
        told.host_written_bytes
    };
    assert_eq!(of(1), Some(512_000));
    assert_eq!(of(u128::from(most)), Some(most * 512_000));
    assert_eq!(of(u128::from(most) + 1), None);
    // Its lower half alone would be 1.
    assert_eq!(of((1 << 64) + 1), None);
    assert_eq!(of(u128::MAX), None);
    let hours = health(&[(128, &[0xff; 16])]);
    assert_eq!(told(&hours, &extended((1 << 64) + 1, OCP)).unwrap().flash_written_bytes, None);
    assert_eq!(told(&hours, &NONE).unwrap().power_on_hours, None);
}

#[test]
fn a_drive_may_outlive_its_rated_life() {
    for used in [100, 101, 255] {
        let told = told(&health(&[(5, &[used])]), &NONE).unwrap();
        assert_eq!(told.used_percent, Some([u64::from(used); 2]));
        assert!(!told.is_failing);
    }
}

#[test]
fn only_heat_is_no_failure() {
    let is_failing = |warning| told(&health(&[(0, &[warning])]), &NONE).unwrap().is_failing;
    assert!(!is_failing(0) && !is_failing(0b10));
    for bit in [0, 2, 3, 4, 5] {
        assert!(is_failing(1 << bit) && is_failing(0b10 | 1 << bit), "{bit}");
    }
}

/// OCP's drives manage namespaces: bit 3 of the optional admin commands.
#[test]
fn commands_are_laid_out_as_the_kernel_has_them() {
    use std::mem::{offset_of, size_of};
    assert_eq!(size_of::<AdminCommand>(), 72);
    let places = [
        offset_of!(AdminCommand, namespace),
        offset_of!(AdminCommand, address),
        offset_of!(AdminCommand, data_bytes),
        offset_of!(AdminCommand, words),
        offset_of!(AdminCommand, timeout_ms),
    ];
    assert_eq!(places, [4, 24, 36, 40, 64]);
    assert_eq!(log_page(EXTENDED_LOG).words[0], 0x007f_00c0);
}

#[test]
fn other_devices_get_no_command() {
    assert_eq!(read(Path::new("/dev/null")), None);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nvme0n1");
    std::fs::write(&file, [0xff; 4096]).unwrap();
    assert_eq!(read(&file), None);
}
