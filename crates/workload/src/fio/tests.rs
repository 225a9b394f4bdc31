use super::*;

const REPORT: &str = r#"fio: this platform does not support process shared mutexes
{
  "jobs": [ { "jobname": "a", "error": 0,
      "read": { "total_ios": 10, "iops": 123.5, "bw_bytes": 4096,
                "clat_ns": { "mean": 9.0, "percentile": { "50.000000": 8, "99.000000": 20 } } },
      "write": { "total_ios": 0, "iops": 0.0 } } ]
}
fio: some farewell
"#;

/// axboe/fio#731: text around the JSON.
#[test]
fn text_around_the_json_is_passed_over() {
    let metrics = parse(REPORT).unwrap();
    assert_eq!(metrics.get("fio.read_iops"), Some(&123.5));
    assert_eq!(metrics.get("fio.read_clat_p99_ns"), Some(&20.0));
    assert!(!metrics.contains_key("fio.write_iops"));
}

#[test]
fn what_is_no_report_is_an_error() {
    for text in ["", "{\n", "{\n\"jobs\": 3\n}\n", "{\n\"jobs\": []\n}\n", "fio: no\n"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    assert!(parse(&REPORT.replace("\"error\": 0", "\"error\": 5")).is_err());
}

#[test]
fn a_job_that_names_a_disk_is_refused() {
    assert_eq!(check("[a]\nrw=randwrite\nfilename=data\nsize=1m\n"), Ok(()));
    assert_eq!(check("# see /etc, für alle\n[a]\n\tioengine = io_uring\nbs=4k\n"), Ok(()));
    for bad in [
        "filename=/dev/sda",
        "filename = a:/dev/sda",
        "directory=../..",
        "include x.fio",
        "[/dev/sda]",
        "filename=${DISK}",
        "exec_prerun=rm -rf x",
        "exec_postrun=rm -rf x",
        "ioengine=exec",
        "ioengine=external:x.so",
        "ioscheduler=kyber",
        "write_bw_log=x",
        "replay_redirect=/dev/sda",
        "\u{a0}exec_prerun=x",
    ] {
        assert!(check(&format!("[a]\n{bad}\n")).is_err(), "{bad}");
    }
    assert!(read(Path::new("/no/such/job.fio"), &Hashes::new(), &Interrupt::default()).is_err());
}

/// Lines that fio would split or truncate differently from the check.
#[test]
fn lines_that_fio_splits_or_cuts_are_refused() {
    let long = format!("# {}\nexec_prerun=x", "x".repeat(5000)).replace('\n', "");
    for bad in ["# a\rexec_prerun=x", "bs=4k\0", "# \u{85}exec_prerun=x", "bs=4k\r", &long] {
        let error = check(&format!("[a]\n{bad}\n")).unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
    }
}

/// The checked text runs, even if the file has changed since.
#[test]
fn a_job_is_read_once() {
    let place = tempfile::tempdir().unwrap();
    let job = place.path().join("job.fio");
    std::fs::write(&job, "[a]\nrw=write\n").unwrap();
    let text = read(&job, &Hashes::new(), &Interrupt::default()).unwrap();
    std::fs::write(&job, "[a]\nexec_prerun=x\n").unwrap();
    assert_eq!(text, "[a]\nrw=write\n");
}
