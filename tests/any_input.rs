//! Any input: plans, records and archives that are broken anywhere give an error, never a panic.

use std::path::Path;

use proptest::prelude::*;
use ssdlab_plan::{self as plan, Overrides, shipped};
use ssdlab_results::fuzz_records;
use ssdlab_results::import;
use ssdlab_workload::printed::bonnie;

fn resolve(text: &str) -> bool {
    plan::schedule("plan.toml", text, &Overrides::default(), Path::new("/")).is_ok()
}

/// Keywords of plans: random words would never get past the parser.
fn words() -> impl Strategy<Value = String> {
    let words = [
        "name",
        "question",
        "factors",
        "workload",
        "phases",
        "do",
        "unpack",
        "sync",
        "ext4",
        "filesystem",
        "discard",
        "\"on\"",
        "io",
        "transactions",
        "size",
        "block",
        "\"4 KiB: 3\"",
        "\"every 3 writes\"",
        "\"0.5/s\"",
        "=",
        "=",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\"",
        "3",
        "-1",
        "1e999",
        "true",
        "[[claims]]",
        "at_least",
        "compare",
        "\u{0}",
        "größe",
        "9999 PiB",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60)
        .prop_map(|words| words.join(" "))
}

/// Results of other programs.
const RESULTS: [&str; 4] = [
    include_str!("data/fio-end-fsync.json"),
    include_str!("data/bonnie-2.00.csv"),
    include_str!("data/hyperfine-1.15.json"),
    include_str!("data/phoronix-composite.xml"),
];

/// Values that bonnie++ prints between its commas, and some that it does not.
const VALUES: [&str; 12] =
    ["", "+++++", "+++", "1838", "88", "412.5", "12824us", "100ms", "9s", "us", "-1", "1e999"];

proptest! {
    #[test]
    fn words_in_any_order_are_no_panic(text in words()) {
        resolve(&text);
    }

    #[test]
    fn any_text_is_no_panic(text in ".{0,300}") {
        resolve(&text);
    }

    #[test]
    fn a_shipped_plan_with_a_piece_replaced_is_no_panic(
        which in 0..shipped::ALL.len(),
        from in 0_usize..4000,
        length in 0_usize..40,
        piece in words(),
    ) {
        let text = shipped::ALL[which].text;
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i));
        let (start, end) = (floor(from).unwrap(), floor(from + length).unwrap());
        resolve(&format!("{}{piece}{}", &text[..start], &text[end..]));
    }

    #[test]
    fn overrides_of_any_kind_are_no_panic(set in words(), scale in any::<f64>(), runs: u32) {
        let overrides = Overrides {
            set: vec![set.clone(), format!("discard={set}"), format!("prefill={set}")],
            scale: Some(scale),
            runs: Some(runs % 20),
            ..Overrides::default()
        };
        let _ = plan::schedule("p", shipped::ALL[0].text, &overrides, Path::new("/"));
    }

    #[test]
    fn any_bytes_as_records_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzz_records(&bytes);
    }

    #[test]
    fn any_bytes_as_results_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        import::fuzz(&bytes);
    }

    #[test]
    fn results_with_a_piece_replaced_are_no_panic(
        which in 0..RESULTS.len(),
        from in 0_usize..6000,
        length in 0_usize..60,
        piece in words(),
    ) {
        let text = RESULTS[which].as_bytes();
        let (from, to) = (from.min(text.len()), (from + length).min(text.len()));
        import::fuzz(&[&text[..from], piece.as_bytes(), &text[to..]].concat());
    }

    #[test]
    fn any_values_as_bonnie_s_are_no_panic(
        fields in prop::collection::vec(prop::sample::select(VALUES.to_vec()), 0..60),
        text in ".{0,100}",
    ) {
        let _ = bonnie::line(&format!("1.98,{}", fields.join(",")));
        import::fuzz(format!("1.98,{}", fields.join(",")).as_bytes());
        let _ = bonnie::line(&text);
    }
}

#[test]
fn a_shipped_plan_cut_anywhere_is_no_panic() {
    for plan in shipped::ALL {
        assert!(resolve(plan.text));
        // All places would take a minute.
        let places = (0..plan.text.len()).step_by(7);
        for end in places.filter(|end| plan.text.is_char_boundary(*end)) {
            resolve(&plan.text[..end]);
        }
    }
}
