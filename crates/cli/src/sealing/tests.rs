//! Earlier runs are judged back to the last one that decided a claim.

use ssdlab_plan::Overrides;

use super::*;

#[test]
fn only_runs_since_the_last_decision_are_judged() {
    let plan = shipped::find("discard").unwrap();
    let schedule =
        ssdlab_plan::schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"));
    let claims = &schedule.unwrap().claims[..2];
    let run = |open: [Option<bool>; 2]| {
        let tested = claims.iter().zip(open);
        tested.filter_map(|(claim, open)| Some((claim.clone(), open?))).collect::<Vec<_>>()
    };
    let runs = [
        [Some(true), Some(true)],
        [Some(true), Some(false)],
        [None, Some(true)],
        [Some(false), Some(true)],
    ];
    let beyond = std::iter::from_fn(|| panic!("every claim has been decided"));
    let left_open = count_open(claims, runs.into_iter().map(run).chain(beyond));
    let of = |claim: &Claim| left_open.get(&claim.id).copied();
    assert_eq!([of(&claims[0]), of(&claims[1])], [Some(2), Some(1)]);
    assert_eq!(count_open(&claims[..1], std::iter::empty()), BTreeMap::new());
}
