use super::*;

#[test]
fn processes_of_a_program_are_added_and_unreadable_ones_counted() {
    let root = tempfile::tempdir().unwrap();
    let process = |pid: u32, comm: &str, io: Option<&str>, flags: u64| {
        let folder = root.path().join(format!("proc/{pid}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("comm"), format!("{comm}\n")).unwrap();
        let stat = format!("{pid} ({comm}) S 1 1 1 0 -1 {flags} 0 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
        if let Some(io) = io {
            fs::write(folder.join("io"), io).unwrap();
        }
    };
    let io = |bytes: u64| format!("rchar: 9\nwrite_bytes: {bytes}\ncancelled_write_bytes: 10\n");
    process(10, "rustc", Some(&io(110)), 0x0040_0000);
    process(11, "rustc", Some(&io(60)), 0x0040_0000);
    process(12, "od) d\u{7}", Some(&io(30)), 0);
    process(13, "kworker/u8:2-x", Some(&io(4106)), 0x0020_8060);
    process(14, "secret", None, 0);
    process(15, "idle", Some(&io(10)), 0);
    fs::create_dir_all(root.path().join("proc/sys")).unwrap();
    let living = living(root.path());
    let rows: Vec<(&str, usize, u64)> = living
        .programs
        .iter()
        .map(|row| (row.program.as_str(), row.processes, row.written_bytes))
        .collect();
    assert_eq!(rows, [("kernel threads", 1, 4096), ("rustc", 2, 150), ("od) d", 1, 20)]);
    assert_eq!(living.unreadable, 1);
}
