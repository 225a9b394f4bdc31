//! The plan parser and everything between it and a schedule, which is stored and read back.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ssdlab_plan::{self as plan, Overrides, Schedule};

fuzz_target!(|text: &str| {
    let plan = plan::schedule("plan.toml", text, &Overrides::default(), Path::new("/"));
    let Ok(schedule) = plan else { return };
    assert_eq!(schedule.fault(), None);
    let stored = serde_json::to_string(&schedule).expect("a schedule is plain data");
    let read: Schedule = serde_json::from_str(&stored).expect("what is stored can be read");
    assert_eq!(serde_json::to_string(&read).expect("a schedule is plain data"), stored);
});
