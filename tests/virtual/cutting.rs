//! Power cuts lose data if they must, and do not if they must not.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 14] = [
    ("a_drive_that_ignores_flushes_breaks_promises_twice_alike", ignored),
    ("a_drive_that_ignores_flushes_breaks_promises_on_every_filesystem", ignored_anywhere),
    ("a_journal_of_data_keeps_what_ordered_data_keeps", journalled),
    ("nobarrier_breaks_promises_unless_the_drive_has_capacitors", nobarrier),
    ("ext2_needs_its_check_and_ext3_does_not", unchecked),
    ("a_rename_without_a_sync_empties_files_where_ext4_is_told_so", renamed),
    ("default_mounts_keep_what_was_synced", honest),
    ("a_database_is_recovered_unless_its_drive_ignores_flushes", recovered),
    ("pages_are_torn_in_place_and_not_where_writes_are_copied", torn),
    ("a_lost_map_costs_what_was_synced", faulty),
    ("cuts_fall_at_events_or_at_random_moments_where_the_plan_says_so", placed),
    ("short_sequences_are_kept_with_a_journal_and_not_without", sequences),
    ("f2fs_forgets_the_first_sync_after_mounting", forgetful),
    ("a_terminal_shows_how_many_states_are_recovered", shown_on_a_terminal),
];

/// Records that are synced in groups of five, and files that are replaced and synced.
const SYNCED: &str = r#"
    { do = "append", append = { records = 60, sync_every = 5, think = "20 ms" } },
    { do = "replace", replace = { files = 5, rounds = 8, sync = "file and directory" } },
"#;

/// The outcomes of a number of cuts of each treatment, by the levels of the only varied factor.
fn cut(number: u32, factor: &str, factors: &str, phases: &str) -> Vec<(String, Vec<Value>)> {
    cut_as(&format!("number = {number}"), factor, factors, phases)
}

