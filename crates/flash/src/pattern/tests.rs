use super::*;
use crate::condition::{Condition, unwatched};
use crate::specification::Specification;

#[test]
fn scattered_ranks_are_all_different() {
    for pages in [1, 2, 7, 1000, 4096] {
        let mut seen: Vec<u32> = (0..pages).map(|rank| scatter(rank, pages)).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..pages), "{pages} pages");
    }
}

#[test]
fn reads_and_discards_are_shares_of_all_requests() {
    let text = "name = \"any\"\ncapacity = \"4 MiB\"\nspare_factor = 0.2\npages_per_block = 4";
    let mut drive = Drive::new(Specification::parse(text).unwrap(), 1);
    let pages = drive.specification().logical_pages;
    drive.condition(Condition::Filled, pages, 1, &mut unwatched).unwrap();
    for (reads_ppm, trims_ppm) in [(500_000, 200_000), (900_000, 100_000), (0, MILLION)] {
        let workload =
            DriveWorkload { reads_ppm, trims_ppm, ..DriveWorkload::uniform_writes(pages) };
        let mut requests = RequestGenerator::new(workload, 1);
        let (mut reads, mut trims) = (0.0, 0.0);
        for _ in 0..100_000 {
            // None is performed, so that every page keeps its data.
            match requests.next(&drive).1 {
                Command::Read(_) => reads += 10.0,
                Command::Discard(_) => trims += 10.0,
                _ => {}
            }
        }
        for (share_ppm, found) in [(reads_ppm, reads), (trims_ppm, trims)] {
            assert!((f64::from(share_ppm) - found).abs() < 8000.0, "{workload:?}: {found}");
        }
    }
}

#[test]
fn zipf_draws_each_rank_as_often_as_it_should() {
    for skew_ppm in [500_000, 1_000_000, 1_200_000] {
        let zipf = Zipf::new(1000, skew_ppm);
        let skew = f64::from(skew_ppm) / 1e6;
        let total: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-skew)).sum();
        let mut random = DriveRandom::new(1);
        let mut drawn = [0_u32; 1000];
        for _ in 0..1_000_000 {
            drawn[zipf.rank(&mut random) as usize] += 1;
        }
        for rank in [0_u32, 1, 9, 99] {
            let expected = 1e6 * f64::from(rank + 1).powf(-skew) / total;
            let found = f64::from(drawn[rank as usize]);
            // Five standard deviations.
            assert!((found - expected).abs() < 5.0 * expected.sqrt(), "{skew} {rank} {found}");
        }
    }
}
