use std::collections::BTreeSet;
use std::fs;

use ssdlab_plan::LabKind;

use super::*;

#[test]
fn the_page_shows_the_book() {
    let kept = StoredResults::parse(STORED_RESULTS).unwrap();
    let written = fs::read_to_string(source::path(PAGE)).unwrap();
    assert_eq!(
        written,
        page(&figures(&kept)),
        "`cargo xtask evidence` writes what the models give"
    );
}

/// Plans whose runs take minutes to an hour, and whose kept numbers are of earlier lab kernels:
/// `small-files` of that before FUA and the tick of 1000 Hz, the others of that which charged a
/// guest's boot. `make evidence` runs them again.
const EARLIER: [&str; 1] = ["small-files"];

/// Every published number that the virtual lab can be compared with is, and by a run of the models,
/// the kernel and the plan as they are.
#[test]
fn kept_numbers_are_of_what_is_shipped() {
    let kept = StoredResults::parse(STORED_RESULTS).unwrap();
    for schedule in book::schedules() {
        let plan = &schedule.plan;
        let is_tested = |place: &FigurePlace<'_>| match place {
            FigurePlace::Phase { .. } => true,
            FigurePlace::Claim(claim, _) => !claim.not_testable.contains_key(&LabKind::Virtual),
        };
        let places: BTreeSet<String> =
            book::places(&schedule).filter(is_tested).map(|place| place.id()).collect();
        let Some(run) = kept.of(plan) else {
            assert!(places.is_empty(), "{plan} has published numbers: add it to `make evidence`");
            continue;
        };
        let from = depends_on(&schedule, &kernel::recipe());
        if EARLIER.contains(&plan.as_str()) {
            assert_ne!(run.from, from, "{plan} is as it is shipped: take it out of `EARLIER`");
            continue;
        }
        assert_eq!(run.from, from, "{plan} was kept from others: `make evidence` runs it again");
        let found: BTreeSet<String> = run.ours.keys().cloned().collect();
        let missing: Vec<&String> = places.difference(&found).collect();
        assert!(missing.is_empty(), "{plan} has nothing for {missing:?}");
    }
}
