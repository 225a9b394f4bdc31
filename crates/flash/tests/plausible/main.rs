//! Plausible drives: what draws are, and what they are held to.

mod coverage;

use std::collections::BTreeMap;

use ssdlab_flash::bench::Bench;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::evidence::Value;
use ssdlab_flash::figures::FigureCheck;
use ssdlab_flash::{Draw, Plausible, Specification, presets};
use ssdlab_quantity::Bytes;

/// A drive whose discard was fitted together: 1,000 pages in 10 commands take 20 ms.
const FITTED: &str = r#"
    name = "fitted"
    capacity = "64 MiB"
    spare_factor = 0.1
    pages_per_block = 32
    mapping = "page"
    collection = "greedy"
    [trim]
    per_command = "1 ms"
    per_mapped_page = "10 us"
    [evidence.spare_factor]
    basis = "assumed"
    range = [0.05, 0.2]
    source = "x"
    [evidence.collection]
    basis = "assumed"
    choices = ["greedy", "fifo", "random"]
    source = "x"
    [evidence."trim.per_command"]
    basis = "fitted"
    range = ["100 us", "2 ms"]
    fitted_to = ["discard"]
    source = "x"
    [evidence."trim.per_mapped_page"]
    basis = "fitted"
    range = ["1 us", "20 us"]
    fitted_to = ["discard", "other"]
    source = "x"
    [figures.discard]
    source = "x"
    value = "20 ms"
    within = 0.1
    test = { do = "discard", size = 4_096_000, commands = 10 }
    [figures.other]
    source = "x"
    value = "a lot"
    unchecked = "nobody says of what"
"#;

fn fitted() -> Plausible {
    Plausible::of(FITTED).unwrap_or_else(|error| panic!("{error}; {}", error.help))
}

fn nanos(draw: &Draw, key: &str) -> u64 {
    let Value::Text(text) = &draw.values[key] else { panic!("{key} has no unit") };
    text.strip_suffix(" ns").unwrap().parse().unwrap()
}

#[test]
fn what_is_uncertain_varies_and_what_was_fitted_still_fits() {
    let plausible = fitted();
    let keys: Vec<&str> = plausible.uncertain().iter().map(|value| value.key.as_str()).collect();
    assert_eq!(keys, ["collection", "spare_factor", "trim.per_command", "trim.per_mapped_page"]);
    assert_eq!(plausible.unchecked().get("other").map(String::as_str), Some("nobody says of what"));
    let mut redrawn = 0;
    let mut least_and_most = (u64::MAX, 0);
    let mut collections = BTreeMap::new();
    for block in 0..30 {
        let drawn = plausible.draw(1, block).unwrap();
        let (command, page) =
            (nanos(&drawn.draw, "trim.per_command"), nanos(&drawn.draw, "trim.per_mapped_page"));
        let total = 10 * command + 1000 * page;
        assert!((18_000_000..=22_000_000).contains(&total), "block {block}: {total} ns");
        redrawn += drawn.draw.redrawn;
        least_and_most = (least_and_most.0.min(command), least_and_most.1.max(command));
        let Value::Text(collection) = &drawn.draw.values["collection"] else { panic!("a word") };
        *collections.entry(collection.clone()).or_insert(0) += 1;
        assert_eq!(plausible.drive(&drawn.draw.values), Ok(drawn.drive));
    }
    assert!(redrawn > 30, "most of the range does not fit: {redrawn}");
    assert!(least_and_most.1 > 4 * least_and_most.0, "{least_and_most:?}");
    assert!(collections.len() == 3 && collections.values().all(|n: &u32| *n >= 7));
}

#[test]
fn a_draw_is_a_function_of_seed_and_block() {
    let draw = |seed, block| fitted().draw(seed, block).unwrap();
    let forwards: Vec<_> = (0..8).map(|block| draw(3, block)).collect();
    let backwards: Vec<_> = (0..8).rev().map(|block| draw(3, block)).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
    assert_ne!(forwards[0], forwards[1]);
    assert_ne!(forwards[0], draw(4, 0));
}

#[test]
fn draws_are_the_same_on_every_machine() {
    let preset = presets::find("vertex-le").unwrap();
    let drawn = Plausible::of(preset.text).unwrap().draw(1, 4).unwrap();
    let shown = |key: &str| toml::Value::try_from(&drawn.draw.values[key]).unwrap().to_string();
    let keys = ["trim.per_command", "trim.per_mapped_page", "spare_factor", "collection"];
    assert_eq!(keys.map(shown), ["\"364700 ns\"", "\"275300 ns\"", "0.2307", "\"greedy\""]);
}

#[test]
fn a_record_holds_a_draw() {
    let draw = fitted().draw(1, 0).unwrap().draw;
    let text = toml::to_string(&draw).unwrap();
    assert_eq!(toml::from_str::<Draw>(&text).unwrap(), draw);
}

#[test]
fn drives_are_valid_at_the_capacity_that_is_asked_for() {
    let preset = presets::find("sd-card").unwrap();
    let plausible = Plausible::of(preset.text).unwrap().with_capacity(Bytes(1 << 30));
    for block in 0..9 {
        let drive = plausible.draw(1, block).unwrap().drive;
        let off = drive.capacity_bytes().abs_diff(1 << 30);
        assert!(off < 8 << 20, "block {block}: {}", drive.capacity_bytes());
    }
}

