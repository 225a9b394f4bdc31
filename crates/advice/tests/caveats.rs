//! Caveats are true and relevant.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use ssdlab_advice::{Analysis, CheckOutcome, Criterion, Warning, analyse, taking_part};
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{
    CAPACITY_BYTES, Factor, LabKind, Levels, Overrides, SLC_CACHE_BYTES, Schedule,
    WHOLE_SLC_CACHE_BYTES, metric, schedule,
};
use ssdlab_results::{
    Attempt, AttemptId, Ending, Imported, Ledger, PhaseRecord, Record, StatedMethod, Teardown,
};

fn plan(lab: LabKind, factors: &str, phases: &str) -> Schedule {
    plan_of(lab, factors, phases, 4)
}

fn plan_of(lab: LabKind, factors: &str, phases: &str, runs: u32) -> Schedule {
    let text = format!(
        "name = \"p\"\nquestion = \"?\"\nworkload = {{ phases = [{phases}] }}\n[factors]\n{factors}"
    );
    let device = (lab == LabKind::Device).then(|| "/dev/null".into());
    let directory = (lab == LabKind::Directory).then(|| "/".into());
    let runs = Some(runs);
    let overrides = Overrides { lab: Some(lab), device, directory, runs, ..Overrides::default() };
    schedule("p.toml", &text, &overrides, Path::new("/")).unwrap()
}

/// A schedule as if one value in its file were another.
fn stored(schedule: &Schedule, place: &str, value: Value) -> Schedule {
    let mut stored = serde_json::to_value(schedule).unwrap();
    *stored.pointer_mut(place).unwrap() = value;
    serde_json::from_value(stored).unwrap()
}

