//! The value of a drive at which a verdict flips is where it does.

use std::fs;

use serde_json::Value;
use ssdlab_flash::presets;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 1] =
    [("a_verdict_flips_at_the_value_that_is_found_and_at_no_other_parameter", flips)];

/// A commit waits for programs of the flash, and for nothing that erases.
const PLAN: &str = r#"
    name = "flips"
    question = "Does a commit take at most 5 ms?"
    target = { lab = "virtual" }
    [factors]
    filesystem = "ext4"
    drive = "./tried.toml"
    condition = "purged"
    [workload]
    phases = [
        { do = "transactions", transactions = { database = "4 MiB", pages = 1, number = 50 } },
    ]
    [[claims]]
    id = "quick"
    says = "a commit takes at most 5 ms"
    metric = "latency.p50_ns"
    phases = ["transactions"]
    compare = { filesystem = "ext4" }
    at_most = "5 ms"
"#;

const UNCERTAIN: &str = r#"
    [evidence."timing.program"]
    basis = "assumed"
    range = ["450 us", "1800 us"]
    source = "a test"
    [evidence."timing.erase"]
    basis = "assumed"
    range = ["1 ms", "10 ms"]
    source = "a test"
"#;

/// A drive of 1 GiB that programs a page in so many us.
fn drive(program_us: f64) -> String {
    let shipped = presets::find("x25m-g1").unwrap().text;
    let (values, _) = shipped.split_once("\n# Evidence").unwrap();
    let drive = values
        .replace("capacity = 80_026_361_856", "capacity = \"1 GiB\"")
        .replace("program = \"900 us\"", &format!("program = \"{program_us:.0} us\""));
    format!("{drive}{UNCERTAIN}")
}

/// The run of the plan on such a drive: its name, and the median of its commits in ns.
fn run(place: &Place, program_us: f64) -> (String, f64) {
    fs::write(place.path("tried.toml"), drive(program_us)).unwrap();
    fs::write(place.path("plan.toml"), PLAN).unwrap();
    let mut command = place.command(&["run", "--runs", "1", "--json", "--kernel"]);
    command.arg(kernel().as_ref().unwrap()).arg(place.path("plan.toml"));
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let phase = &json["treatments"][0]["trials"][0]["phases"][0];
    let median = phase["latency"]["p50_ns"].as_f64().unwrap_or_else(|| panic!("{json}"));
    (json["run"].as_str().unwrap().to_owned(), median)
}

fn flips() {
    let place = Place::new();
    let (name, median) = run(&place, 900.0);
    assert!(median > 5e6, "{median}");
    let mut command = place.command(&["flip", &name, "--json", "--kernel"]);
    let output = command.arg(kernel().as_ref().unwrap()).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let of = |key: &str| {
        let found = found.as_array().unwrap().iter().find(|found| found["parameter"] == key);
        let found = found.unwrap_or_else(|| panic!("no {key}: {}", shown(&output)));
        assert_eq!(found["holds"], false);
        found["flips"].as_array().unwrap().clone()
    };
    assert_eq!(of("timing.erase"), [] as [Value; 0]);
    // No processor of the 2020s takes milliseconds for a commit.
    assert_eq!(of("ns_per_call"), [] as [Value; 0]);
    let is_of_host = |found: &&Value| found["host"] == "modern-2020s";
    assert_eq!(found.as_array().unwrap().iter().filter(is_of_host).count(), 8);
    let [program] = &of("timing.program")[..] else { panic!("{found}") };
    assert_eq!(program["side"], "below");
    let at = program["value"].as_str().unwrap();
    let at: f64 = at.strip_suffix(" ns").unwrap_or_else(|| panic!("{at}")).parse().unwrap();
    let at = at / 1e3;
    for (share, is_quick) in [(0.95, true), (1.05, false)] {
        let (_, median) = run(&place, share * at);
        assert_eq!(median <= 5e6, is_quick, "{median} ns at {share} of {at} us");
    }
    let output = place.command(&["report", &name, "--verbose"]).output().unwrap();
    let report = shown(&output);
    assert!(report.contains("timing.program of"), "{report}");
    // Nothing can flip where nothing was claimed.
    let output = place.command(&["flip", &name, "--claim", "slow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(shown(&output).contains("name one of: quick"), "{}", shown(&output));
}