#[test]
fn a_figure_that_nothing_gives_is_named() {
    let text = FITTED.replace("value = \"20 ms\"", "value = \"20 s\"");
    let error = Plausible::of(&text).unwrap().draw(1, 0).unwrap_err();
    assert!(error.message.contains("`discard`"), "{error}");
}

#[test]
fn a_drive_without_evidence_is_the_only_one() {
    let text = &FITTED[..FITTED.find("[evidence").unwrap()];
    let drawn = Plausible::of(text).unwrap().draw(1, 0).unwrap();
    assert_eq!(drawn.drive, Specification::parse(text).unwrap());
    assert!(drawn.draw.values.is_empty());
}

#[test]
fn the_drive_of_a_record_of_another_file_is_refused() {
    let values = BTreeMap::from([("trim.per_unmapped_mib".to_owned(), Value::Integer(1))]);
    let error = fitted().drive(&values).unwrap_err();
    assert!(error.message.contains("trim.per_unmapped_mib"), "{error}");
}

#[test]
fn figures_are_written_as_what_can_be_checked() {
    let refused = |from: &str, to: &str, says: &str| {
        let error = Plausible::of(&FITTED.replace(from, to)).unwrap_err();
        assert!(error.message.contains(says), "{to}: {error}");
    };
    refused("within = 0.1\n", "", "`test` and `within`");
    refused("within = 0.1", "within = 5", "above 0 and below 1");
    refused("value = \"20 ms\"", "value = \"20 apples\"", "is not a figure");
    refused("commands = 10", "commands = 100_000_000", "at most 10000000 requests");
    for span in ["1.5", "0", "-1", "nan"] {
        let read = format!("do = \"read\", request = \"1 GiB\", span = {span}");
        refused("do = \"discard\", size = 4_096_000, commands = 10", &read, "at most 1");
    }
    let read = "do = \"read\", request = \"4 KiB\", percentile = ";
    let discard = "do = \"discard\", size = 4_096_000, commands = 10";
    refused(discard, &format!("{read}101"), "above 0 and at most 100");
    let rate = FITTED.replace("value = \"20 ms\"", "value = \"50/s\"");
    let error = Plausible::of(&rate.replace(discard, &format!("{read}99"))).unwrap_err();
    assert!(error.message.contains("a percentile is a time"), "{error}");
    refused("fitted_to = [\"discard\"]", "fitted_to = [\"dicsard\"]", "not among");
}

#[test]
fn a_figure_may_be_a_percentile_of_the_requests_times() {
    // Four reads wait for one plane: the first takes 100 us, and all but three take 400 us.
    const ONE_PLANE: &str = r#"
        name = "one-plane"
        capacity = "64 MiB"
        spare_factor = 0.2
        pages_per_block = 32
        [timing]
        channels = 1
        dies_per_channel = 1
        read = "100 us"
        program = "1 ms"
        erase = "1 ms"
        bus = "100 GB/s"
        link_read = "100 GB/s"
        link_write = "100 GB/s"
        [figures.reads]
        source = "x"
        value = "400 us"
        within = 0.01
        test = { do = "read", request = "4 KiB", depth = 4, requests = 200, percentile = 99 }
    "#;
    let ratio = |percentile: &str| {
        let text = ONE_PLANE.replace("percentile = 99", percentile);
        let file = DriveFile::parse(&text).unwrap();
        file.figures["reads"].compare(&mut Bench::new(&file)).unwrap().unwrap()
    };
    let is_near = |ratio: f64, expected: f64| (ratio - expected).abs() < 0.002;
    assert!(is_near(ratio("percentile = 99"), 1.0), "{}", ratio("percentile = 99"));
    assert!(is_near(ratio("percentile = 0.5"), 0.25), "{}", ratio("percentile = 0.5"));
    let mean = ratio("blocks = 32");
    assert!(0.98 < mean && mean < 0.998, "{mean}");
}

/// The model is held to what values were fitted to; each line is one of a table, see
/// `tests/presets.rs`.
#[test]
fn shipped_drives_give_the_figures_that_they_were_fitted_to() {
    for preset in presets::ALL {
        let file = DriveFile::parse(preset.text).unwrap();
        let mut bench = Bench::new(&file);
        let is_fitted = |name: &String| {
            file.evidence.values().any(|own| own.get_ref().fitted_to.contains(name))
        };
        for (name, figure) in file.figures.iter().filter(|(name, _)| is_fitted(name)) {
            let FigureCheck::Tested { within, .. } = figure.check else { continue };
            let ratio = figure.compare(&mut bench).unwrap().unwrap();
            println!(
                "| {}: {name} | {} | {:+.1} % |",
                preset.name,
                figure.value,
                100.0 * (ratio - 1.0)
            );
            assert!((ratio - 1.0).abs() <= within, "{}: {name}: {ratio}", preset.name);
        }
    }
}

#[test]
fn every_shipped_drive_can_be_drawn() {
    for preset in presets::ALL {
        let plausible = Plausible::of(preset.text).unwrap();
        let drawn = plausible.draw(1, 0);
        let drawn = drawn.unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert_eq!(drawn.draw.values.len(), plausible.uncertain().len(), "{}", preset.name);
    }
}
