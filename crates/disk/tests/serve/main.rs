//! Tests of disks in real time, as the kernel has them through FUSE and a virtual machine over
//! vhost-user. What FUSE takes is reported as ignored, with its reason, where it is not had.

#[path = "../../../disk/tests/disk/body.rs"]
mod body;
#[path = "../../../../tests/common/mod.rs"]
mod common;
#[path = "../../../disk/tests/disk/driver.rs"]
mod driver;
mod file;
#[path = "../../../disk/tests/disk/frontend.rs"]
mod frontend;
mod guest;

use std::fs::OpenOptions;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Arguments;
use ssdlab_flash::{Drive, Specification};

/// A test: its name, whether it mounts, and what it does.
type Case = (&'static str, bool, fn());

fn main() {
    let mut arguments = Arguments::from_args();
    // One test at a time: what this process has open and mapped is looked at.
    arguments.test_threads = Some(1);
    let lacking = lacking();
    let trials = [file::CASES, guest::CASES].concat().into_iter().map(|(name, mounts, run)| {
        let reason = lacking.filter(|_| mounts);
        common::trial(name, run)
            .with_kind(reason.unwrap_or_default())
            .with_ignored_flag(reason.is_some())
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Why nothing can be mounted here.
fn lacking() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("needs root");
    }
    let connection = OpenOptions::new().read(true).write(true).open("/dev/fuse");
    connection.is_err().then_some("needs FUSE")
}

/// How long to wait for what is going to happen; it only decides when a test fails.
const BOUND: Duration = Duration::from_mins(2);

/// Waits for something that is going to happen.
fn wait_for(what: &str, has_happened: impl Fn() -> bool) {
    let begun = Instant::now();
    while !has_happened() {
        assert!(begun.elapsed() < BOUND, "it never happened: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A drive of 8 MiB, each page of which takes 400 us to read and to write.
fn drive() -> Drive {
    let text = r#"
        name = "slow"
        description = "A small, slow drive for tests"
        capacity = "8 MiB"
        page = "4 KiB"
        pages_per_block = 16
        spare_factor = 0.25
        mapping = "page"
        [wear]
        levelling = "none"
        [timing]
        channels = 1
        dies_per_channel = 4
        read = "300 us"
        program = "300 us"
        erase = "1000 us"
        bus = "1 GB/s"
        link_read = "1 GB/s"
        link_write = "1 GB/s"
        controller_read = "50 us"
        controller_write = "50 us"
    "#;
    Drive::new(Specification::parse(text).unwrap(), 1)
}
