use super::*;

const MS: Duration = Duration::from_millis(1);

fn how(silence: Duration, postponed: Duration) -> Wait {
    let (pause, timeout) = (5 * MS, Duration::from_mins(30));
    Wait { silence, postponed, pause, timeout, has_reader: false }
}

/// Looks at a device until it is quiet; it discards in these spans. Returns the time that this
/// took, without pauses, the pauses, and when it was quiet.
fn watch(how: &Wait, active: &[(Duration, Duration)]) -> (Duration, Vec<Duration>, Duration) {
    let started = Instant::now();
    let mut seen = ObservedActivity::new(started);
    let mut at = Duration::ZERO;
    loop {
        seen.idle_until = started + at;
        if seen.is_quiet(started + at, how) {
            let pauses: Vec<Duration> = seen.pauses.iter().map(|pause| pause.lasted).collect();
            let until = seen.last_activity.duration_since(started);
            let worked = until.saturating_sub(pauses.iter().sum());
            return (worked, pauses, at);
        }
        let before = at;
        at += seen.interval(started + at, how);
        let of = |(begin, end): &&(Duration, Duration)| before < *end && *begin < at;
        let is_over = |(_, end): &(Duration, Duration)| *end <= at;
        if let Some(span) = active.iter().find(of) {
            let took = is_over(span).then(|| span.1.saturating_sub(span.0));
            seen.active(started + at, Change { is_active: true, took, discarded: true }, how);
        }
    }
}

#[test]
fn what_is_postponed_is_waited_for_and_the_wait_is_a_pause() {
    let late = [(Duration::ZERO, 8 * MS), (29_000 * MS, 29_070 * MS)];
    let (worked, pauses, ended) = watch(&how(5 * MS, Duration::ZERO), &late);
    assert_eq!((worked, pauses, ended), (8 * MS, vec![], 13 * MS));
    let (worked, pauses, ended) = watch(&how(5 * MS, 31_000 * MS), &late);
    // The device is looked at every 5 ms before.
    assert!((78 * MS..=83 * MS).contains(&worked), "{worked:?}");
    assert!(pauses.len() == 1 && pauses[0] >= 28_987 * MS, "{pauses:?}");
    assert!((60_070 * MS..60_080 * MS).contains(&ended), "{ended:?}");
}

#[test]
fn what_begins_and_ends_between_two_looks_takes_as_long_as_its_requests() {
    let short = [(10_001 * MS, 10_002 * MS), (20_002 * MS, 20_003 * MS)];
    let (worked, pauses, _) = watch(&how(5 * MS, 11_000 * MS), &short);
    assert_eq!((worked, pauses.len()), (2 * MS, 2));
}

#[test]
fn what_takes_long_or_stops_for_a_moment_has_no_pause() {
    let long = [(Duration::ZERO, 20_000 * MS), (20_004 * MS, 20_006 * MS)];
    let (worked, pauses, ended) = watch(&how(5 * MS, Duration::ZERO), &long);
    assert!(pauses.is_empty(), "{pauses:?}");
    assert!((20_006 * MS..20_011 * MS).contains(&worked), "{worked:?}");
    assert!((20_011 * MS..20_021 * MS).contains(&ended), "{ended:?}");
}

#[test]
fn an_idle_phase_without_activity_has_done_nothing() {
    let (worked, pauses, ended) = watch(&how(40_000 * MS, Duration::ZERO), &[]);
    assert_eq!((worked, pauses, ended), (Duration::ZERO, vec![], 40_000 * MS));
}
