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
    let metrics = parse(REPORT).unwrap().reported;
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
        "size=$mb_memory",
        "filename_format=${HOME}.$jobname",
        "filename_format=$jobname$ncpus",
        "filename_format=/dev/$jobname",
        "verify_state_save=x",
        "bssplit=4k/60 ; x\u{c}",
    ] {
        assert!(check(&format!("[a]\n{bad}\n")).is_err(), "{bad}");
    }
    assert!(
        read(Path::new("/no/such/job.fio"), &FileHashes::new(), &Interrupt::default()).is_err()
    );
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
    let text = read(&job, &FileHashes::new(), &Interrupt::default()).unwrap();
    std::fs::write(&job, "[a]\nexec_prerun=x\n").unwrap();
    assert_eq!(text, "[a]\nrw=write\n");
}

/// fio-job-options-refused: options after axboe/fio#492, #1065 and #662 that only concern the job's
/// own files.
#[test]
fn case_fio_job_options_refused_ordinary_options_are_accepted() {
    for good in [
        "bssplit=4k/60:64k/40",
        "filename_format=$jobname.$jobnum.$filenum",
        "verify=crc32c",
        "do_verify=1",
        "unified_rw_reporting=1",
        "thinktime=1ms",
        "random_distribution=zoned:50/5:30/15:20/",
        "zonemode=strided",
        "ioengine=libaio ; as in /etc/fio",
        "bs=4k # or 4k/8k",
        "description=reads, as in a/b",
    ] {
        assert_eq!(check(&format!("[a]\n{good}\n")), Ok(()), "{good}");
    }
}

/// The same: what is refused says why.
#[test]
fn what_is_refused_says_why() {
    for (bad, why) in [
        ("include common.inc", "not supported: put its lines here"),
        ("zonemode=zbd", "needs a zoned block device"),
        ("directory=/srv", "the job runs in the trial's own"),
        ("write_bw_log=x", "would be measured"),
        ("exec_prerun=sync", "do = \"command\""),
        ("iodeph=4", "did you mean `iodepth`?"),
    ] {
        let error = check(&format!("[a]\n{bad}\n")).unwrap_err();
        assert!(error.starts_with("line 2: ") && error.contains(why), "{bad}: {error}");
    }
}

/// The same: fio's own complaint, if this machine has fio.
#[test]
fn what_fio_does_not_understand_is_refused_in_its_words() {
    if program::find("fio", "fio").is_err() {
        eprintln!("not tested: fio is not installed");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let job = place.path().join("job.fio");
    std::fs::write(&job, "[a]\nrw=write\nsize=1m\nbs=much\n").unwrap();
    let error = check_job(&job).unwrap_err().to_string();
    assert!(error.contains("fio: failed parsing bs=much"), "{error}");
    let good = "[a]\nrw=write\nsize=1m\nruntime=1\ntime_based ; not for long\n";
    std::fs::write(&job, good).unwrap();
    assert_eq!(check_job(&job).unwrap(), good);
}

/// A job as fio 3.33 prints it.
fn job(name: &str, group: u64, read: (f64, u64), write: (f64, u64)) -> serde_json::Value {
    let side = |(iops, runtime): (f64, u64)| {
        serde_json::json!({
            "total_ios": if runtime == 0 { 0 } else { 1000 }, "iops": iops, "runtime": runtime,
            "bw_bytes": iops * 4096.0,
            "clat_ns": { "mean": 9.0, "percentile": { "99.000000": 20 } },
        })
    };
    serde_json::json!({
        "jobname": name, "groupid": group, "error": 0, "read": side(read), "write": side(write),
    })
}

fn metrics(jobs: &[serde_json::Value]) -> PhaseOutcome {
    parse(&serde_json::json!({ "jobs": jobs }).to_string()).unwrap()
}

/// fio-numjobs-lost: four copies of 500 reads a second are 2,000; and so are two sections of one
/// name.
#[test]
fn case_fio_numjobs_lost_copies_of_a_job_are_added() {
    let read = |rate: f64| job("c", 0, (rate, 2000), (0.0, 0));
    for jobs in [vec![read(500.0); 4], vec![read(500.0), read(1500.0)]] {
        let done = metrics(&jobs);
        for name in ["fio.c.read_iops", "fio.read_iops", "ops_per_second"] {
            assert_eq!(done.reported.get(name), Some(&2000.0), "{name}");
        }
        assert_eq!(done.reported.get("fio.c.read_bytes_per_s"), Some(&8_192_000.0));
        assert!(!done.reported.contains_key("fio.c.read_clat_p99_ns"));
        assert!(done.remark.unwrap().contains("their rates are added"));
    }
    // With `group_reporting` fio adds them, and combines their latencies.
    let done = metrics(&[read(2000.0)]);
    assert_eq!((done.reported["fio.c.read_iops"], done.remark), (2000.0, None));
    assert_eq!(done.reported.get("fio.c.read_clat_p99_ns"), Some(&20.0));
}

/// fio-numjobs-lost: a later job of one name does not replace the earlier.
#[test]
fn case_fio_numjobs_lost_successive_jobs_of_one_name_are_kept_apart() {
    let read = |group: u64, rate: f64| job("a", group, (rate, 2000), (0.0, 0));
    let done = metrics(&[read(0, 400.0), read(1, 100.0)]);
    assert_eq!(done.reported.get("fio.a.read_iops"), Some(&400.0));
    assert_eq!(done.reported.get("fio.a-2.read_iops"), Some(&100.0));
    // Not 500: they did not run together.
    assert!((done.reported["ops_per_second"] - 200.0).abs() < 1e-9);
}

/// Rates that fio did not measure are not 0, and a sum without one of its parts is none.
#[test]
fn a_copy_without_a_rate_leaves_no_sum() {
    let quick = job("c", 0, (0.0, 1), (0.0, 0));
    let done = metrics(&[job("c", 0, (500.0, 2000), (0.0, 0)), quick]);
    assert_eq!(done.reported.get("fio.c.read_iops"), None);
    assert_eq!(done.reported.get("ops_per_second"), None);
    assert!(done.remark.unwrap().contains("no rate of `c`"));
}
