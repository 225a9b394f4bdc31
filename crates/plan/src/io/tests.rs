use super::*;
use crate::schedule::Action;

#[test]
fn syncs_are_read_as_they_are_written() {
    for text in ["none", "end", "every 16 writes"] {
        assert_eq!(IoSyncPolicy::try_from(text.to_owned()).unwrap().to_string(), text);
    }
    assert_eq!(IoSyncPolicy::try_from("every 1 write".to_owned()), Ok(IoSyncPolicy::Every(1)));
    for text in ["", "every", "every 0 writes", "every writes", "every -1 writes", "always"] {
        assert!(IoSyncPolicy::try_from(text.to_owned()).is_err(), "{text}");
    }
}

#[test]
fn blocks_have_a_size_and_a_weight() {
    assert_eq!("4 KiB: 3".parse(), Ok(BlockSize { bytes: 4096, weight: 3 }));
    assert_eq!("64 KiB".parse(), Ok(BlockSize { bytes: 65_536, weight: 1 }));
    for text in ["", ":", "4 KiB:", "4 KiB: 0", "4 KiB: -1", "0", "1 TiB", "x: 1"] {
        assert!(text.parse::<BlockSize>().is_err(), "{text}");
    }
}

/// Resolves a plan with these phases at half their scale; the error is its message.
fn plan(phases: &str) -> Result<crate::Schedule, String> {
    plan_at(0.5, phases)
}

fn plan_at(scale: f64, phases: &str) -> Result<crate::Schedule, String> {
    let text = format!("name = \"x\"\nquestion = \"?\"\n[workload]\nphases = [{phases}]\n");
    let overrides = crate::Overrides { scale: Some(scale), ..Default::default() };
    crate::schedule("plan.toml", &text, &overrides, std::path::Path::new("/"))
        .map_err(|error| error.to_string())
}

#[test]
fn a_phase_that_makes_no_sense_is_refused() {
    for (phases, told) in [
        ("{ do = \"io\" }", "needs `io`"),
        ("{ do = \"sync\", io = { size = 1, time = '1s' } }", "does not apply"),
        ("{ do = \"io\", io = { size = 1 } }", "the end of the phase"),
        ("{ do = \"io\", io = { size = 1, time = '1s', amount = 1 } }", "the end of the phase"),
        ("{ do = \"io\", io = { size = 1, time = '1s', block = [] } }", "no block size"),
        ("{ do = \"io\", io = { size = 1, time = '1s', block = \"0\" } }", "not a block size"),
        ("{ do = \"io\", io = { size = 1, time = '1s', block = \"500\" } }", "multiple of 512"),
        ("{ do = \"io\", io = { time = '1s' } }", "the size of the file is not defined"),
        ("{ do = \"io\", io = { size = 1, time = '1s', files = 0 } }", "0 files"),
        (
            "{ do = \"io\", io = { pattern = \"append\", time = '1s', reads = \"1 %\" } }",
            "behind the end",
        ),
        ("{ do = \"io\", io = { size = 1, time = '1s', sync_by = \"fsync\" } }", "but not when"),
        (
            "{ do = \"io\", io = { size = 1, time = '1s', sync = \"every 2 writes\", sync_by = \
                 \"O_DSYNC\" } }",
            "each write is made durable",
        ),
        (
            "{ do = \"io\", io = { size = 1, time = '1s', block = \"512\", direct = true } }",
            "4 KiB",
        ),
        ("{ do = \"io\", io = { size = 1, time = '1s', depth = 0 } }", "depth of 0"),
        (
            "{ do = \"io\", io = { size = 1, time = '1s', depth = 1024, block = \"4 MiB\" } }",
            "1024",
        ),
        (
            "{ do = \"io\", io = { size = 1, time = '1s', file = \"../x\" } }",
            "not a valid file name",
        ),
        (
            "{ do = \"io\", io = { size = 1, time = '1s', sync = \"often\" } }",
            "is not a sync policy",
        ),
        ("{ do = \"io\", io = { size = 1, time = '1s', rate = \"0/s\" } }", "is not a rate"),
        ("{ do = \"transactions\" }", "needs `transactions`"),
        ("{ do = \"transactions\", transactions = {} }", "the end of the phase"),
        ("{ do = \"transactions\", transactions = { number = 1, pages = 9999 } }", "9999 pages"),
        (
            "{ do = \"transactions\", transactions = { number = 1, think = '1s', rate = \
                 \"1/s\" } }",
            "due",
        ),
        ("{ do = \"delete\" }, { do = \"io\", io = { size = 1, time = '1s' } }", "already deleted"),
        (
            "{ do = \"io\", io = { size = 1, time = '1s' } }, { do = \
                 \"io\", name = \"b\", io = { size = 9999999, time = '1s' } }",
            "in an earlier phase",
        ),
        (
            "{ do = \"io\", io = { pattern = \"append\", block = \"128 KiB\", time = '1s' } }, { \
                 do = \"io\", name = \"b\", io = { size = \"4 KiB\", time = '1s' } }",
            "in an earlier phase",
        ),
    ] {
        let message = plan(phases).unwrap_err();
        assert!(message.contains(told), "{phases}: {message}");
    }
}

