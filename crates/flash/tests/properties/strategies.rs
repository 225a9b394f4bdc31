//! Drives and commands to try.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::shadow::Step;

/// Drive files of small drives of all kinds.
pub fn drive_file() -> impl Strategy<Value = String> {
    let geometry = (1_u32..=24, 1_u32..=12, 1_u32..=4, 1_u32..=4, 0.05..0.9_f64);
    let mapping = prop_oneof![
        3 => (
            prop_oneof![
                Just("greedy"),
                Just("fifo"),
                Just("random"),
                Just("d-choices"),
                Just("cost-benefit")
            ],
            prop_oneof![Just("one"), Just("collector"), Just("hot-cold")],
        )
            .prop_map(|(collection, frontiers)| format!(
                "mapping = \"page\"\ncollection = \"{collection}\"\nfrontiers = \"{frontiers}\""
            )),
        1 => (1_u32..4).prop_map(|open| format!("mapping = \"block\"\nopen_blocks = {open}")),
        1 => Just("mapping = \"bast\"\nlog_fraction = 0.1".to_owned()),
        1 => Just("mapping = \"fast\"\nlog_fraction = 0.1".to_owned()),
    ];
    let wear = prop_oneof![
        Just("[wear]\nlevelling = \"none\"".to_owned()),
        Just("[wear]\nlevelling = \"dynamic\"".to_owned()),
        (1_u32..6).prop_map(|n| format!("[wear]\nlevelling = \"static\"\nthreshold = {n}")),
    ];
    let trim = prop_oneof![
        4 => Just("[trim]\nper_command = \"1 ms\"\nper_mapped_page = \"10 us\""),
        1 => Just("[trim]\nhonoured = true\nblocking = true\nper_unmapped_mib = \"1 ms\""),
        1 => Just("[trim]\nhonoured = false"),
    ];
    let buffer = prop_oneof![
        Just(String::new()),
        (1_u32..20).prop_map(|pages| format!("[write_buffer]\nsize = {}", pages * 4096)),
    ];
    let power = (any::<bool>(), prop_oneof![3 => Just("honest"), 1 => Just("ignored")]);
    let caches = (any::<bool>(), any::<bool>(), 1_u32..40);
    let timing = prop_oneof![
        Just(String::new()),
        (1_u32..3, 1_u32..3, any::<bool>(), any::<bool>()).prop_map(
            |(channels, dies, suspends, has_fua)| format!(
                "[timing]\nchannels = {channels}\ndies_per_channel = {dies}\nplanes = 4\n\
             read = \"50 us\"\nprogram = \"900 us\"\nerase = \"3 ms\"\nbus = \"40 MB/s\"\n\
             link_read = \"270 MB/s\"\nlink_write = \"235 MB/s\"\ncontroller_write = \"10 us\"\n\
             controller_copy = \"5 us\"\n{}\n{}\n[background]\nafter = \"1 ms\"\n\
             free = \"20 %\"",
                if suspends { "suspend = \"20 us\"" } else { "" },
                if has_fua { "fua_latency = \"1 ms\"" } else { "" }
            )
        ),
    ];
    (geometry, mapping, wear, trim, power, buffer, caches, timing).prop_map(
        |(geometry, mapping, wear, trim, power, buffer, caches, timing)| {
            let (blocks, per_block, superblock, compressed, spare) = geometry;
            let (protection, flush) = power;
            let (has_slc, has_map_cache, slc_pages) = caches;
            let data = blocks * per_block * superblock;
            // What is compressed to a third needs a third of the blocks; the last is partial.
            let blocks = f64::from(blocks) / f64::from(compressed);
            // Room for a log block and for one block of spare.
            let spare = spare.max(1.0 - blocks / (blocks + 3.0));
            let slc = if has_slc && mapping.contains("\"page\"") {
                let size = slc_pages.max(per_block * superblock * compressed) * 4096;
                format!("[slc_cache]\nsize = {size}\nbits_per_cell = 3")
            } else {
                String::new()
            };
            let map_cache =
                if has_map_cache { "[map_cache]\nsize = 4096\nentry = 1024" } else { "" };
            let log = mapping.replace("0.1", &(1.5 / blocks).min(1.0).to_string());
            format!(
                "name = \"any\"\ncapacity = {}\nspare_factor = {spare}\n\
                 power_loss_protection = {protection}\nflush = \"{flush}\"\n\
                 pages_per_block = {per_block}\nsuperblock = {superblock}\ncompression = {}\n\
                 {log}\n{wear}\n{trim}\n{buffer}\n{slc}\n{map_cache}\n{timing}\n",
                data * 4096,
                1.0 / f64::from(compressed)
            )
        },
    )
}

/// Commands of all kinds: more writes than others, many of them to the same few places.
pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let sector = prop_oneof![any::<u32>(), (0_u32..20).prop_map(|page| page * 8)];
    let sectors = prop_oneof![
        4 => (1_u32..4).prop_map(|pages| pages * 8),
        1 => 0_u32..40,
        1 => (4_u32..60).prop_map(|pages| pages * 8),
    ];
    let extent = (sector, sectors);
    let step = prop_oneof![
        12 => (extent.clone(), any::<bool>(), any::<bool>()).prop_map(
            |((sector, sectors), is_hot, is_aligned)| {
                let sector = if is_aligned { sector / 8 * 8 } else { sector };
                Step::Write { sector, sectors, is_hot }
            }
        ),
        2 => extent.clone().prop_map(|(sector, sectors)| Step::Read { sector, sectors }),
        3 => extent.clone().prop_map(|(sector, sectors)| Step::Discard { sector, sectors }),
        2 => extent.clone().prop_map(|(sector, sectors)| Step::WriteFua { sector, sectors }),
        1 => extent.prop_map(|(sector, sectors)| Step::WriteZeroes { sector, sectors }),
        1 => Just(Step::Flush),
        1 => (0_u32..100_000_000).prop_map(|nanos| Step::Wait { nanos }),
        1 => Just(Step::CutPower),
    ];
    vec(step, 1..most)
}
