use super::*;

/// linux-nvme/nvme-cli#1745: a data unit is 512,000 bytes, not 512.
#[test]
fn nvme_data_units_are_thousands_of_blocks() {
    let text = r#"{"nvme_smart_health_information_log":
            {"data_units_written": 3, "percentage_used": 7}, "power_on_time": {"hours": 99}}"#;
    let smart = parse(text).unwrap();
    assert_eq!(smart.host_written_bytes, Some(1_536_000));
    assert_eq!((smart.used_percent, smart.power_on_hours), (Some(7), Some(99)));
}

#[test]
fn ata_writes_are_read_in_the_unit_that_is_named() {
    let of = |name: &str| {
        let text = format!(
            r#"{{"logical_block_size": 512, "ata_smart_attributes":
                {{"table": [{{"id": 241, "name": "{name}", "raw": {{"value": 10}}}}]}}}}"#
        );
        parse(&text).and_then(|smart| smart.host_written_bytes)
    };
    assert_eq!(of("Total_LBAs_Written"), Some(5120));
    assert_eq!(of("Host_Writes_32MiB"), Some(10 << 25));
    assert_eq!(of("Lifetime_Writes_GiB"), Some(10 << 30));
    assert_eq!(of("Unknown_Attribute"), None);
    assert_eq!(parse(r#"{"smartctl": {"exit_status": 2}}"#), None);
    assert_eq!(parse("not json"), None);
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
            parse(&text).and_then(|smart| smart.host_written_bytes)
        };
        let unit = if of_host.ends_with("GiB") { 1 << 30 } else { 32 << 20 };
        assert_eq!(of(of_host), Some(10 * unit), "{of_flash}");
        assert_eq!(of("Unknown_Attribute"), None, "{of_flash}");
    }
}
