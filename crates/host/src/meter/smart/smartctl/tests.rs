use super::*;

fn smart(text: &str) -> DriveWear {
    parse(text).unwrap_or_default()
}

fn attributes(rows: &[(u64, &str, u64, u64)]) -> DriveWear {
    let rows: Vec<Value> = rows
        .iter()
        .map(|(id, name, value, raw)| {
            serde_json::json!({ "id": id, "name": name, "value": value, "raw": { "value": raw } })
        })
        .collect();
    let json = serde_json::json!({ "model_name": "Samsung SSD 860 EVO 500GB",
        "ata_smart_attributes": { "table": rows } });
    smart(&json.to_string())
}

/// linux-nvme/nvme-cli#1745: a data unit is 512,000 bytes, not 512.
#[test]
fn nvme_data_units_are_thousands_of_blocks() {
    let text = r#"{"nvme_smart_health_information_log":
            {"data_units_written": 3, "percentage_used": 7}, "power_on_time": {"hours": 99}}"#;
    let wear = smart(text);
    assert_eq!(wear.host_written_bytes, Some(1_536_000));
    assert_eq!((wear.used_percent, wear.power_on_hours), (Some([7, 7]), Some(99)));
}

#[test]
fn ata_writes_are_read_in_the_unit_that_is_named() {
    let of = |name: &str| {
        let text = format!(
            r#"{{"logical_block_size": 512, "ata_smart_attributes":
                {{"table": [{{"id": 241, "name": "{name}", "raw": {{"value": 10}}}}]}}}}"#
        );
        smart(&text).host_written_bytes
    };
    assert_eq!(of("Total_LBAs_Written"), Some(5120));
    assert_eq!(of("Host_Writes_32MiB"), Some(10 << 25));
    assert_eq!(of("Lifetime_Writes_GiB"), Some(10 << 30));
    assert_eq!(of("Unknown_Attribute"), None);
}

/// Pairs of Phison's, `SanDisk`'s, Marvell's and Silicon Motion's drives in drivedb.h.
#[test]
fn what_a_drive_wrote_to_its_flash_is_not_taken_for_the_hosts_writes() {
    for [of_flash, of_host] in [
        ["Flash_Writes_GiB", "Lifetime_Writes_GiB"],
        ["Total_NAND_Writes_GiB", "Total_Writes_GiB"],
        ["NAND_GiB_Written", "Host_Writes_GiB"],
        ["TLC_Writes_32MiB", "Host_Writes_32MiB"],
        ["SLC_Writes_32MiB", "Host_Writes_32MiB"],
    ] {
        let of = |second: &str| {
            let text = format!(
                r#"{{"ata_smart_attributes": {{"table": [
                    {{"id": 233, "name": "{of_flash}", "raw": {{"value": 70}}}},
                    {{"id": 241, "name": "{second}", "raw": {{"value": 10}}}}]}}}}"#
            );
            smart(&text).host_written_bytes
        };
        let unit = if of_host.ends_with("GiB") { 1 << 30 } else { 32 << 20 };
        assert_eq!(of(of_host), Some(10 * unit), "{of_flash}");
        assert_eq!(of("Unknown_Attribute"), None, "{of_flash}");
    }
}

#[test]
fn an_nvme_drive_tells_what_is_used() {
    let text = r#"{"nvme_smart_health_information_log": {"critical_warning": 2,
        "available_spare": 97, "percentage_used": 3, "data_units_written": 1000},
        "temperature": {"current": 41}, "power_on_time": {"hours": 10}}"#;
    let wear = smart(text);
    assert_eq!((wear.used_percent, wear.spare_percent), (Some([3, 3]), Some(97)));
    assert_eq!((wear.host_written_bytes, wear.temperature_c), (Some(512_000_000), Some(41)));
    // It is only too warm.
    assert!(!wear.is_failing);
    assert!(smart(&text.replace("warning\": 2", "warning\": 8")).is_failing);
}

#[test]
fn the_life_of_an_ata_drive_is_read_where_its_meaning_is_known() {
    let used = |row| attributes(&[row]).used_percent;
    assert_eq!(used((202, "Percent_Lifetime_Remain", 39, 61)), Some([61, 61]));
    assert_eq!(used((177, "Wear_Leveling_Count", 98, 30)), Some([2, 2]));
    assert_eq!(used((233, "Media_Wearout_Indicator", 90, 0)), Some([10, 10]));
    // SanDisk's has another meaning, and none goes beyond 100.
    assert_eq!(used((230, "Media_Wearout_Indicator", 1, 0)), None);
    assert_eq!(used((231, "SSD_Life_Left", 253, 0)), None);
    let standard = r#"{"ata_device_statistics": {"pages": [{"number": 7, "table":
        [{"name": "Percentage Used Endurance Indicator", "value": 4}]}]},
        "ata_smart_attributes": {"table": [{"id": 231, "name": "SSD_Life_Left", "value": 90}]}}"#;
    assert_eq!(smart(standard).used_percent, Some([4, 4]));
}

#[test]
fn amplification_needs_both_counts() {
    let host = (241, "Host_Writes_GiB", 100, 1000);
    let amplified = |rows: &[_]| attributes(rows).amplification;
    assert_eq!(amplified(&[host]), None);
    assert_eq!(amplified(&[host, (233, "NAND_GiB_Written", 100, 2500)]), Some(2.5));
    let parts = [(245, "TLC_Writes_32MiB", 100, 64_000), (246, "SLC_Writes_32MiB", 100, 16_000)];
    assert_eq!(amplified(&[host, parts[0], parts[1]]), Some(2.5));
    assert_eq!(amplified(&[host, parts[0]]), None);
    let pages = [(247, "Host_Program_Page_Count", 100, 3), (248, "FTL_Program_Page_Count", 100, 6)];
    assert_eq!(amplified(&pages), Some(3.0));
    // Counts of a few GiB say nothing: they are rounded.
    let few = (241, "Host_Writes_GiB", 100, 2);
    assert_eq!(amplified(&[few, (233, "NAND_GiB_Written", 100, 7)]), None);
}

#[test]
fn nothing_follows_from_nothing() {
    for text in ["", "{", "not json", "[]", "{}", r#"{"smartctl": {"exit_status": 2}}"#] {
        assert_eq!(parse(text), None, "{text}");
    }
}
