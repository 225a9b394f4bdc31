use std::os::unix::fs::OpenOptionsExt;

use ssdlab_plan::Overrides;

use super::*;

fn run() -> (tempfile::TempDir, RunFolder, Schedule) {
    let plan = "name = \"p\"\nquestion = \"?\"\n[workload]\nphases = [{ do = \"sync\" }]\n";
    let overrides = Overrides::default();
    let schedule = ssdlab_plan::schedule("p", plan, &overrides, Path::new("/")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let run = RunFolder::create(place.path(), "p", plan, &schedule).unwrap();
    (place, run, schedule)
}

#[test]
fn a_schedule_gets_its_name_when_it_is_complete() {
    let (place, run, schedule) = run();
    // What is written in place changes under all of a file's names.
    let other = place.path().join("other");
    fs::hard_link(run.folder().join(SCHEDULE), &other).unwrap();
    fs::write(&other, "{").unwrap();
    RunFolder::begin(run.folder(), "", &schedule).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "{");
    assert!(RunFolder::read(run.folder()).is_ok());
}

#[test]
fn a_lock_that_cannot_be_had_is_not_taken_for_one_that_is_held() {
    let (_place, run, _) = run();
    let again = RunFolder::append(run.folder()).unwrap_err();
    assert!(matches!(again, StoreError::Busy { .. }));
    let flags = rustix::fs::OFlags::PATH.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&run.path).unwrap();
    let error = claim(&file, run.folder()).unwrap_err();
    assert!(matches!(error, StoreError::Io { step: "lock the records of", .. }), "{error}");
}

#[test]
fn records_that_cannot_be_shortened_are_named_with_the_first_error() {
    let (_place, mut run, schedule) = run();
    // It is full, and no file whose length could be set.
    run.path = "/dev/full".into();
    run.records = OpenOptions::new().append(true).open(&run.path).unwrap();
    let error = run.push(&Record::new(&schedule, schedule.trials[0], 1)).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("shorten") && said.contains("No space left"), "{said}");
}

#[test]
fn an_ending_that_cannot_be_read_is_said() {
    let (_place, run, _) = run();
    let path = run.folder().join(ENDING);
    assert_eq!(RunFolder::read(run.folder()).unwrap().ending, Ending::Interrupted);
    run.ended(Ending::Precise).unwrap();
    assert_eq!(RunFolder::read(run.folder()).unwrap().ending, Ending::Precise);
    assert_eq!(fs::read_dir(run.folder()).unwrap().count(), 4, "no half is left");
    for text in ["", "\"prec", "\"bored\""] {
        fs::write(&path, text).unwrap();
        let error = RunFolder::read(run.folder()).unwrap_err();
        assert!(matches!(error, StoreError::Ending { .. }), "{error}");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = RunFolder::read(run.folder()).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
}

#[test]
fn a_line_without_end_is_not_read_for_ever() {
    let path = Path::new("records.jsonl");
    let error = parse_records(path, io::repeat(b'0'), 1 << 20, |_| true).unwrap_err();
    assert!(error.to_string().contains("line 1 is not a record: it is longer"), "{error}");
}

/// The most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn empty_and_repeated_lines_take_no_memory() {
    let (_place, mut run, schedule) = run();
    let record = Record::new(&schedule, schedule.trials[0], 1);
    run.push(&record).unwrap();
    let line = fs::read(&run.path).unwrap();
    let before = peak_kib();
    run.records.write_all(&vec![b'\n'; 3_000_000]).unwrap();
    for _ in 0..8 {
        run.records.write_all(&line.repeat(10_000)).unwrap();
    }
    let contents = RunFolder::read(run.folder()).unwrap();
    assert_eq!(contents.records.len(), 1);
    assert!(contents.warnings[0].contains("80000 records of trials"), "{:?}", contents.warnings);
    run.records.write_all(b"{}\n").unwrap();
    let error = RunFolder::read(run.folder()).unwrap_err().to_string();
    assert!(error.contains("line 3080002 is not a record"), "{error}");
    // 83,000 records would have 78 MB.
    let grown_kib = peak_kib() - before;
    assert!(grown_kib < 60_000, "{grown_kib} KiB");
}

#[test]
fn a_truncated_line_is_put_aside_and_the_next_record_has_a_line_of_its_own() {
    let (_place, mut run, schedule) = run();
    let record = Record::new(&schedule, schedule.trials[0], 1);
    run.push(&record).unwrap();
    let start = b"{\"schema\": 1, \"tri";
    run.records.write_all(start).unwrap();
    let folder = run.folder().to_owned();
    drop(run);
    let (mut run, contents) = RunFolder::append(&folder).unwrap();
    assert_eq!(contents.records.len(), 1);
    assert!(contents.warnings[0].contains("truncated (18 bytes)"), "{:?}", contents.warnings);
    assert_eq!(fs::read(folder.join("records.cut")).unwrap(), start);
    run.push(&record).unwrap();
    let lines = fs::read_to_string(folder.join(RECORDS)).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn a_line_that_is_being_written_is_no_truncated_one() {
    let (_place, mut run, schedule) = run();
    run.push(&Record::new(&schedule, schedule.trials[0], 1)).unwrap();
    run.records.write_all(b"{\"schema\": 1, \"tri").unwrap();
    let folder = run.folder().to_owned();
    assert_eq!(RunFolder::read(&folder).unwrap().warnings, [""; 0]);
    drop(run);
    assert!(RunFolder::read(&folder).unwrap().warnings[0].contains("truncated (18 bytes)"));
}

#[test]
fn a_newer_format_is_named_before_what_it_changed() {
    let (_place, mut run, schedule) = run();
    let record = Record { schema: 2, ..Record::new(&schedule, schedule.trials[0], 1) };
    let other = r#"{"schema":2,"trial":"0/0"}"#;
    for line in [&serde_json::to_string(&record).unwrap(), other] {
        run.records.set_len(0).unwrap();
        run.records.write_all(format!("{line}\n").as_bytes()).unwrap();
        let error = RunFolder::read(run.folder()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
    }
}
