//! Tests of what the live lab makes of a plan: stretches, blocks, and what is refused.

use super::*;
use crate::overrides::Overrides;
use crate::schedule::Schedule;
use crate::shipped;
use crate::target::Target;
use std::path::Path;

fn planned(live: &str, mount: &str, overrides: &Overrides) -> Result<Schedule, String> {
    let text = format!(
        "name = \"live\"\nquestion = \"?\"\nlab = \"live\"\n[live]\n{live}\n[factors]\n\
         mount = [\"defaults\", \"{mount}\"]\n"
    );
    crate::schedule("live.toml", &text, overrides, Path::new("/"))
        .map_err(|error| error.to_string())
}

fn stretch_s(schedule: &Schedule) -> u64 {
    match schedule.workload.phases[..] {
        [Phase { action: Action::Stretch { stretch_ns, .. }, .. }] => stretch_ns / 1_000_000_000,
        _ => panic!("it has one phase, the stretch"),
    }
}

#[test]
fn a_stretch_is_ten_delays_and_at_least_five_minutes_long() {
    let plain = Overrides::default();
    for (mount, s) in [("noatime", 300), ("commit=5", 300), ("commit=60", 600)] {
        let schedule = planned("", mount, &plain).unwrap();
        assert_eq!(stretch_s(&schedule), s, "{mount}");
        assert_eq!(schedule.metric.name, "written_bytes");
        assert_eq!((schedule.repetitions.least, schedule.repetitions.most), (12, 48));
        assert_eq!(schedule.notes.len(), 0);
    }
    let set = vec!["sysctl=vm.dirty_expire_centisecs=9000".to_owned()];
    let overrides = Overrides { set, ..Overrides::default() };
    assert_eq!(stretch_s(&planned("", "noatime", &overrides).unwrap()), 900);
}

#[test]
fn a_stretch_that_a_delay_outlasts_is_refused_and_a_short_one_noted() {
    let plain = Overrides::default();
    let error = planned("stretch = \"100 s\"", "commit=60", &plain).unwrap_err();
    assert!(error.contains("stretches of 1m 40s are too short"), "{error}");
    let schedule = planned("stretch = \"120 s\"", "commit=60", &plain).unwrap();
    assert!(schedule.notes[0].contains("are short"), "{:?}", schedule.notes);
    assert!(planned("stretch = \"0 s\"", "noatime", &plain).is_err());
}

#[test]
fn a_budget_has_as_many_looks_as_fit() {
    let of = |hours: u64, live: &str| {
        let budget = Some(Span(Duration::from_hours(hours)));
        planned(live, "noatime", &Overrides { budget, ..Overrides::default() })
    };
    for (hours, most) in [(2, 12), (3, 12), (4, 24), (8, 48), (24, 48)] {
        assert_eq!(of(hours, "").unwrap().repetitions.most, most, "{hours} h");
    }
    let error = of(1, "").unwrap_err();
    assert!(error.contains("the fewest blocks that decide anything are 12"), "{error}");
    let error = of(2, "washout = \"300 s\"").unwrap_err();
    assert!(error.contains("take 4h"), "{error}");
    assert_eq!(
        planned("for = \"4 h\"", "noatime", &Overrides::default()).unwrap().repetitions.most,
        24
    );
}

#[test]
fn a_workload_is_all_there_is_unless_a_stretch_follows_it() {
    let plan = |live: &str| {
        let text = format!(
            "name = \"live\"\nquestion = \"?\"\nlab = \"live\"\n{live}\n[factors]\n\
             discard = [\"off\", \"on\"]\n[workload]\ntree = {{ files = 10, size = \"1 MB\" }}\n\
             phases = [{{ do = \"unpack\", sync = true }}]\n"
        );
        crate::schedule("live.toml", &text, &Overrides::default(), Path::new("/")).unwrap()
    };
    assert_eq!(plan("").phase_names(), ["unpack"]);
    assert_eq!(plan("live = { stretch = \"60 s\" }").phase_names(), ["unpack", STRETCH]);
}

#[test]
fn other_labs_need_a_workload_and_change_no_machine() {
    let of = |text: &str| {
        crate::schedule("live.toml", text, &Overrides::default(), Path::new("/"))
            .map_err(|error| error.to_string())
            .unwrap_err()
    };
    let begin = "name = \"x\"\nquestion = \"?\"\n";
    assert!(of(begin).contains("the workload has no phases"));
    let error = of(&format!("{begin}[factors]\nsysctl = \"vm.dirty_ratio=10\"\n"));
    assert!(error.contains("only the live lab"), "{error}");
    let error = of(&format!("{begin}[factors]\ntweak = [\"off\", \"on\"]\n"));
    assert!(error.contains("only the live lab"), "{error}");
    let error = of(&format!("{begin}[factors]\nqueue = \"rq_affinity=2\"\n"));
    assert!(error.contains("the virtual lab has one processor"), "{error}");
    let error = of(&format!("{begin}lab = \"live\"\n[factors]\nsysctl = \"kernel.panic=10\"\n"));
    assert!(error.contains("`kernel.panic=10` is not a level"), "{error}");
}

#[test]
fn every_shipped_live_plan_resolves_and_is_stored_with_its_mount() {
    for plan in shipped::LIVE {
        let mount = Some("/srv".into());
        let overrides = Overrides { mount: mount.clone(), ..Overrides::default() };
        let schedule = crate::schedule(plan.name, plan.text, &overrides, Path::new("/")).unwrap();
        assert_eq!(schedule.plan, plan.name);
        let stored = serde_json::to_string(&schedule).unwrap();
        let again: Schedule = serde_json::from_str(&stored).unwrap();
        assert_eq!(again.target, Some(Target::Live { mount }));
    }
}
