//! What `check` accepts, `run` runs; what it refuses, `run` refuses with the same words.

use std::fs;
use std::process::Output;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 1] = [("a_plan_is_refused_by_a_check_or_not_at_all", agree)];

/// Plans to make. Most of them are refused.
const PLANS: usize = 32;

/// Parts of plans that are right with some of the others.
const FILESYSTEMS: [&str; 5] = ["ext2", "ext4", "xfs", "btrfs", "f2fs"];
const SETTINGS: [&str; 15] = [
    "",
    "atime = \"relatime\"",
    "mount = \"noatime\"",
    "mount = \"commit=60\"",
    "mount = \"compress=zstd\"",
    "mount = \"nodatacow,data=journal\"",
    "discard = \"on\"",
    "discard = \"fstrim\"",
    "journal = \"off\"",
    "checksums = \"on\"",
    "prefill = \"50 %\"",
    "prefill = \"200 MB\"",
    "prefill = \"90 %\"",
    "layer = \"crypt\"",
    "condition = \"steady\"",
];
const CAPACITIES: [&str; 4] = ["200 MB", "3 GB", "4 GB", "6 GB"];
const PHASES: [&str; 12] = [
    r#"do = "unpack", sync = true"#,
    r#"do = "delete""#,
    r#"do = "fstrim""#,
    r#"do = "remount""#,
    r#"do = "append", append = { records = 20, sync_every = 5 }"#,
    r#"do = "sync""#,
    r#"do = "replace", replace = { files = 2, rounds = 2 }"#,
    r#"do = "io", io = { size = "4 MiB", sync = "every 1 write", operations = 20 }"#,
    r#"do = "io", io = { size = "64 GiB", operations = 20 }"#,
    r#"do = "io", io = { size = "4 KiB", block = "8 KiB", operations = 20 }"#,
    r#"do = "transactions", transactions = { number = 20 }"#,
    r#"do = "command", run = "true""#,
];
const CLAIMS: [&str; 6] = [
    "",
    "",
    "phases = [\"first\"]\nmetric = \"written_bytes\"\nat_most = \"1 TB\"",
    "phases = [\"second\"]\nmetric = \"latency.p50_ns\"\nat_most = \"1 s\"",
    "phases = [\"first\"]\nmetric = \"discarded_bytes\"\nat_most = \"2 GB\"",
    "phases = [\"none\"]\nat_most = \"1 s\"",
];

fn agree() {
    let mut random = SplitMix64::seed_from_u64(1);
    let mut accepted = 0;
    for _ in 0..PLANS {
        let text = plan(&mut random);
        let place = Place::new();
        fs::write(place.path("plan.toml"), &text).unwrap();
        let of = |words: &[&str]| {
            let mut command = place.command(words);
            command.arg(place.path("plan.toml"));
            command
        };
        let check = of(&["check"]).output().unwrap();
        let mut run = of(&["run", "--runs", "1"]);
        let run = run.arg("--kernel").arg(kernel().as_ref().unwrap()).output().unwrap();
        let both = || format!("{text}\n{}\n{}", shown(&check), shown(&run));
        match check.status.code() {
            Some(0) => {
                accepted += 1;
                // Only a trial tells how much space a filesystem needs itself, and only the kernel
                // what it lacks.
                let said = shown(&run);
                let known = ["No space left on device", ": unavailable: "];
                let is_known = known.iter().any(|cause| said.contains(cause));
                assert!(run.status.success() || is_known, "{}", both());
            }
            Some(2) => {
                assert_eq!(run.status.code(), Some(2), "{}", both());
                assert_eq!(fault(&check), fault(&run), "{}", both());
            }
            _ => panic!("{}", both()),
        }
    }
    assert!((PLANS / 6..PLANS * 5 / 6).contains(&accepted), "{accepted} of {PLANS}");
}

/// What a command says is wrong.
fn fault(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let fault = said.lines().find(|line| line.contains('×'));
    fault.unwrap_or_else(|| panic!("no fault is named: {}", shown(output))).to_owned()
}

fn plan(random: &mut SplitMix64) -> String {
    let mut one_of = |parts: &[&'static str]| {
        let draw = usize::try_from(random.next_u64() % 1000).expect("it is below 1000");
        parts[draw % parts.len()]
    };
    let (filesystem, setting, capacity) =
        (one_of(&FILESYSTEMS), one_of(&SETTINGS), one_of(&CAPACITIES));
    let (first, second, claim) = (one_of(&PHASES), one_of(&PHASES), one_of(&CLAIMS));
    let claim = if claim.is_empty() {
        String::new()
    } else {
        format!("[[claims]]\nid = \"c\"\nsays = \"?\"\ncompare = {{}}\n{claim}\n")
    };
    format!(
        r#"
name = "any"
question = "Is it refused?"
[target]
lab = "virtual"
[factors]
filesystem = "{filesystem}"
{setting}
drive = "x25m-g2"
[virtual]
capacity = "{capacity}"
[workload]
tree = {{ files = 50, size = "1 MB" }}
phases = [
    {{ {first}, name = "first" }},
    {{ {second}, name = "second" }},
]
{claim}"#
    )
}
