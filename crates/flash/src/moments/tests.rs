use super::*;
use crate::command::Command;
use crate::presets;
use crate::specification::Specification;

fn drive() -> Drive {
    let preset = presets::find("x25m-g1").expect("it ships");
    Drive::new(Specification::parse(preset.text).expect("a test parses it"), 1)
}

#[test]
fn moments_are_few_and_evenly_apart() {
    let mut drive = drive();
    let mut course = Moments::new(MomentSpacing::Commands, 64);
    for _ in 0..10_000 {
        drive.submit(Nanos::ZERO, Command::Flush).expect("it can");
        course.record(&drive, Nanos::ZERO);
    }
    let moments = course.end(&drive, Nanos::ZERO);
    assert!((33..=65).contains(&moments.len()), "{}", moments.len());
    let commands: Vec<u64> = moments.iter().map(|moment| moment.commands).collect();
    let expected: Vec<u64> = (1..=39).map(|step| step * 256).chain([10_000]).collect();
    assert_eq!(commands, expected);
}

#[test]
fn a_long_rest_leaves_no_moments() {
    let mut drive = drive();
    let mut course = Moments::new(MomentSpacing::Time, 8);
    let hour = 3_600_000_000_000;
    let times = [0, 1_000_000, 1_000_001, 2_000_000, hour, hour + 1, 2 * hour, u64::MAX];
    for at in times.map(Nanos) {
        drive.submit(at, Command::Flush).expect("it can");
        course.record(&drive, at);
    }
    let moments = course.end(&drive, Nanos(u64::MAX));
    let at: Vec<u64> = moments.iter().map(|moment| moment.at_ns).collect();
    assert_eq!(at, [1_000_000, 2_000_000, hour, 2 * hour, u64::MAX]);
}
