use super::*;

fn usage(bytes: u64) -> Usage {
    Usage { wchar_bytes: Some(bytes), ..Usage::default() }
}

#[test]
fn a_byte_of_difference_voids_a_trial() {
    let done = PhaseOutcome { application_bytes: Some(100), ..PhaseOutcome::default() };
    assert!(check_written(&done, usage(5), usage(105)).is_ok());
    assert!(matches!(check_written(&done, usage(5), usage(104)), Err(Failure::Void(_))));
    let done = PhaseOutcome { threads: usage(30), ..done };
    assert!(check_written(&done, usage(5), usage(75)).is_ok());
    assert!(check_written(&done, usage(5), usage(105)).is_err());
    let done =
        PhaseOutcome { application_bytes: Some(100), ring_bytes: 90, ..PhaseOutcome::default() };
    assert!(check_written(&done, usage(5), usage(15)).is_ok());
    assert!(check_written(&done, usage(5), usage(105)).is_err());
    // The workload does not count the writes of an external program.
    assert!(check_written(&PhaseOutcome::default(), usage(5), usage(99)).is_ok());
}

#[test]
fn ext4_and_its_device_must_agree_to_the_kib() {
    let phase = |lifetime_kib, written_bytes| PhaseRecord {
        name: "sync".to_owned(),
        device: Some(Counters { written_bytes, ..Counters::default() }),
        lifetime_kib: Some(lifetime_kib),
        ..PhaseRecord::default()
    };
    assert!(check_lifetime(&phase(10, 10 * 1024)).is_ok());
    assert!(check_lifetime(&phase(10, 10 * 1024 + 512)).is_ok());
    assert!(check_lifetime(&phase(10, 11 * 1024)).is_err());
    assert!(check_lifetime(&phase(10, 9 * 1024)).is_err());
}
