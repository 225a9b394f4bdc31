//! Wear: levelling, retirement, and the end of a drive's life.

use ssdlab_flash::{Command, Condition, Drive, Extent, Nanos, Refusal, Stream};

use crate::shadow::{Shadowed, Step};
use crate::specification;

/// Overwrites a few pages of a full drive for long. Returns the spread of erase counts.
fn spread_under_a_hot_spot(mapping: &str, levelling: &str) -> u32 {
    let text = format!(
        "name = \"hot\"\ncapacity = \"4 MiB\"\nspare_factor = 0.2\npages_per_block = 16\n\
         log_fraction = 0.1\nmapping = \"{mapping}\"\n[wear]\n{levelling}\n"
    );
    let mut drive = Drive::new(specification(&text), 1);
    let pages = drive.specification().logical_pages;
    drive.condition(Condition::Filled, pages, 1, &mut ssdlab_flash::unwatched).expect("it is new");
    for write in 0..100_000_u64 {
        // Out of order, so that hybrid mappings have to merge.
        let extent = Extent { offset_bytes: write * 7 % 16 * 4096, length_bytes: 4096 };
        drive.submit(Nanos::ZERO, Command::Write(extent, Stream::Hot)).expect("it is in range");
    }
    let wear = drive.wear();
    wear.most - wear.least
}

#[test]
fn static_levelling_keeps_wear_even_and_nothing_else_does() {
    const THRESHOLD: u32 = 10;
    for mapping in ["page", "block", "bast", "fast"] {
        let even = format!("levelling = \"static\"\nthreshold = {THRESHOLD}");
        let even = spread_under_a_hot_spot(mapping, &even);
        // A block can be erased once more before the others' turn comes, and a log's once again.
        assert!(even <= THRESHOLD + 2, "{mapping}: {even}");
        for levelling in ["none", "dynamic"] {
            let spread = spread_under_a_hot_spot(mapping, &format!("levelling = \"{levelling}\""));
            assert!(spread > 10 * THRESHOLD, "{mapping}, {levelling}: {spread}");
        }
    }
}

#[test]
fn a_worn_out_drive_refuses_writes_and_keeps_its_data() {
    const ENDURANCE: u32 = 30;
    for mapping in ["page", "block", "bast", "fast"] {
        for levelling in ["none", "dynamic", "static\"\nthreshold = 5 #\""] {
            let text = format!(
                "name = \"mortal\"\ncapacity = \"256 KiB\"\nspare_factor = 0.3\n\
                 pages_per_block = 4\nlog_fraction = 0.1\nmapping = \"{mapping}\"\n[wear]\n\
                 levelling = \"{levelling}\"\nendurance = {ENDURANCE}\n"
            );
            let mut shadowed = Shadowed::new(specification(&text));
            let mut sector: u32 = 0;
            let mut writes = 0;
            while !shadowed.drive().is_worn_out() {
                sector = sector.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let sectors = 8 + sector % 3 * 8;
                let sector = (sector >> 8) % 64 * 8;
                shadowed.perform(Step::Write { sector, sectors, is_hot: true });
                writes += 1;
                assert!(writes < 1_000_000, "{text} lasts for ever");
            }
            shadowed.check();
            let wear = shadowed.drive().wear();
            // The last command is finished, whatever it takes; and the collector's last block
            // serves once more.
            assert!(wear.most <= ENDURANCE + 2, "{} erases of {ENDURANCE}: {text}", wear.most);
            let mut drive = Drive::new(specification(&text), 1);
            let extent = Extent { offset_bytes: 0, length_bytes: 4096 };
            let refused = loop {
                if let Err(refused) = drive.submit(Nanos::ZERO, Command::Write(extent, Stream::Hot))
                {
                    break refused;
                }
            };
            assert_eq!(refused, Refusal::WornOut);
            assert!(drive.submit(Nanos::ZERO, Command::Read(extent)).is_ok());
        }
    }
}

#[test]
fn the_reserve_lasts_where_copies_and_the_host_share_a_frontier() {
    const PER_BLOCK: u64 = 128;
    for collection in ["greedy", "fifo", "cost-benefit"] {
        for (spare, endurance, hot_share) in [(0.1, 10, 4), (0.1, 60, 16), (0.3, 10, 16)] {
            // A drive with times empties blocks bit by bit, beside the host's requests.
            let text = format!(
                "name = \"shared\"\ncapacity = \"16 MiB\"\nspare_factor = {spare}\n\
                 pages_per_block = {PER_BLOCK}\nmapping = \"page\"\nfrontiers = \"one\"\n\
                 collection = \"{collection}\"\n[wear]\nlevelling = \"none\"\n\
                 endurance = {endurance}\n[timing]\nchannels = 1\ndies_per_channel = 1\n\
                 read = \"50 us\"\nprogram = \"900 us\"\nerase = \"3 ms\"\nbus = \"40 MB/s\"\n\
                 link_read = \"270 MB/s\"\nlink_write = \"235 MB/s\"\n"
            );
            let mut drive = Drive::new(specification(&text), 1);
            let pages = u64::from(drive.specification().logical_pages);
            let mut random = 1_u64;
            while !drive.is_worn_out() {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let within = if random >> 63 == 0 { pages / hot_share } else { pages };
                let first = (random >> 40) % within;
                let count = (1 + (random >> 33) % PER_BLOCK).min(pages - first);
                let extent = Extent { offset_bytes: first * 4096, length_bytes: count * 4096 };
                let written = drive.submit(Nanos::ZERO, Command::Write(extent, Stream::Hot));
                written.expect("it is not worn out");
            }
        }
    }
}

#[test]
fn age_is_a_number_of_erases() {
    let text = "name = \"old\"\ncapacity = \"4 MiB\"\nspare_factor = 0.1\npages_per_block = 16\n\
                [wear]\nlevelling = \"static\"\nthreshold = 5\nendurance = 3000\n";
    let mut drive = Drive::new(specification(text), 1);
    let pages = drive.specification().logical_pages;
    drive
        .condition(Condition::Aged { erases: 1000 }, pages, 1, &mut ssdlab_flash::unwatched)
        .expect("it lasts");
    let wear = drive.wear();
    assert!((999.0..=1001.0).contains(&wear.mean), "{}", wear.mean);
    assert!(wear.most - wear.least <= 7, "{} to {}", wear.least, wear.most);
}
