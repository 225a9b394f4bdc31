use super::*;

#[test]
fn a_sync_is_seen_by_its_word() {
    for command in ["cp a b && sync", "dd of=x conv=fsync", "sh -c 'tar x; sync -f .'"] {
        assert!(last(command, &SYNCS) > last(command, &WRITERS), "{command}");
        assert!(last(command, &WRITERS).is_some(), "{command}");
    }
    for command in ["rsync a b", "cp async_notes b", "cat x", "dd of=/mnt/sync/x", "fio --fsync=0"]
    {
        assert_eq!(last(command, &SYNCS), None, "{command}");
    }
    assert!(last("sync; dd of=x", &SYNCS) < last("sync; dd of=x", &WRITERS));
    assert!(last("cp a b; /bin/sync", &SYNCS) > last("/bin/cp a b", &WRITERS));
}

/// Treatments with their numbers of trials, and notes, of a file.
fn imported(results: &str) -> (Vec<(String, usize)>, crate::import::ImportedRun) {
    let contents = format!("\u{feff}  {{\"results\": {results}}}\r\n");
    let source =
        crate::import::ImportSource { name: "a.json", label: None, contents: contents.as_bytes() };
    let run = crate::import::import(None, &[source]).unwrap();
    let count = |index| run.schedule.trials.iter().filter(|trial| trial.treatment == index).count();
    let treatments = run.schedule.treatments.iter().enumerate();
    (treatments.map(|(index, one)| (one.levels.to_string(), count(index))).collect(), run)
}

fn benchmark(command: &str, parameters: &str, more: &str) -> String {
    format!(
        "{{\"command\": \"{command}\", \"stddev\": null, \"times\": [0.5, 0.25, 0.75], \
         \"parameters\": {{{parameters}}}{more}}}"
    )
}

/// Case `hyperfine-parameters-ignored`: a parameter of `--prepare` is a level all the same.
#[test]
fn case_hyperfine_parameters_ignored_levels_tell_treatments_apart() {
    let of = |filesystem: &str| {
        benchmark("true", &format!("\"filesystem\": \"{filesystem}\", \"files\": \"9\""), "")
    };
    let (treatments, run) = imported(&format!("[{}, {}]", of("ext4"), of("xfs")));
    let expected = [("filesystem = ext4".to_owned(), 3), ("filesystem = xfs".to_owned(), 3)];
    assert_eq!(treatments, expected);
    let options = &run.records[0].imported.as_ref().unwrap().told[PHASE].options;
    assert_eq!((options["command"].as_str(), options["files"].as_str()), ("true", "9"));
}

/// Parameters that are no factor tell treatments apart by name.
#[test]
fn case_hyperfine_parameters_ignored_others_are_in_the_name() {
    let of = |size: &str, mode: &str| {
        benchmark("copy", &format!("\"size\": \"{size}\", \"mode\": \"{mode}\""), "")
    };
    let (treatments, _) = imported(&format!("[{}, {}]", of("1G", "a"), of("2G", "a")));
    let names: Vec<_> = treatments.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["label = copy, size = 1G", "label = copy, size = 2G"]);
    let both = format!(
        "[{}, {}]",
        benchmark("copy", "\"filesystem\": \"xfs\", \"size\": \"1G\"", ""),
        benchmark("copy", "\"filesystem\": \"xfs\", \"size\": \"2G\"", "")
    );
    let names: Vec<_> = imported(&both).0.into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["filesystem = xfs, label = copy, size = 1G", "filesystem = xfs, label = copy, size = 2G"]
    );
}

/// Absent exit codes are neither failures nor successes; what only commands have, no trial has.
#[test]
fn what_a_file_says_is_kept_and_what_it_does_not_say_is_said() {
    let more = ", \"exit_codes\": [0, null, 3], \"user\": 0.125, \"system\": 0.25, \
                \"memory_usage_byte\": [4096, 8192, null]";
    let (_, run) = imported(&format!("[{}]", benchmark("rm", "", more)));
    let failed: Vec<bool> = run.records.iter().map(|record| record.reason.is_some()).collect();
    assert_eq!(failed, [false, false, true]);
    let notes = run.schedule.notes.join("\n");
    assert!(notes.contains("no exit code of 1 of 3 runs"), "{notes}");
    assert!(notes.contains("`rm` 125.000 ms and 250.000 ms"), "{notes}");
    let phase = |index: usize| &run.records[index].phases[0];
    assert_eq!(phase(1).reported[&HYPERFINE_MEMORY].to_bits(), 8192_f64.to_bits());
    assert!(phase(2).reported.is_empty() && phase(0).cpu_ns.is_none());

    let one = "[{\"command\": \"rm\", \"times\": [2.0], \"user\": 0.5, \"system\": 0.25}]";
    let (_, run) = imported(one);
    assert_eq!(run.records[0].phases[0].cpu_ns, Some(750_000_000));
    assert!(run.schedule.notes[0].contains("no exit code of 1 of 1 runs"));
}