/// The same, with more to say of the cuts than their number.
fn cut_as(cuts: &str, factor: &str, factors: &str, phases: &str) -> Vec<(String, Vec<Value>)> {
    let plan = format!(
        r#"
        name = "cuts"
        question = "What is gone?"
        target = {{ lab = "virtual" }}
        cuts = {{ {cuts} }}
        workload = {{ phases = [{phases}] }}
        [factors]
        drive = "x25m-g2"
        {factors}
        "#
    );
    let place = Place::new();
    let json = place.run(&plan);
    for treatment in json["treatments"].as_array().unwrap() {
        assert_eq!(treatment["status"], "ok", "{}: {}", treatment["levels"], treatment["reason"]);
    }
    let run = fs::read_dir(place.path("data/ssdlab")).unwrap().next().unwrap().unwrap();
    let records = fs::read_to_string(run.path().join("records.jsonl")).unwrap();
    let mut found: Vec<(String, Vec<Value>)> = records
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let level = record["levels"][factor].as_str().unwrap().to_owned();
            (level, record["cuts"].as_array().unwrap().clone())
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// Cuts that lost something that was promised, or everything.
fn broken(cuts: &[Value]) -> Vec<&Value> {
    let breaks = |cut: &&Value| {
        !cut["unmountable"].is_null() || cut["verdict"]["broken_promises"].as_u64() > Some(0)
    };
    cuts.iter().filter(breaks).collect()
}

fn ignored() {
    let factors = "filesystem = \"ext4\"\nflush = [\"honest\", \"ignored\"]";
    let run = || cut(20, "flush", factors, SYNCED);
    let first = run();
    let [(_, honest), (_, ignored)] = &first[..] else { panic!("{first:?}") };
    assert!(broken(honest).is_empty(), "{:?}", broken(honest));
    assert!(broken(ignored).len() > 3, "{ignored:?}");
    assert_eq!(run(), first);
}

fn ignored_anywhere() {
    let filesystems =
        [("btrfs", 1), ("ext2", 3), ("ext3", 3), ("f2fs", 3), ("nilfs2", 3), ("xfs", 3)];
    let factors = format!(
        "flush = \"ignored\"\nfilesystem = {:?}",
        filesystems.map(|(filesystem, _)| filesystem)
    );
    let found = cut(20, "filesystem", &factors, SYNCED);
    assert_eq!(found.len(), filesystems.len());
    for ((level, cuts), (filesystem, least)) in found.iter().zip(filesystems) {
        assert_eq!(level, filesystem);
        assert!(broken(cuts).len() >= least, "{filesystem}: {cuts:?}");
    }
}

/// The same cuts, by their number: the journal makes requests of its own, so that their moments
/// differ.
fn journalled() {
    let phases = r#"
        { do = "append", append = { records = 60, sync_every = 5, think = "20 ms" } },
        { do = "replace", replace = { files = 10, rounds = 20 } },
    "#;
    let factors = "filesystem = \"ext4\"\nmount = [\"data=journal\", \"data=ordered\"]";
    let lost = |cuts: &[Value]| -> usize {
        let damaged = |cut: &&Value| {
            let kinds = cut["verdict"]["damaged"].as_object();
            kinds.is_some_and(|kinds| kinds.values().any(|files| files.as_u64() > Some(0)))
        };
        broken(cuts).len() + cuts.iter().filter(damaged).count()
    };
    let found = cut(40, "mount", factors, phases);
    let [(_, journal), (_, ordered)] = &found[..] else { panic!("{found:?}") };
    assert!(lost(journal) <= lost(ordered), "{journal:?}");
    assert!(broken(journal).is_empty(), "{:?}", broken(journal));
}

fn recovered() {
    let factors = "filesystem = \"ext4\"\nflush = [\"honest\", \"ignored\"]";
    let phases = ["full pages", "double write"].map(|kind| {
        let work = "size = \"1 MiB\", commits = 40, checkpoint_every = 4";
        let database = format!("{{ {work}, torn_pages = \"{kind}\" }}");
        format!("{{ do = \"database\", name = \"{kind}\", database = {database} }}")
    });
    let found = cut(30, "flush", factors, &phases.join(", "));
    let [(_, honest), (_, ignored)] = &found[..] else { panic!("{found:?}") };
    assert!(broken(honest).is_empty(), "{:?}", broken(honest));
    assert!(broken(ignored).len() > 3, "{ignored:?}");
}

fn torn() {
    let work = "size = \"4 MiB\", pages = 64, commits = 16, checkpoint_every = 4, think = \"1 us\"";
    let database = format!("{{ {work}, torn_pages = \"nothing\" }}");
    let phase = format!("{{ do = \"database\", database = {database} }}");
    let found = cut(40, "filesystem", "filesystem = [\"btrfs\", \"ext4\"]", &phase);
    let [(_, btrfs), (_, ext4)] = &found[..] else { panic!("{found:?}") };
    let is_torn = |cut: &&Value| cut["verdict"]["damaged"]["torn"].as_u64() > Some(0);
    assert!(ext4.iter().filter(is_torn).count() > 1, "{ext4:?}");
    assert!(broken(btrfs).is_empty(), "{:?}", broken(btrfs));
}

fn nobarrier() {
    let factors = "filesystem = \"ext4\"\nmount = \"nobarrier\"\n\
                   power_loss_protection = [\"off\", \"on\"]";
    let found = cut(20, "power_loss_protection", factors, SYNCED);
    let [(_, off), (_, on)] = &found[..] else { panic!("{found:?}") };
    assert!(broken(off).len() > 3, "{off:?}");
    assert!(broken(on).is_empty(), "{:?}", broken(on));
}

fn unchecked() {
    let found = cut(12, "filesystem", "filesystem = [\"ext2\", \"ext3\"]", SYNCED);
    let amiss = |cuts: &[Value]| cuts.iter().filter(|cut| !cut["amiss"].is_null()).count();
    let [(_, ext2), (_, ext3)] = &found[..] else { panic!("{found:?}") };
    assert!(amiss(ext2) > 3, "{ext2:?}");
    assert_eq!(amiss(ext3), 0, "{ext3:?}");
}

fn renamed() {
    let factors = "filesystem = \"ext4\"\nmount = [\"defaults\", \"noauto_da_alloc\"]";
    let phases = "{ do = \"replace\", replace = { files = 10, rounds = 20 } }";
    let found = cut(20, "mount", factors, phases);
    let empty = |cuts: &[Value]| -> u64 {
        cuts.iter().filter_map(|cut| cut["verdict"]["damaged"]["empty"].as_u64()).sum()
    };
    let [(_, defaults), (_, noauto)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(empty(defaults), 0, "{defaults:?}");
    assert!(empty(noauto) > 10, "{noauto:?}");
}

fn honest() {
    let factors = "filesystem = [\"ext4\", \"xfs\", \"btrfs\"]";
    for (filesystem, cuts) in cut(40, "filesystem", factors, SYNCED) {
        assert_eq!(cuts.len(), 40, "{filesystem}");
        assert!(broken(&cuts).is_empty(), "{filesystem}: {:?}", broken(&cuts));
        // The log of xfs is where the last changes are, and trees of btrfs are whole at any time.
        let repaired = cuts.iter().filter(|cut| !cut["checked_before"]["amiss"].is_null()).count();
        match &*filesystem {
            "xfs" => assert!(repaired > 20, "{cuts:?}"),
            "btrfs" => assert_eq!(repaired, 0, "{cuts:?}"),
            _ => {}
        }
    }
}

fn faulty() {
    let factors = "filesystem = \"ext4\"\npower_fault = [\"lost map\", \"none\"]";
    let found = cut(120, "power_fault", factors, SYNCED);
    let [(_, lost), (_, none)] = &found[..] else { panic!("{found:?}") };
    // One in eight, where most of what was synced lies in few blocks.
    assert!((1..=36).contains(&broken(lost).len()), "{lost:?}");
    assert!(broken(none).is_empty(), "{:?}", broken(none));
}

fn placed() {
    for (place, moment) in [("events", "event"), ("random", "random")] {
        let cuts = format!("number = 12, where = \"{place}\"");
        let found = cut_as(&cuts, "filesystem", "filesystem = [\"ext4\"]", SYNCED);
        let [(_, cuts)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(cuts.len(), 12);
        assert!(cuts.iter().all(|cut| cut["moment"] == moment), "{cuts:?}");
    }
}

fn sequences() {
    let phases = "{ do = \"sequences\", sequences = { operations = 1 } }";
    let cuts = "number = 24, where = \"events\"";
    let found = cut_as(cuts, "filesystem", "filesystem = [\"ext2\", \"ext4\"]", phases);
    let [(_, ext2), (_, ext4)] = &found[..] else { panic!("{found:?}") };
    assert!(broken(ext2).len() > 3, "{ext2:?}");
    assert!(broken(ext4).is_empty(), "{:?}", broken(ext4));
}

/// The first `fsync` after mounting, or after a checkpoint, does not wait for the inode's block
/// before it flushes: the number of its page in the list of what to wait for is 0, which
/// `f2fs_wait_on_node_pages_writeback` (fs/f2fs/node.c, Linux 6.1) takes for none. So its data is
/// only safe from the next flush on.
fn forgetful() {
    let phases = "{ do = \"append\", append = { records = 15, sync_every = 5 } }";
    let found = cut(30, "filesystem", "filesystem = [\"f2fs\"]", phases);
    let [(_, cuts)] = &found[..] else { panic!("{found:?}") };
    let at: Vec<u64> = broken(cuts).iter().map(|cut| cut["at_ns"].as_u64().unwrap()).collect();
    // Records come every 100 ms, so syncs every 500 ms.
    let (Some(first), Some(last)) = (at.first(), at.last()) else { panic!("{cuts:?}") };
    assert!(last - first < 600_000_000, "{at:?}");
}

/// Recoveries may take minutes, after the last phase.
fn shown_on_a_terminal() {
    let place = Place::new();
    let (plan, kernel) = (place.path("plan.toml"), kernel().as_ref().unwrap());
    let text = format!(
        "name = \"shown\"\nquestion = \"?\"\ntarget = {{ lab = \"virtual\" }}\n\
         cuts = {{ number = 8 }}\nworkload = {{ phases = [{SYNCED}] }}\n\
         [factors]\nfilesystem = \"ext4\"\n"
    );
    fs::write(&plan, text).unwrap();
    let [plan, kernel] = [&plan, kernel].map(|path| path.to_str().unwrap());
    let run = place.command(&["run", plan, "--runs", "1", "--kernel", kernel]);
    let words = [run.get_program()].into_iter().chain(run.get_args());
    let words: Vec<&str> = words.map(|word| word.to_str().unwrap()).collect();
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .arg(format!("stty columns 200 && {}", words.join(" ")))
        .arg("/dev/null")
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let terminal = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<(u32, u32)> = terminal
        .split("power cuts, ")
        .skip(1)
        .filter_map(|rest| rest.split_once(" states recovered")?.0.split_once(" of "))
        .filter_map(|(recovered, states)| Some((recovered.parse().ok()?, states.parse().ok()?)))
        .collect();
    let Some((_, states)) = counts.first() else { panic!("no count in {terminal}") };
    assert!((2..=8).contains(states), "{counts:?}");
    let grows = counts.is_sorted() && counts.iter().all(|(recovered, of)| recovered <= of);
    assert!(grows && counts.iter().all(|(_, of)| of == states), "{counts:?}");
}
