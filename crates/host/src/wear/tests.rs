use super::*;

#[test]
fn an_emmc_tells_tenths_of_its_worse_cells() {
    assert_eq!(life_time("0x01 0x01"), Some([0, 10]));
    assert_eq!(life_time("0x02 0x0a"), Some([90, 100]));
    assert_eq!(life_time("0x0b 0x01"), Some([100, 100]));
    assert_eq!(life_time("0x00 0x00"), None);
    assert_eq!(life_time(""), None);
    assert_eq!(life_time("0x0c 0xff"), None);
}

#[test]
fn a_drives_own_log_says_more_than_sysfs() {
    let mut wear = DriveWear {
        used_percent: Some([0, 10]),
        spare_blocks: Some(SpareBlocks::Normal),
        temperature_c: Some(40),
        ..DriveWear::default()
    };
    wear.add(&DriveWear { host_written_bytes: Some(1), is_failing: true, ..DriveWear::default() });
    assert_eq!((wear.used_percent, wear.temperature_c), (Some([0, 10]), Some(40)));
    assert_eq!(wear.spare_blocks, Some(SpareBlocks::Normal));
    assert!(wear.is_failing && wear.host_written_bytes == Some(1));
    wear.add(&DriveWear { used_percent: Some([3, 3]), ..DriveWear::default() });
    assert_eq!(wear.used_percent, Some([3, 3]));
}
