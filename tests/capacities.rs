//! Whether what a shipped plan finds depends on the capacity that it gives to drives.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use ssdlab_flash::presets;
use ssdlab_plan::shipped;

/// What a plan sizes by its drive, as a number of a unit at the shipped capacity.
const SCALED: [(&[&str], &str, u64, &str); 2] = [
    (&["filesystems", "schedulers", "small-files", "tandem"], "prefill = ", 10, "GB"),
    (&["overprovision"], "io = { size = ", 1, "GiB"),
];

/// Verdicts that depend on the capacity: the plan, the claim, and why.
const DEPENDS: [(&str, &str, &str); 1] = [(
    "trim-today",
    "both-take-little-time-today",
    "it is about the time that a certain free space takes, which is larger on a larger drive",
)];

/// A plan at another capacity: its name there, and the text.
struct Sized {
    name: String,
    text: String,
}

/// A plan as shipped, at eight times its capacity, if its drives are that large, and at theirs.
fn sizes(name: &str) -> Vec<Sized> {
    let text = shipped::find(name).unwrap().text;
    let line = text.lines().find(|line| line.starts_with("capacity = "));
    let Some(line) = line else {
        return vec![Sized { name: "own".to_owned(), text: text.to_owned() }];
    };
    let shipped: ssdlab_plan::Bytes =
        line.trim_start_matches("capacity = ").trim_matches('"').parse().unwrap();
    let drives = text.lines().find(|line| line.starts_with("drive = ")).unwrap();
    let named = presets::ALL.iter().filter(|one| drives.contains(&format!("\"{}\"", one.name)));
    let least = named.map(|preset| preset.capacity_bytes()).min().unwrap();
    let at = |capacity: u64, line_instead: String| {
        let mut text = text.replacen(line, &line_instead, 1);
        for (_, key, number, unit) in SCALED.iter().filter(|(plans, ..)| plans.contains(&name)) {
            let scaled = u128::from(*number) * u128::from(capacity) / u128::from(shipped.0);
            let from = format!("{key}\"{number} {unit}\"");
            assert!(text.contains(&from), "{name} has no {from}");
            text = text.replace(&from, &format!("{key}\"{scaled} {unit}\""));
        }
        text
    };
    let mut all = vec![Sized { name: "shipped".to_owned(), text: text.to_owned() }];
    if 8 * shipped.0 < least {
        let text = at(8 * shipped.0, format!("capacity = {}", 8 * shipped.0));
        all.push(Sized { name: "eight times".to_owned(), text });
    }
    all.push(Sized { name: "own".to_owned(), text: at(least, String::new()) });
    all
}

/// Runs a plan, and returns the verdict and the value of every claim, by its name.
fn verdicts(plan: &Sized, name: &str, folder: &Path) -> BTreeMap<String, (String, f64)> {
    let file = folder.join(format!("{name}-{}.toml", plan.name.replace(' ', "-")));
    fs::write(&file, &plan.text).unwrap();
    let more = env::var("SSDLAB_CAPACITY_ARGUMENTS").unwrap_or_default();
    let output = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(["run", "--json", "--results"])
        .arg(folder.join("runs"))
        .args(more.split_whitespace())
        .arg(&file)
        .env("XDG_STATE_HOME", folder.join("state"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let claims = json["claims"].as_array().unwrap().iter().map(|claim| {
        let id = claim["id"].as_str().unwrap().to_owned();
        let verdict = claim["verdict"].as_str().unwrap().to_owned();
        (id, (verdict, claim["ratio"].as_f64().unwrap_or(f64::NAN)))
    });
    claims.collect()
}

/// Prints a line of the table in docs/method.md for each plan: claims, those with the same verdict
/// at all capacities, and the largest change of a value. `$SSDLAB_CAPACITY_PLANS` names the plans
/// to run instead of all, and `$SSDLAB_CAPACITY_ARGUMENTS` more arguments of `ssdlab run`.
#[test]
#[ignore = "takes hours: make capacity-test"]
fn every_shipped_verdict_is_the_same_at_larger_capacities() {
    let folder = tempfile::Builder::new().prefix("capacities-").tempdir_in("/var/tmp").unwrap();
    let asked = env::var("SSDLAB_CAPACITY_PLANS").unwrap_or_default();
    let asked: Vec<&str> = asked.split_whitespace().collect();
    let mut changed = Vec::new();
    for plan in shipped::ALL.iter().filter(|plan| asked.is_empty() || asked.contains(&plan.name)) {
        let found: Vec<_> = sizes(plan.name)
            .iter()
            .map(|sized| (sized.name.clone(), verdicts(sized, plan.name, folder.path())))
            .collect();
        let (_, shipped) = &found[0];
        let mut same = shipped.len();
        let mut largest = 1.0_f64;
        for (id, (verdict, value)) in shipped {
            let others = found[1..].iter().map(|(at, claims)| (at, &claims[id]));
            let differs: Vec<_> =
                others.clone().filter(|(_, (other, _))| other != verdict).collect();
            for (_, (_, other)) in others.filter(|(_, (_, other))| value * other > 0.0) {
                largest = largest.max(other / value).max(value / other);
            }
            same -= usize::from(!differs.is_empty());
            for (at, (other, now)) in differs {
                let is_it = |(name, claim, _): &&(&str, &str, &str)| {
                    *name == plan.name && id.starts_with(claim)
                };
                let why = DEPENDS.iter().find(is_it).map(|(.., why)| *why);
                let reason = why.unwrap_or("unexplained");
                println!(
                    "{}: {id}: {verdict} ({value}), {at}: {other} ({now}): {reason}",
                    plan.name
                );
                if why.is_none() {
                    changed.push(format!("{}: {id}", plan.name));
                }
            }
        }
        let sizes: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        println!(
            "| {} | {} | {} | {same} | x{largest:.3} |",
            plan.name,
            sizes.join(", "),
            shipped.len()
        );
    }
    assert!(changed.is_empty(), "verdicts depend on the capacity: {changed:?}");
}
