use super::*;

const EXEC: &str = "name: sched_process_exec
ID: 365
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:char rwbs[10];	offset:16;	size:10;	signed:0;
";

fn record() -> Vec<u8> {
    let mut record = vec![0; 40];
    record[0..2].copy_from_slice(&365_u16.to_le_bytes());
    record[4..8].copy_from_slice(&77_u32.to_le_bytes());
    record[8..12].copy_from_slice(&((8_u32 << 16) | 0x1c).to_le_bytes());
    record[12..16].copy_from_slice(&78_u32.to_le_bytes());
    record[16..18].copy_from_slice(b"WM");
    record[28..36].copy_from_slice(b"/bin/sh\0");
    record
}

#[test]
fn fields_are_read_where_the_format_says() {
    let format = EventFormat::parse("sched", EXEC, &["pid", "rwbs"], Some("filename")).unwrap();
    let record = record();
    assert_eq!(record_head(&record), Some((365, 77)));
    assert_eq!((format.id, format.number(0, &record)), (365, 78));
    assert_eq!(format.number(1, &record), u64::from_le_bytes(*b"WM\0\0\0\0\0\0"));
    assert_eq!(format.text(&record), Some(&b"/bin/sh"[..]));
}

#[test]
fn a_field_that_the_kernel_lacks_is_an_error_and_a_short_record_is_zeros() {
    assert!(EventFormat::parse("sched", EXEC, &["inode"], None).is_err());
    let format = EventFormat::parse("sched", EXEC, &["pid"], Some("filename")).unwrap();
    assert_eq!((format.number(0, &[1; 9]), format.text(&[255; 12])), (0, None));
}
