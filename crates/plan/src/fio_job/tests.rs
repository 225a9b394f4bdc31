use miette::Diagnostic;

use super::*;
use crate::schedule::{Action, Schedule};
use crate::{LabKind, Overrides};

/// As fio 3.33 makes files of these sizes.
#[test]
fn sizes_are_those_of_fio() {
    let sizes = ["4096", "4k", "4kb", "4ki", "4kib", "1G"].map(|size| bytes(size, 1024));
    let expected = [4096, 4096, 4096, 4096, 4000, 1 << 30].map(Some);
    assert_eq!(sizes, expected);
    assert_eq!((bytes("4k", 1000), bytes("4kib", 1000)), (Some(4000), Some(4096)));
    assert_eq!((bytes("50%", 1024), bytes("9999999p", 1024)), (None, None));
    assert_eq!([time("90"), time("2m")], [90, 120].map(|s| Some(Duration::from_secs(s))));
    assert_eq!(time("1 week"), None);
}

#[test]
fn a_line_is_read_as_fio_reads_it() {
    assert_eq!(option(" bs = 4k ; of /dev/sda"), Some(("bs", "4k")));
    assert_eq!(option("\ttime_based#x"), Some(("time_based", "")));
    assert_eq!([option("; bs=4k"), option("# x"), option(" ")], [None; 3]);
    assert_eq!(option("[a;b]"), Some(("[a;b]", "")));
    assert!(is_time_based("[a]\ntime_based\n") && !is_time_based("[a]\ntime_based=0\n"));
}

/// Newcomer, missed 9: jobs of fio in the virtual lab.
#[test]
fn a_simple_job_is_an_io_phase() {
    let io = translated(
        "[global]\nioengine=libaio\ndirect=1\nsize=64m\n[a]\nrw=randrw\nrwmixread=70\nbs=8k\n\
         iodepth=16\nruntime=2\ntime_based\nfdatasync=4\nrate_iops=500\n",
    )
    .unwrap();
    assert_eq!((io.size, io.reads), (Some(Bytes(64 << 20)), Some(Share(0.7))));
    assert_eq!(io.file.as_deref(), Some("a"));
    assert_eq!((io.pattern, io.depth, io.direct), (IoPattern::Random, Some(16), true));
    assert_eq!((io.sync, io.sync_by), (IoSyncPolicy::Every(4), Some(SyncBy::Fdatasync)));
    assert_eq!((io.amount, io.time.map(|time| time.0)), (None, Some(Duration::from_secs(2))));
    assert!(matches!(&io.block, Some(Sizes::One(size)) if size == "8192 B"));
    assert_eq!(io.rate.map(PerSecond::period_ns), Some(2_000_000));
    let io = translated("[a]\nrw=randrw\nrwmixread=0\nfsync=0\nsize=1m\nfilename=b.1\n").unwrap();
    assert_eq!((io.reads, io.sync), (Some(Share(0.0)), IoSyncPolicy::Never));
    assert_eq!(io.file.as_deref(), Some("b_1"));
    // fio writes the file once; synchronous engines and the page cache have no queue.
    let io = translated("[a]\nrw=write\nsize=1m\niodepth=8\nend_fsync=1\n").unwrap();
    assert_eq!((io.amount, io.depth), (Some(Bytes(1 << 20)), None));
    assert_eq!((io.sync, io.sync_by), (IoSyncPolicy::AtEnd, Some(SyncBy::Fsync)));
    let io = translated("[a]\nrw=read\nsize=1m\nioengine=libaio\niodepth=8\n").unwrap();
    assert_eq!(io.depth, None);
}

#[test]
fn another_job_is_refused_by_the_option_s_name() {
    for (line, named) in [
        ("numjobs=4", "`numjobs=4`"),
        ("bssplit=4k/50:8k/50", "`bssplit`"),
        ("rw=rw", "`rw=rw`"),
        ("ioengine=mmap", "`ioengine=mmap`"),
        ("runtime=5", "add that, or leave `runtime` out"),
        ("fsync=1\nend_fsync=1", "exclude each other"),
        ("size=50%", "`size=50%`"),
        ("verify=crc32c", "`verify`"),
        ("filename=a:b", "`filename=a:b`"),
        ("[b]", "give each a file and a phase of its own"),
    ] {
        let why = translated(&format!("[a]\nsize=1m\nrw=randread\n{line}\n")).unwrap_err();
        assert!(why.contains(named), "{line}: {why}");
    }
}

