//! The plan parser and everything between it and a schedule.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use ssdlab::plan::{self, Overrides};

fuzz_target!(|text: &str| {
    let _ = plan::schedule("plan.toml", text, &Overrides::default(), Path::new("/"));
});
