//! Hosts: what a computer's file says, and `host fit`, which writes one.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use ssdlab_filesystem as filesystem;
use ssdlab_host::mounts;
use ssdlab_plan::{Costs, HostModel, find_host, shipped_host};

use super::common::{shown, wait_for};
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 1] = [("a_computer_is_what_its_file_says", hosts)];

/// Those that measure this computer.
pub const FITTING: [(&str, fn()); 2] = [
    ("a_killed_fit_leaves_nothing_behind", killed_fit),
    ("this_computer_is_measured_and_a_plan_runs_on_it", fitting),
];

const HOSTS_PLAN: &str = r#"
    name = "hosts"
    question = "Is a computer what its file says?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext4"
    host = ["modern-2020s", "./copy.toml", "./slow.toml"]
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack" }, { do = "delete" }]
"#;

/// Whether the folder of tests is on a filesystem that the lab has.
pub fn has_filesystem_of_lab() -> bool {
    let mount = mounts::containing(Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    mount.is_some_and(|mount| filesystem::find(&mount.kind).is_some_and(|of| of.pool.is_none()))
}

fn hosts() {
    let place = Place::new();
    let file = shipped_host("modern-2020s").unwrap();
    fs::write(place.path("copy.toml"), file).unwrap();
    let slow = file.replace("ns_per_block = 1.55", "ns_per_block = 3.1");
    let slow = slow.replace("range = [1.2, 2.0]", "range = [1.2, 4.0]");
    fs::write(place.path("slow.toml"), slow).unwrap();
    let json = place.run(HOSTS_PLAN);
    let trials = json["treatments"].as_array().unwrap().iter().map(|own| &own["trials"][0]);
    let trials: Vec<&Value> = trials.inspect(|trial| assert_eq!(trial["status"], "ok")).collect();
    assert_eq!(trials[1]["fingerprint"], trials[0]["fingerprint"]);
    assert_ne!(trials[2]["fingerprint"], trials[0]["fingerprint"]);
    let spent = |trial: &Value| trial["phases"][1]["cpu_ns"].as_f64().unwrap();
    let ratio = spent(trials[2]) / spent(trials[0]);
    assert!((1.5..2.0).contains(&ratio), "deleting takes {ratio} times the processor time");
}

fn fitting() {
    let place = Place::new();
    let fit = ["host", "fit", "--dir", env!("CARGO_TARGET_TMPDIR")];
    let kernel = kernel().as_ref().unwrap();
    let output = place.command(&fit).arg("--kernel").arg(kernel).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = String::from_utf8(output.stdout).unwrap();
    let host = HostModel::parse("here", &file).unwrap();
    // A plausible host still gives the time of the operations.
    assert!(file.contains("[figures.operations]") && host.drawn(1, 0).is_ok(), "{file}");
    // No processor for this test is a hundred times faster or slower than those of the 2020s, but
    // the hashes of an unoptimised build are.
    let usual = &find_host("modern-2020s").unwrap().costs;
    let costs = |of: &Costs| {
        let fixed = [of.block_ps, of.call_ns, of.copy_ns, of.crc32_ns].map(|cost| (cost, 100));
        let hashes = [of.xxhash_ns, of.sha256_ns, of.blake2_ns, of.aes_ns];
        [fixed, hashes.map(|cost| (cost, 1000))].concat()
    };
    for ((cost, times), (usual, _)) in costs(&host.costs).into_iter().zip(costs(usual)) {
        assert!((usual / times..=usual * times).contains(&cost), "{cost} beside {usual}: {file}");
    }
    fs::write(place.path("copy.toml"), &file).unwrap();
    fs::write(place.path("slow.toml"), &file).unwrap();
    let json = place.run(HOSTS_PLAN);
    let of = |treatment: usize| &json["treatments"][treatment]["trials"][0];
    assert_eq!(of(1)["status"], "ok", "{json}");
    assert_eq!(of(1)["fingerprint"], of(2)["fingerprint"]);
    assert_ne!(of(1)["fingerprint"], of(0)["fingerprint"]);
}

fn killed_fit() {
    let place = Place::new();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let is_empty = || fs::read_dir(folder.path()).unwrap().next().is_none();
    let mut command = place.command(&["host", "fit", "--dir"]);
    command.arg(folder.path()).arg("--kernel").arg(kernel().as_ref().unwrap());
    let mut fit = command.stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| !is_empty());
    fit.kill().unwrap();
    fit.wait().unwrap();
    let output = place.command(&["restore"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert!(is_empty());
}
