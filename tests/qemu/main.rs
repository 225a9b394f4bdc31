//! A served drive as the disk of a virtual machine, under QEMU and a distribution's kernel.
//!
//! The tests need QEMU and what `scripts/fetch-guest` fetches, but not root. A test that cannot run
//! is reported as ignored, with its reason; in continuous integration it fails.

#[path = "../common/mod.rs"]
mod common;
mod machine;

use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

use common::wait_for;
use machine::{Machine, Server};

const CASES: [(&str, fn()); 3] = [
    ("a_virtual_machine_keeps_its_data_over_a_reset_and_a_kill", keeps),
    ("a_queue_of_qemu_may_be_longer_than_the_server_says", long_queue),
    ("more_queues_than_one_are_refused_and_told_of", queues),
];

fn main() {
    let arguments = Arguments::from_args();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let reason = lacking();
    let trials = CASES.into_iter().map(|(name, run)| {
        let trial = match reason {
            Some(reason) => Trial::test(name, move || Err(Failed::from(reason))),
            None => common::trial(name, run),
        };
        trial.with_kind(reason.unwrap_or_default()).with_ignored_flag(reason.is_some() && !is_ci)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Why no virtual machine can boot here.
fn lacking() -> Option<&'static str> {
    if Command::new("qemu-system-x86_64").arg("--version").output().is_err() {
        return Some("needs qemu-system-x86");
    }
    (!machine::guest().join("vmlinuz").exists()).then_some("needs scripts/fetch-guest")
}

/// Makes a file of random data, and prints its checksum.
const MAKE: &str = "dd if=/dev/urandom of=/mnt/$NAME bs=64k count=64 2>/dev/null; sync; \
                    md5sum </mnt/$NAME";

fn keeps() {
    let server = Server::start();
    let before = server.open_files();
    let mut machine = Machine::boot(&server, &[]);
    assert!(server.has_guest_memory());
    assert_eq!(machine.sh("cat /sys/block/vda/serial"), "x25m-g2");
    machine.sh("mke2fs /dev/vda >/dev/null; mount -t ext4 /dev/vda /mnt");
    let first = machine.sh(&MAKE.replace("$NAME", "first"));
    machine.reset();
    machine.sh("mount -t ext4 /dev/vda /mnt");
    assert_eq!(machine.sh("md5sum </mnt/first"), first);
    let second = machine.sh(&MAKE.replace("$NAME", "second"));
    machine.kill();
    wait_for(|| !server.has_guest_memory());
    wait_for(|| server.open_files() <= before);

    let mut machine = Machine::boot(&server, &[]);
    machine.sh("mount -t ext4 /dev/vda /mnt");
    assert_eq!(machine.sh("md5sum </mnt/first"), first);
    assert_eq!(machine.sh("md5sum </mnt/second"), second);
    machine.sh("umount /mnt");
    server.signal("TERM");
    machine.sh("sync");
    machine.kill();
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("flushes"), "{said}");
}

fn long_queue() {
    let server = Server::start();
    let mut machine = Machine::boot(&server, &[("queue-size=256", "queue-size=1024")]);
    machine.sh("dd if=/dev/zero of=/dev/vda bs=1M count=8 2>/dev/null; sync");
    machine.kill();
    let mut machine = Machine::boot(&server, &[("queue-size=256", "queue-size=512")]);
    machine.sh("dd if=/dev/vda of=/dev/null bs=1M count=8 2>/dev/null");
}

fn queues() {
    let server = Server::start();
    let said = server.refused(&[("num-queues=1", "num-queues=4")]);
    assert!(said.contains("number of queues supported by the backend is 1"), "{said}");
    let warning = server.warning();
    assert!(warning.contains("num-queues=1"), "{warning}");
    // The drive continues to be served.
    Machine::boot(&server, &[]).sh("head -c 4096 /dev/vda >/dev/null");
}
