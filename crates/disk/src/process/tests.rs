use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::sleep;

use super::*;

/// Runs a guest that is a shell script, with a timeout of a second.
fn with(script: &str, look: impl FnOnce(&GuestProcess)) {
    let mut child = Command::new("sh").args(["-c", script]).process_group(0).spawn().unwrap();
    let process = GuestProcess::new(&child, Duration::from_secs(1)).unwrap();
    look(&process);
    rustix::process::kill_process_group(process.group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
}

#[test]
fn a_guest_that_gets_no_processor_has_ten_times_its_patience() {
    with("sleep 1000", |process| {
        let mut silence = SilenceTimer::default();
        let looks = (1..=1000).find(|_| silence.is_too_long(process));
        assert_eq!(looks, Some(100));
    });
}

#[test]
fn a_guest_that_computes_in_any_of_its_processes_has_its_patience() {
    with("while :; do :; done & wait", |process| {
        let mut silence = SilenceTimer::default();
        assert!(!silence.is_too_long(process));
        let until = process.processor_time() + Duration::from_secs(1);
        while process.processor_time() < until {
            sleep(Duration::from_millis(10));
        }
        assert!(silence.is_too_long(process));
    });
}