/// What there is of job files, by their names.
fn job(path: &Path) -> Result<Option<String>, String> {
    let options = match path.file_name().and_then(|name| name.to_str()) {
        Some("timed.fio") => "rw=randread\nsize=8m\nruntime=2\ntime_based",
        Some("sized.fio") => "rw=randwrite\nsize=8m",
        Some("copies.fio") => "rw=randread\nsize=8m\nnumjobs=4",
        Some("disk.fio") => return Err("line 2: it names a disk".to_owned()),
        _ => return Ok(None),
    };
    Ok(Some(format!("[a]\n{options}\n")))
}

fn planned(phases: &str, lab: LabKind) -> Result<Schedule, String> {
    let text = format!("name = \"p\"\nquestion = \"?\"\n[workload]\nphases = [{phases}]\n");
    let directory = (lab == LabKind::Directory).then(|| PathBuf::from("/srv"));
    let overrides =
        Overrides { lab: Some(lab), directory, read_job: Some(job), ..Overrides::default() };
    crate::schedule("p.toml", &text, &overrides, Path::new("/")).map_err(|error| {
        format!("{error} {}", error.help().map_or(String::new(), |h| h.to_string()))
    })
}

/// Newcomer, B10: a job that says how long it runs is not ranked by that time.
#[test]
fn a_timed_job_is_judged_by_its_rate() {
    let metric = |phases: &str| planned(phases, LabKind::Directory).unwrap().0.metric.name;
    let fio = |job: &str| format!("{{ do = \"fio\", name = \"{job}\", job = \"{job}.fio\" }}");
    assert_eq!(metric(&fio("timed")), "ops_per_second");
    assert_eq!(metric(&format!("{}, {{ do = \"sync\" }}", fio("timed"))), "ops_per_second");
    // A missing file may be anything; a tree has no rate.
    assert_eq!([metric(&fio("sized")), metric(&fio("missing"))], ["time_ns"; 2]);
    assert_eq!(metric(&format!("{{ do = \"unpack\" }}, {}", fio("timed"))), "time_ns");
}

#[test]
fn a_plan_with_a_job_that_cannot_run_is_refused() {
    let refused = |job: &str, lab: LabKind| {
        planned(&format!("{{ do = \"fio\", job = \"{job}.fio\" }}"), lab).unwrap_err()
    };
    assert!(refused("disk", LabKind::Directory).contains("it names a disk"));
    let copies = refused("copies", LabKind::Virtual);
    assert!(copies.contains("`numjobs=4`") && copies.contains("--lab directory"), "{copies}");
    assert!(refused("missing", LabKind::Virtual).contains("fio"));
}

/// Newcomer, missed 9.
#[test]
fn the_virtual_lab_performs_a_job_by_io() {
    let phase = "{ do = \"fio\", job = \"timed.fio\", sync = true }";
    let schedule = planned(phase, LabKind::Virtual).unwrap();
    let phase = &schedule.workload.phases[0];
    assert!(matches!(&phase.action, Action::Io(io) if io.read_share > 0.999 && io.file == "a"));
    assert!(phase.cold && phase.name == "fio");
    assert_eq!(schedule.metric.name, "ops_per_second");
    assert!(schedule.notes.iter().any(|note| note.contains("has no fio")));
}

#[test]
fn a_job_that_syncs_itself_is_known_to() {
    for (job, is_synced) in [
        ("rw=write", false),
        ("rw=write\nfsync=32", true),
        ("rw=write\nfsync=0", false),
        ("rw=randwrite\nfdatasync=1", true),
        ("readwrite=randrw\nend_fsync", true),
        ("rw=write\nsync=1", true),
        ("rw=write\nsync=none", false),
        ("rw=write\ndirect=1", true),
        ("rw=randread", true),
        ("size=1m", true),
        ("rw=write\nfsync=1\n[b]\nrw=write", false),
    ] {
        assert_eq!(syncs(&format!("[a]\n{job}\n")), is_synced, "{job}");
    }
    let is_known = |job: &str| {
        let phase = format!("{{ do = \"fio\", job = \"{job}.fio\" }}");
        let schedule = planned(&phase, LabKind::Directory).unwrap();
        matches!(schedule.workload.phases[0].action, Action::Fio { syncs: true, .. })
    };
    assert_eq!(["timed", "sized", "missing"].map(is_known), [true, false, false]);
    assert!(syncs("[global]\nfsync=1\n[a]\nrw=write\n[b]\nrw=write\n"));
}
