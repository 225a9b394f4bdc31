//! Code shared by the tests that have their own harness.

#![allow(dead_code, reason = "each uses what it needs")]

use std::panic::{UnwindSafe, catch_unwind};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;

/// Reports a panic as a failed test, so that the next test runs anyway.
pub fn caught(run: impl FnOnce() + UnwindSafe) -> Result<(), Failed> {
    catch_unwind(run).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Failed::from(text.unwrap_or_else(|| "it panicked".to_owned()))
    })
}

/// How a program ended and what it printed.
pub fn shown(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs a command that must succeed and returns what it printed.
pub fn sh(script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {}", shown(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Waits until a condition is true.
pub fn wait_for(what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < Duration::from_mins(1), "it never happened");
        sleep(Duration::from_millis(2));
    }
}
