//! A baseline's file says the same when it is read again, and a damaged one is refused.

use std::collections::BTreeMap;

use ssdlab_host::meter::block::Counters;
use ssdlab_operations::calls::{FileActivity, ProgramActivity};

use super::{BASELINE_SCHEMA, Baseline, PhaseCost, TreatmentCost};
use crate::{ByKind, ByLayer, KindWrites, Ledger, PhaseRecord, Record, Teardown};

fn baseline() -> Baseline {
    let done = FileActivity { written_bytes: 4096, writes: 2, syncs: 1 };
    let names = ["db", "a \"quoted\"\n\u{7f}name", "träge", "(other files)"];
    let files: BTreeMap<_, _> = names.map(|name| (name.to_owned(), done)).into();
    let phase = |name: &str, syncs: Option<u64>, files: &BTreeMap<_, _>| PhaseCost {
        name: name.to_owned(),
        time_ns: syncs.map(|_| 1_000_000),
        written_bytes: 12288,
        flushes: 2,
        syncs,
        kinds: BTreeMap::from([("data".to_owned(), 8192), ("odd kind".to_owned(), 4096)]),
        files: files.clone(),
    };
    let phases = vec![phase("run", Some(4), &files), phase("sync", None, &BTreeMap::new())];
    let treatment = TreatmentCost {
        levels: "filesystem = ext4".to_owned(),
        fingerprint: "abc".to_owned(),
        phases,
    };
    let made_with = [("ssdlab", "1"), ("library /usr/lib/libc.so.6", "0011")];
    Baseline {
        schema: BASELINE_SCHEMA,
        folder: "..".to_owned(),
        plan: "run = '''\na \"\"\"b\"\"\" \\ c\n'''\n".to_owned(),
        drives: BTreeMap::from([("my.toml".to_owned(), "name = \"my\"\n".to_owned())]),
        made_with: made_with.map(|(name, found)| (name.to_owned(), found.to_owned())).into(),
        treatments: vec![treatment.clone(), treatment],
    }
}

#[test]
fn a_file_says_the_same_when_it_is_read_again() {
    let own = baseline();
    let text = own.to_string();
    assert_eq!(Baseline::parse(&text).as_ref(), Ok(&own), "{text}");
    assert!(Baseline::is_meant(&text));
    assert!(!Baseline::is_meant(&own.plan));
    let bare = Baseline { drives: BTreeMap::new(), made_with: BTreeMap::new(), ..own };
    assert_eq!(Baseline::parse(&bare.to_string()), Ok(bare));
}

#[test]
fn a_plan_stays_readable_and_a_file_of_the_load_is_one_line() {
    let plan = "name = \"load\"\n[workload]\nphases = []\n".to_owned();
    let text = Baseline { plan, ..baseline() }.to_string();
    assert!(text.contains("\n[workload]\n"), "{text}");
    assert!(text.contains("\ndb = { written_bytes = 4096, writes = 2, syncs = 1 }\n"), "{text}");
}

#[test]
fn a_damaged_file_is_refused_with_the_reason() {
    let text = baseline().to_string();
    let damaged = |from: &str, to: &str| Baseline::parse(&text.replace(from, to)).unwrap_err();
    assert!(damaged("flushes = 2", "flushes = -2").contains("flushes"));
    assert!(damaged("flushes = 2", "").contains("flushes"));
    assert!(damaged("schema = 1", "schema = 2").contains("newer"));
    assert!(damaged("schema = 1", "").contains("schema"));
    assert!(damaged("syncs = 4", "other = 4").contains("other"));
    let empty = format!("{text}\n[[treatments]]\nlevels = \"\"\nfingerprint = \"\"\nphases = []");
    assert!(Baseline::parse(&empty).unwrap_err().contains("no costs"));
    assert!(Baseline::parse(&text[..text.len() / 2]).is_err());
}

#[test]
fn costs_come_from_the_record_with_kinds_as_people_call_them() {
    let of = |bytes| KindWrites { bytes, requests: 1 };
    let by_kind = ByKind {
        data: of(10),
        inode: of(3),
        directory: of(4),
        cow_metadata: of(5),
        ..ByKind::default()
    };
    let mut programs = ProgramActivity::default();
    let done = FileActivity { written_bytes: 10, writes: 1, syncs: 3 };
    programs.files.insert("db".to_owned(), done);
    let device = Counters { written_bytes: 22, flushes: 2, ..Counters::default() };
    let by_layer = ByLayer::default();
    let ledger = Ledger { by_layer, by_kind: Some(by_kind), ..Ledger::default() };
    let phase = PhaseRecord {
        name: "run".to_owned(),
        time_ns: Some(7),
        device: Some(device),
        ledger: Some(ledger),
        programs: Some(programs),
        ..PhaseRecord::default()
    };
    let teardown = Some(Teardown { time_ns: 5, device });
    let record = Record { phases: vec![phase], teardown, ..Record::default() };
    let TreatmentCost { phases, .. } = TreatmentCost::of(&record, String::new());
    let [run, unmounting] = &phases[..] else { panic!("{phases:?}") };
    assert_eq!((run.time_ns, run.written_bytes, run.flushes, run.syncs), (Some(7), 22, 2, Some(3)));
    let kinds = [("data".to_owned(), 10), ("metadata".to_owned(), 12)];
    assert_eq!(run.kinds, BTreeMap::from(kinds));
    assert_eq!((unmounting.name.as_str(), unmounting.flushes), ("(unmounting)", 2));
    assert_eq!((unmounting.time_ns, unmounting.syncs), (None, None));
}