fn run(schedule: &Schedule, change: impl Fn(&mut Record)) -> Analysis {
    let of = |trial: &Trial| {
        let phases = schedule.phases(trial.treatment).into_iter().map(|phase| PhaseRecord {
            name: phase.name,
            time_ns: Some(1_000_000_000 + u64::from(trial.position)),
            is_quiet: Some(true),
            device: Some(Counters { written_bytes: 10_000_000, ..Counters::default() }),
            ..PhaseRecord::default()
        });
        let mut record = Record { phases: phases.collect(), ..Record::new(schedule, *trial, 0) };
        change(&mut record);
        record
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    analyse("r", schedule, records, Ending::AllBlocks)
}

fn imported(phase: &str, told: StatedMethod) -> Imported {
    Imported {
        file: "f.json".to_owned(),
        sha256: String::new(),
        program: "fio".to_owned(),
        version: None,
        is_order_known: true,
        told: BTreeMap::from([(phase.to_owned(), told)]),
    }
}

fn has(analysis: &Analysis, is: impl Fn(&Warning) -> bool) -> bool {
    analysis.warnings.iter().any(|warned| is(&warned.warning))
}

fn is_unsynced(analysis: &Analysis) -> bool {
    has(analysis, |warning| matches!(warning, Warning::Unsynced { .. }))
}

/// A percentile of few operations is told, with those of the trial that has the fewest.
#[test]
fn a_percentile_of_few_operations_is_no_percentile() {
    let told = |metric: &str, reads: f64| -> Vec<(u64, u64)> {
        let schedule = plan(
            LabKind::Image,
            &format!(
                "filesystem = \"ext4\"\n[[claims]]\nid = \"c\"\nsays = \"s\"\n\
                      metric = \"{metric}\"\nphases = [\"delete\"]\n\
                      compare = {{ filesystem = \"ext4\" }}\nat_most = \"9 ms\"\n"
            ),
            "{ do = \"delete\", sync = true, reader = true }",
        );
        let analysis = run(&schedule, |record| {
            let fewest = reads - f64::from(record.trial.block);
            let reported =
                [("reader.p99_ns", 1e6), ("reader.p50_ns", 1e5), ("reader.reads", fewest)];
            record.phases[0].reported =
                metric::parsed(reported.map(|(name, value)| (name.to_owned(), value)));
        });
        let few = analysis.warnings.into_iter().filter_map(|warned| match warned.warning {
            Warning::FewOperations { operations, needed, .. } => Some((operations, needed)),
            _ => None,
        });
        few.collect()
    };
    assert_eq!(told("reader.p99_ns", 40.0), [(37, 10_000)]);
    assert_eq!(told("reader.p99_ns", 10_003.0), []);
    assert_eq!(told("reader.p50_ns", 40.0), []);
}

/// A setting that follows says what it rests on.
#[test]
fn a_setting_says_what_it_rests_on() {
    let rests_on = |lab: LabKind, labels: [&str; 2]| {
        let claim = |(id, label): (&str, &str)| {
            format!(
                "[[claims]]\nid = \"{id}\"\nsays = \"s\"\nmetric = \"written_bytes\"\n\
                     phases = [\"delete\"]\ncompare = {{ filesystem = \"ext4\" }}\n\
                     at_least = \"1 MB\"\nif_holds = \"Do it\"\n{label}\n"
            )
        };
        let claims: String = ["a", "b"].into_iter().zip(labels).map(claim).collect();
        let factors = format!("filesystem = [\"ext4\", \"xfs\"]\n{claims}");
        let schedule = plan_of(lab, &factors, "{ do = \"delete\", sync = true }", 8);
        let written = |record: &mut Record| {
            let device = record.phases[0].device.as_mut().unwrap();
            device.written_bytes += u64::from(record.trial.position);
        };
        let mut settings = run(&schedule, written).settings;
        settings.pop().map(|setting| setting.rests_on)
    };
    let (built, late) = ("by_construction = \"fitted\"", "exploratory = \"seen\"");
    let says = |lab, labels| rests_on(lab, labels).unwrap();
    assert_eq!(says(LabKind::Image, ["", ""]), "measured, n = 8");
    assert_eq!(says(LabKind::Virtual, ["", ""]), "simulated, n = 8");
    assert_eq!(says(LabKind::Virtual, [built, built]), "by construction");
    assert_eq!(says(LabKind::Image, [late, late]), "exploratory");
    assert_eq!(
        says(LabKind::Virtual, [built, ""]),
        "1 of 2 by construction, 1 of 2 simulated, n = 8"
    );
}

#[test]
fn what_syncs_is_not_told_that_nothing_does() {
    let io = |rest: &str| {
        let phases =
            format!("{{ do = \"io\", io = {{ size = \"1 MiB\", operations = 10{rest} }} }}");
        is_unsynced(&run(&plan(LabKind::Image, "filesystem = \"ext4\"", &phases), |_| {}))
    };
    assert!(io(""));
    assert!(!io(", sync = \"every 1 writes\""));
    assert!(!io(", sync = \"end\""));
    assert!(!io(", direct = true"));
    assert!(!io(", reads = \"100 %\""));
    let phases = |phases: &str| {
        is_unsynced(&run(&plan(LabKind::Image, "filesystem = \"ext4\"", phases), |_| {}))
    };
    let fio = |syncs: bool| {
        let phase = "{ do = \"fio\", job = \"j.fio\" }";
        let schedule = plan(LabKind::Image, "filesystem = \"ext4\"", phase);
        let schedule = stored(&schedule, "/workload/phases/0/action/fio/syncs", json!(syncs));
        is_unsynced(&run(&schedule, |_| {}))
    };
    assert!(fio(false));
    assert!(!fio(true));
    assert!(phases("{ do = \"unpack\" }"));
    assert!(!phases("{ do = \"unpack\", sync = true }"));
    assert!(!phases("{ do = \"unpack\" }, { do = \"remount\" }"));
    let transactions = |rest: &str| {
        phases(&format!("{{ do = \"transactions\", transactions = {{ number = 5{rest} }} }}"))
    };
    assert!(!transactions(""));
    assert!(!transactions(", journal = \"wal\""));
    assert!(!transactions(", synchronous = \"normal\""));
    assert!(transactions(", journal = \"wal\", synchronous = \"normal\""));
    assert!(transactions(", synchronous = \"off\""));
    assert!(transactions(", rate = \"10/s\", beside = \"8 MB/s\""));
    assert!(phases("{ do = \"append\", append = { records = 5 } }"));
    assert!(phases("{ do = \"append\", append = { records = 5, sync_every = 10 } }"));
    assert!(!phases("{ do = \"append\", append = { records = 5, sync_every = 1 } }"));
    assert!(!phases("{ do = \"maildir\", maildir = { messages = 5 } }"));
    assert!(phases("{ do = \"rotate\", rotate = { records = 5 } }"));
    assert!(!phases("{ do = \"unpack\", sync = true }, { do = \"read\" }"));
    assert!(phases("{ do = \"unpack\" }, { do = \"read\" }"));
    for (sync, is_told) in
        [("none", true), ("directory", true), ("file", false), ("file and directory", false)]
    {
        let replace = format!("{{ files = 2, rounds = 2, sync = \"{sync}\" }}");
        let told = phases(&format!("{{ do = \"replace\", replace = {replace} }}"));
        assert_eq!(told, is_told, "{sync}");
    }
}

/// The directory lab does not unmount, so that a tree is cached there.
#[test]
fn what_memory_may_still_hold_is_told() {
    let outcome = |lab, filesystem: &str, read: &str| {
        let phases = format!("{{ do = \"unpack\", sync = true }}, {{ do = \"read\"{read} }}");
        let analysis = run(&plan(lab, &format!("filesystem = \"{filesystem}\""), &phases), |_| {});
        let is_it = |check: &&ssdlab_advice::Check| check.criterion == Criterion::WorkingSet;
        analysis.method.iter().find(is_it).unwrap().outcome
    };
    assert_eq!(outcome(LabKind::Image, "ext4", ""), CheckOutcome::Unknown);
    assert_eq!(outcome(LabKind::Image, "ext4", ", cold = true"), CheckOutcome::Met);
    assert_eq!(outcome(LabKind::Directory, "any", ", cold = true"), CheckOutcome::Unknown);
}

/// A plan that syncs is not advised to sync, and a superblock is not reported.
#[test]
fn what_unmounting_writes_is_told_where_it_is_something() {
    let schedule =
        plan(LabKind::Image, "filesystem = \"ext4\"", "{ do = \"unpack\", sync = true }");
    let late = |bytes: u64| {
        run(&schedule, |record| {
            let device = Counters { written_bytes: bytes, ..Counters::default() };
            record.teardown = Some(Teardown { time_ns: 1, device });
            for phase in &mut record.phases {
                phase.device = Some(Counters { written_bytes: 100_000, ..Counters::default() });
            }
        })
    };
    let is_told =
        |analysis: &Analysis| has(analysis, |warning| matches!(warning, Warning::LateWork { .. }));
    assert!(!is_told(&late(40_960)));
    let analysis = late(3_000_000);
    assert!(is_told(&analysis));
    let sync = analysis.method.iter().find(|check| check.criterion == Criterion::Sync).unwrap();
    assert_eq!(sync.outcome, CheckOutcome::NotMet);
    let advice = sync.advice.as_deref().unwrap();
    assert!(advice.contains("remount") && !advice.contains("sync = true"), "{advice}");
}

#[test]
fn no_advice_is_given_that_the_plan_follows() {
    let advice = |last: &str, change: &dyn Fn(&mut Record)| {
        let phases = format!("{{ do = \"unpack\", sync = true }}, {last}");
        let schedule = plan(LabKind::Image, "filesystem = \"ext4\"", &phases);
        let analysis = run(&schedule, change);
        let sync = analysis.method.iter().find(|check| check.criterion == Criterion::Sync);
        sync.unwrap().advice.clone().unwrap()
    };
    let late = |record: &mut Record| {
        let device = Counters { written_bytes: 3_000_000, ..Counters::default() };
        record.teardown = Some(Teardown { time_ns: 1, device });
    };
    let busy = |record: &mut Record| {
        for phase in &mut record.phases {
            phase.is_quiet = Some(false);
        }
    };
    assert!(advice("{ do = \"idle\" }", &late).contains("remount"));
    assert!(!advice("{ do = \"remount\" }", &late).contains("remount"));
    assert!(advice("{ do = \"remount\" }", &busy).contains("end with an `idle`"));
    assert!(!advice("{ do = \"idle\" }", &busy).contains("end with an `idle`"));
}

#[test]
fn schedulers_in_the_virtual_lab_have_their_caveat() {
    let both = "scheduler = [\"none\", \"bfq\"]";
    let told = |lab, factors: &str| {
        let schedule = plan(lab, factors, "{ do = \"unpack\", sync = true }");
        has(&run(&schedule, |_| {}), |warning| *warning == Warning::Schedulers)
    };
    assert!(told(LabKind::Virtual, both));
    assert!(!told(LabKind::Virtual, "scheduler = \"none\""));
    assert!(!told(LabKind::Image, both));
}

#[test]
fn discards_beyond_the_device_are_explained() {
    let schedule = plan(LabKind::Virtual, "discard = \"on\"", "{ do = \"delete\", sync = true }");
    let of = |bytes: u64| {
        run(&schedule, |record| {
            record.applied.insert(CAPACITY_BYTES.to_owned(), "4000000000".to_owned());
            let device = Counters { discarded_bytes: bytes, ..Counters::default() };
            record.phases[0].device = Some(device);
        })
    };
    let told = |analysis: &Analysis| {
        let mut all = analysis.warnings.iter();
        all.any(|one| one.says.contains("`delete` discarded up to 6.0 GB, more than the 4.0 GB"))
    };
    assert!(told(&of(6_000_000_000)), "{:?}", of(6_000_000_000).warnings);
    assert!(!told(&of(4_000_000_000)));
    assert_eq!(of(1).capacity_bytes, Some(4_000_000_000));
}

#[test]
fn a_cache_that_a_small_capacity_cut_is_told_once_for_its_drive() {
    let schedule = plan(LabKind::Virtual, "discard = \"on\"", "{ do = \"delete\", sync = true }");
    let of = |full: &str| {
        run(&schedule, |record| {
            for (name, value) in [
                ("drive", "tlc-dram"),
                (CAPACITY_BYTES, "64000000000"),
                (full, "21000000000"),
                (WHOLE_SLC_CACHE_BYTES, "42000000000"),
            ] {
                record.applied.insert(name.to_owned(), value.to_owned());
            }
        })
    };
    let told = |analysis: &Analysis| {
        let says = analysis.warnings.iter().filter(|one| {
            one.says.contains("leaves 21.0 GB of its SLC cache of 42.0 GB")
                && one.says.contains("--capacity of 128.0 GB or more")
        });
        says.count()
    };
    assert_eq!(told(&of(SLC_CACHE_BYTES)), 1, "{:?}", of(SLC_CACHE_BYTES).warnings);
    assert_eq!(told(&of("other")), 0);
}

#[test]
fn imported_jobs_of_different_depth_are_told_apart() {
    let schedule =
        plan(LabKind::Image, "atime = [\"noatime\", \"relatime\"]", "{ do = \"unpack\" }");
    let schedule = stored(&schedule, "/target/lab", json!("imported"));
    let of = |depths: [&str; 2]| {
        run(&schedule, |record| {
            let depth = depths[record.trial.treatment].to_owned();
            let options = BTreeMap::from([("iodepth".to_owned(), depth)]);
            record.imported =
                Some(imported("unpack", StatedMethod { options, ..StatedMethod::default() }));
        })
    };
    let says = |analysis: &Analysis| {
        let mut all = analysis.warnings.iter();
        all.any(|one| one.says.contains("unpack: iodepth 1 against 32"))
    };
    assert!(says(&of(["1", "32"])), "{:?}", of(["1", "32"]).warnings);
    assert!(!says(&of(["32", "32"])));
}

/// Names the treatments whose file says that nothing synced, unless it is true of all.
#[test]
fn imported_files_that_do_not_sync_are_named() {
    let schedule =
        plan(LabKind::Image, "atime = [\"noatime\", \"relatime\"]", "{ do = \"unpack\" }");
    let schedule = stored(&schedule, "/target/lab", json!("imported"));
    let says = |syncs: [bool; 2]| {
        let analysis = run(&schedule, |record| {
            let treatment = record.trial.treatment;
            record.levels.0.insert(Factor::Label, format!("disk {treatment}"));
            let told = StatedMethod {
                writes: Some(true),
                syncs: Some(syncs[treatment]),
                ..StatedMethod::default()
            };
            record.imported = Some(imported("unpack", told));
        });
        let mut all = analysis.warnings.into_iter();
        all.find_map(|one| Some(one.says.strip_prefix("nothing syncs after `unpack`")?.to_owned()))
    };
    assert!(says([true, false]).unwrap().starts_with(" of disk 1: what it wrote"));
    assert!(says([false, false]).unwrap().starts_with(": what it wrote"));
    assert_eq!(says([true, true]), None);
}

/// The order of imported trials means nothing, so the result does not depend on it.
#[test]
fn imported_trials_are_no_pairs() {
    let schedule =
        plan(LabKind::Image, "atime = [\"noatime\", \"relatime\"]", "{ do = \"unpack\" }");
    let schedule = stored(&schedule, "/target/lab", json!("imported"));
    let interval = |times: [u64; 4]| {
        let analysis = run(&schedule, |record| {
            let own = if record.trial.treatment == 0 { [10, 12, 15, 20] } else { times };
            record.phases[0].time_ns = Some(own[record.trial.block as usize]);
            record.imported = Some(imported("unpack", StatedMethod::default()));
        });
        let effect =
            analysis.effects.iter().find(|effect| effect.metric.name == "time_ns").unwrap();
        effect.interval.unwrap().map(|end| format!("{end:.9}"))
    };
    assert_eq!(interval([20, 24, 30, 41]), interval([41, 20, 30, 24]));
}

/// A metric of 0 has no ratio, and so ranks nothing; the run goes on with all that it measured.
#[test]
fn a_step_that_cannot_rank_keeps_what_it_measured() {
    let steps = "[ranking]\nmetric = \"flushes\"\n\
                 [[steps]]\nname = \"all\"\nkeep = { filesystem = 1 }\n[[steps]]\nname = \"best\"";
    let factors = format!("filesystem = [\"ext2\", \"ext4\", \"xfs\"]\n{steps}");
    let schedule = plan(LabKind::Image, &factors, "{ do = \"unpack\", sync = true }");
    let of = |flushes: [u64; 3]| {
        let record = |trial: &Trial| {
            let flushes = flushes[trial.treatment];
            let device = Some(Counters { flushes, ..Counters::default() });
            let name = schedule.phases(0)[0].name.clone();
            let phase = PhaseRecord { name, time_ns: Some(1), device, ..PhaseRecord::default() };
            Record { phases: vec![phase], ..Record::new(&schedule, *trial, 0) }
        };
        let first = schedule.trials.iter().filter(|trial| schedule.step_of(trial.block) == 0);
        let records: Vec<Record> = first.map(record).collect();
        let kept = taking_part(&schedule, &records, 1);
        let warnings = analyse("r", &schedule, records, Ending::AllBlocks).warnings;
        (kept, warnings.into_iter().find(|one| one.says.starts_with("no ranking of `all`")))
    };
    let (kept, note) = of([3, 2, 5]);
    assert!(kept == [1] && note.is_none(), "{note:?}");
    let (kept, note) = of([0, 2, 5]);
    assert_eq!(kept, [0, 1, 2]);
    assert!(note.unwrap().says.ends_with("so all that were measured go on"));
}

/// A report once said +-8.9 % beside an interval of [0.11, 37.83].
#[test]
fn the_widest_interval_is_the_widest_that_is_shown() {
    let schedule = plan_of(
        LabKind::Image,
        "discard = [\"off\", \"on\"]",
        "{ do = \"unpack\" }, { do = \"sync\" }, { do = \"delete\" }",
        6,
    );
    let analysis = run(&schedule, |record| {
        let grown = if record.trial.treatment == 0 { 1 } else { 10_u64.pow(record.trial.block) };
        record.phases[1].time_ns = Some(1_000_000 * grown);
    });
    let wide = analysis.effects.iter().filter(|effect| effect.metric.name == "time_ns");
    let wide = wide.filter_map(|effect| effect.interval);
    let wide = wide.map(|[low, high]| (high / low).sqrt() - 1.0).fold(0.0, f64::max);
    let told = analysis.warnings.iter().find_map(|warned| match &warned.warning {
        Warning::Imprecise { widest_shown, .. } => *widest_shown,
        _ => None,
    });
    assert!(wide > 1.0 && (told.unwrap() - wide).abs() < 1e-9, "{told:?} {wide}");
}

#[test]
fn two_drives_of_one_model_are_two() {
    let schedule =
        plan(LabKind::Device, "discard = [\"off\", \"on\"]", "{ do = \"unpack\", sync = true }");
    let analysis = run(&schedule, |record| {
        let id = AttemptId::read("7_0").unwrap();
        record.attempt = Some(Attempt { id, node: "node1".to_owned() });
        record.environment.drive_model = Some("SSD".to_owned());
        let serial = format!("ata-SSD_{}", record.trial.block % 2);
        record.applied.insert("identity".to_owned(), serial);
    });
    let hosts: Vec<String> =
        analysis.by_host[0].hosts.iter().map(|own| own.host.to_string()).collect();
    assert_eq!(hosts, ["node1 (SSD, ata-SSD_0)", "node1 (SSD, ata-SSD_1)"]);
    let distinct = |levels: &Levels| schedule.distinct(levels).to_string();
    assert_eq!(distinct(&analysis.by_host[0].levels), "discard = on");
}

/// Only in the live lab is it a result whose bytes they are.
#[test]
fn a_stretch_says_why_it_is_not_known_who_wrote() {
    let told = |lab: LabKind| {
        let text = r#"
            name = "p"
            question = "?"
            [factors]
            atime = ["noatime", "relatime"]
            [workload]
            phases = [{ do = "sync" }]
        "#;
        let mount = (lab == LabKind::Live).then(|| "/".into());
        let overrides = Overrides { lab: Some(lab), mount, runs: Some(2), ..Overrides::default() };
        let schedule = schedule("p.toml", text, &overrides, Path::new("/")).unwrap();
        let analysis = run(&schedule, |record| {
            let cause_reason =
                (record.trial.block == 1).then(|| "tracefs cannot be mounted".to_owned());
            record.phases[0].ledger = Some(Ledger { cause_reason, ..Ledger::default() });
        });
        analysis.warnings.into_iter().find_map(|warned| match warned.warning {
            Warning::NoPrograms { trials, reason } => Some((trials, reason)),
            _ => None,
        })
    };
    assert_eq!(told(LabKind::Live), Some((2, "tracefs cannot be mounted".to_owned())));
    assert_eq!(told(LabKind::Image), None);
}
