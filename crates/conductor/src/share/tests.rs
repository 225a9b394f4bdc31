use std::path::Path;

use ssdlab_plan::{Overrides, Schedule};

use super::*;

const PLAN: &str = "name = \"p\"\nquestion = \"?\"\n[needs]\nfeatures = [\"big\"]\n\
                    [workload]\nphases = [{ do = \"sync\" }]\n\
                    [repetitions]\nleast = 5\nmost = 5\n[factors]\n";

fn schedule(lab: LabKind, factors: &str) -> Schedule {
    let plan = format!("{PLAN}{factors}");
    let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
    ssdlab_plan::schedule("p", &plan, &overrides, Path::new("/")).unwrap()
}

fn shares<'a>(schedule: &'a Schedule, division: &Division) -> Vec<Vec<&'a Trial>> {
    let of = |number| schedule.trials.iter().filter(move |t| division.share_of(t) == number);
    (1..=division.count).map(|number| of(number).collect()).collect()
}

#[test]
fn a_share_is_a_number_and_a_count() {
    assert_eq!("3/8".parse(), Ok(RunShare { number: 3, count: 8 }));
    assert_eq!("8/8".parse::<RunShare>().unwrap().to_string(), "8/8");
    for other in ["", "3", "0/8", "9/8", "1/0", "-1/8", "1/8/2", "a/b"] {
        assert!(other.parse::<RunShare>().is_err(), "{other}");
    }
}

#[test]
fn blocks_stay_together_on_a_wall_clock_and_trials_are_spread_in_virtual_time() {
    let image = schedule(LabKind::Image, "discard = [\"off\", \"on\"]\n");
    let by_block = shares(&image, &Division::new(&image, 3));
    assert_eq!(by_block.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 2]);
    for (share, block) in [(0, 0), (0, 3), (1, 1), (2, 2)] {
        let own = by_block[share].iter().filter(|trial| trial.block == block);
        assert_eq!(own.count(), 2);
    }
    let simulated = schedule(LabKind::Virtual, "discard = [\"off\", \"on\"]\n");
    let spread = shares(&simulated, &Division::new(&simulated, 5));
    assert_eq!(spread.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 2, 2, 2]);
    let more = shares(&image, &Division::new(&image, 9));
    assert_eq!(more.iter().filter(|own| own.is_empty()).count(), 4);
}

#[test]
fn a_share_is_for_one_kind_of_machine() {
    let factors = "node_feature = [\"a\", \"b\"]\ndiscard = [\"off\", \"on\"]\n\
                   [baseline]\ndiscard = \"off\"\n";
    let schedule = schedule(LabKind::Image, factors);
    assert_eq!(Division::new(&schedule, 1).count, 2, "one for each kind at least");
    for count in 2..9 {
        let division = Division::new(&schedule, count);
        let shares = shares(&schedule, &division);
        assert_eq!(shares.iter().map(Vec::len).sum::<usize>(), 20);
        let all: BTreeSet<u32> = (1..=count).collect();
        let mut seen = Vec::new();
        for (features, numbers) in division.by_features(&all) {
            for number in numbers {
                seen.push(number);
                let own = &shares[number as usize - 1];
                assert!(own.iter().all(|t| schedule.features(t.treatment) == *features));
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, all.into_iter().collect::<Vec<_>>());
    }
}