#[test]
fn phases_with_other_blocks_share_a_file_at_any_scale() {
    let phases = r#"
        { do = "io", name = "small", io = { size = "64 MiB", time = '1s' } },
        { do = "io", name = "large", io = { size = "64 MiB", block = "128 KiB", time = '1s' } },
    "#;
    for (scale, size_bytes) in [(1.0, 64 << 20), (0.01, 6 * (128 << 10))] {
        let schedule = plan_at(scale, phases).unwrap();
        assert_eq!(schedule.workload.files(), [("data".to_owned(), size_bytes)].into());
        for phase in &schedule.workload.phases {
            let Action::Io(io) = &phase.action else { panic!("{phase:?}") };
            assert_eq!(io.size_bytes, size_bytes, "{}", phase.name);
        }
    }
}

#[test]
fn appended_records_have_any_size_and_several_files_have_numbers() {
    let schedule = plan(
        "{ do = \"io\", io = { pattern = \"append\", file = \"log\", files = 2, block = \"500\", \
         operations = 100, sync = \"every 1 write\", sync_by = \"O_DSYNC\" } }",
    );
    let schedule = schedule.unwrap();
    let Action::Io(io) = &schedule.workload.phases[0].action else { panic!("{schedule:?}") };
    assert_eq!((io.size_bytes, io.appended_bytes()), (0, 25_000));
    let files = [("log-1".to_owned(), 0), ("log-2".to_owned(), 0)];
    assert_eq!(schedule.workload.files(), files.into());
    let text = serde_json::to_string(io).unwrap();
    assert!(text.contains(r#""files":2"#) && text.contains(r#""sync_by":"O_DSYNC""#), "{text}");
    assert_eq!(serde_json::from_str::<Io>(&text).unwrap(), *io);
}

#[test]
fn a_scale_is_of_the_file_and_of_what_is_done() {
    let schedule = plan(
        "{ do = \"io\", io = { size = \"1 MiB\", amount = \"2 MiB\", rate = \"1000/s\" } }, { \
             do = \"transactions\", transactions = { number = 100 } }",
    );
    let phases = schedule.unwrap().0.workload.phases;
    let Action::Io(io) = &phases[0].action else { panic!("{:?}", phases[0]) };
    assert_eq!((io.size_bytes, io.end), (512 << 10, IoEnd::Bytes(1 << 20)));
    assert_eq!(io.period_ns, Some(1_000_000));
    let Action::Transactions(work) = &phases[1].action else { panic!("{:?}", phases[1]) };
    assert_eq!((work.database_pages, work.end), (4096, IoEnd::Operations(50)));
}
