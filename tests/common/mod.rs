//! Code shared by the tests that have their own harness.

#![allow(dead_code, reason = "each uses what it needs")]

use std::panic::{UnwindSafe, catch_unwind};
use std::process::{self, Command, Output};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

/// After this time a test hangs: the longest takes two minutes.
const LONGEST: Duration = Duration::from_mins(20);

/// A test that fails if it panics, so that the next test runs anyway. If it hangs, its name is the
/// last that its suite says.
pub fn trial(name: &str, run: impl FnOnce() + UnwindSafe + Send + 'static) -> Trial {
    let own = name.to_owned();
    Trial::test(name, move || caught(own, run))
}

fn caught(name: String, run: impl FnOnce() + UnwindSafe) -> Result<(), Failed> {
    let (running, end) = mpsc::channel::<()>();
    thread::spawn(move || {
        if end.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs: it has been running for {} min", LONGEST.as_secs() / 60);
            process::abort();
        }
    });
    let ended = catch_unwind(run);
    drop(running);
    ended.map_err(|panic| {
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

/// Runs a command, which finds programs in sbin, as ssdlab does, whatever the user's path.
pub fn shell(script: &str) -> Output {
    let script = format!("PATH=$PATH:/usr/sbin:/sbin\n{script}");
    Command::new("sh").args(["-ec", &script]).output().unwrap()
}

/// Runs a command that must succeed and returns what it printed.
pub fn sh(script: &str) -> String {
    let output = shell(script);
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
