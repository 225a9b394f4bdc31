//! What is recovered once is the same.

use ssdlab_disk::Memory;
use ssdlab_flash::{Command, Extent, LoggedRequest, Nanos, PowerCuts, Specification, Stream};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::cuts::CutMoment;

use super::different;
use crate::evidence::CutCase;
use crate::images::{Images, LoggedRequests, sha256};

const CAPACITY_BYTES: u64 = 1 << 20;

/// Writes of two pages and of a half, a flush after every third, and reads, one every 10 ns.
fn requests() -> LoggedRequests {
    let mut requests = LoggedRequests::default();
    for number in 0..40_u8 {
        let page = u64::from(number % 5) * 4096;
        let extent = Extent { offset_bytes: page, length_bytes: 2048 << (number % 3) };
        let command = match number % 4 {
            0 => Command::Flush,
            3 => Command::Read(extent),
            _ => Command::Write(extent, Stream::default()),
        };
        let submitted = Nanos(10 * u64::from(number));
        let completed = Some(submitted + Nanos(5));
        let logged = LoggedRequest { submitted, completed, command, is_fua: false };
        let length = usize::try_from(extent.length_bytes).unwrap();
        requests.push(logged, &vec![number + 1; length]);
    }
    requests
}

#[test]
fn cases_that_are_recovered_once_leave_the_same() {
    let file = "name = \"cut\"\ncapacity = \"1 MiB\"\nspare_factor = 0.1\npages_per_block = 8\n\
                [write_buffer]\nsize = \"64 KiB\"";
    let drive = Specification::parse(file).unwrap();
    let requests = requests();
    let mut cuts = PowerCuts::new(&drive, &requests.log).unwrap();
    let case = |cut: u32| CutCase {
        cut,
        survivor: 0,
        at: Nanos(u64::from(cut)),
        moment: CutMoment::Random,
        seed: u64::from(cut),
    };
    let cases: Vec<CutCase> = (0..400).map(case).collect();
    let (different, of) = different(&requests, &mut cuts, &cases, |_| 0);
    assert!((50..300).contains(&different.len()), "{}", different.len());
    let original = Memory::new(CAPACITY_BYTES);
    let mut image = |case: &CutCase| {
        let cut = cuts.at(case.at);
        let image = Images::new(&requests, &original).of(&cut, &cut.survivor(case.seed));
        sha256(&image.unwrap(), &Interrupt::default()).unwrap()
    };
    for (case, of) in cases.iter().zip(of) {
        assert_eq!(image(case), image(&different[of]), "{case:?}");
    }
}
