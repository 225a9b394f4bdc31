//! What `ssdlab check` says of work of nothing, and of what this machine lacks.

use std::fs;

use serde_json::Value;

use super::{HEAD, Place};

#[test]
fn work_of_nothing_is_refused() {
    let place = Place::new();
    let tree = |table: &str, verb: &str| {
        format!("{HEAD}[workload]\n{table}\nphases = [{{ do = \"{verb}\" }}]\n")
    };
    for (table, verb) in [("tree", "unpack"), ("build", "clone")] {
        let said = place.wrong(&tree(&format!("{table} = {{ files = 0 }}"), verb));
        assert!(said.contains("a tree of 0 files, where 1 to"), "{table}\n{said}");
    }
    place.right(&tree("tree = { size = 0 }", "unpack"));
    for (verb, work, message) in [
        ("io", "size = \"1 MiB\", operations = 0", "more than 0"),
        ("transactions", "number = 0", "more than 0"),
        ("append", "records = 0", "1 to 1000000 records"),
        ("replace", "files = 1, rounds = 0, sync = \"file\"", "1 to 1000000 replacements"),
        ("sequences", "operations = 0", "1 or 2 operations"),
        ("sequences", "operations = 3", "1 or 2 operations"),
        ("database", "commits = 0", "1 to 1000000 commits"),
        ("database", "commits = 1, checkpoint_every = 0", "at least 1"),
    ] {
        let phase = format!("{{ do = \"{verb}\", {verb} = {{ {work} }} }}");
        let said = place.wrong(&format!("{HEAD}[workload]\nphases = [{phase}]\n"));
        assert!(said.contains(message), "{phase}\n{said}");
    }
}

#[test]
fn a_database_has_pages_that_fit_and_is_the_only_one_of_its_kind() {
    let place = Place::new();
    let phases = |phases: &str| format!("{HEAD}[workload]\nphases = [{phases}]\n");
    for (work, message) in [
        ("page = \"5 KiB\"", "a power of two"),
        ("page = 0", "a power of two"),
        ("page = \"128 KiB\"", "a power of two"),
        ("pages = 0", "from 1 to a quarter"),
        ("size = \"120 KiB\"", "from 1 to a quarter"),
        ("size = \"5 GiB\"", "4 GiB"),
        ("pages = 2000, checkpoint_every = 4000000000", "4 GiB"),
        ("torn_pages = \"glue\"", "unknown variant"),
    ] {
        let phase = format!("{{ do = \"database\", database = {{ commits = 1, {work} }} }}");
        let said = place.wrong(&phases(&phase));
        assert!(said.contains(message), "{phase}\n{said}");
    }
    let twice = "{ do = \"database\", database = { commits = 1 } }, \
                 { do = \"database\", name = \"again\", database = { commits = 2 } }";
    assert!(place.wrong(&phases(twice)).contains("already has these files"));
    let other = twice.replace("commits = 2", "commits = 2, torn_pages = \"nothing\"");
    place.right(&phases(&other));
}

/// It may exist where the plan will run, so the plan is not at fault.
#[test]
fn what_a_plan_needs_and_this_machine_lacks_is_named() {
    let place = Place::new();
    let phases = "[workload]\nphases = [{ do = \"replay\", log = \"none.log\" }]\n";
    fs::write(place.0.path().join("replay.toml"), format!("{HEAD}{phases}")).unwrap();
    let cases: [(&[&str], &str); 5] = [
        (&["replay.toml"], "the file"),
        (&["discard", "--source", "none.log"], "the file"),
        (&["discard", "--device", "none.log"], "the device"),
        (&["discard", "--lab", "image", "--dir", "none.log"], "the directory"),
        (&["discard", "--lab", "directory", "--dir", "none.log"], "the directory"),
    ];
    for (arguments, what) in cases {
        let output = place.ssdlab(&[&["check", "--json"][..], arguments].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        let is_named = told.starts_with(&format!("note: {what} ")) && told.contains("none.log: No");
        assert!(output.status.success() && is_named, "{arguments:?}: {told}");
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{arguments:?}");
    }
    assert!(place.ssdlab(&["check", "discard"]).stderr.is_empty());
}

/// NEWCOMER.md, B7: five minutes of writes for a plan of which nothing can be compared there.
#[test]
fn a_directory_in_which_nothing_can_be_compared_is_refused_before_anything_is_written() {
    let place = Place::new();
    fs::create_dir(place.0.path().join("work")).unwrap();
    for does in ["check", "run"] {
        let plan = [does, "discard", "--lab", "directory", "--dir", "work"];
        let output = place.ssdlab(&[&plan[..], &["--set", "filesystem=any"]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{does}: {told}");
        assert!(told.contains("2 of 3 treatments cannot run in"), "{does}: {told}");
        assert!(told.contains("fstrim would trim the whole filesystem"), "{does}: {told}");
    }
    assert_eq!(fs::read_dir(place.0.path().join("work")).unwrap().count(), 0);
    // What runs by itself, and what can be compared, is not refused.
    for level in ["off", "on"] {
        let plan = ["check", "discard", "--lab", "directory", "--dir", "work"];
        let sets = ["--set", "filesystem=any", "--set"];
        let set = format!("discard={level}");
        let output = place.ssdlab(&[&plan[..], &sets[..], &[set.as_str()]].concat());
        assert!(output.status.success(), "{level}");
    }
}

/// The case `check-ignores-rate`: 59.8 GB were announced for 12 trials that write 72 MB each.
#[test]
fn case_check_ignores_rate_a_rate_is_counted_in_what_is_written() {
    let place = Place::new();
    let phases = "[workload]\nphases = [{ do = \"io\", io = { size = \"64 MiB\", \
                  sync = \"every 1 write\", rate = \"10/s\", time = \"2 min\" } }]\n";
    fs::write(place.0.path().join("plan.toml"), format!("{HEAD}{phases}")).unwrap();
    let check = |keys: &str, without: &str| {
        let text = fs::read_to_string(place.0.path().join("plan.toml")).unwrap();
        fs::write(place.0.path().join("plan.toml"), text.replace(without, keys)).unwrap();
        let output = place.ssdlab(&["check", "plan.toml", "--runs", "12"]);
        String::from_utf8(output.stdout).unwrap()
    };
    let says = check("", "nothing");
    assert!(says.contains("writes: about 864 MB by the workload"), "{says}");
    let says = check("", "rate = \"10/s\", ");
    assert!(says.contains("what `io` can write until the time is over"), "{says}");
}

/// Without files that only the machine of the run has, a fault of a file is the plan's.
#[test]
fn a_file_that_is_here_is_read() {
    let place = Place::new();
    let phases = "[workload]\nphases = [{ do = \"replay\", log = \"it.log\" }]\n";
    fs::write(place.0.path().join("replay.toml"), format!("{HEAD}{phases}")).unwrap();
    fs::write(place.0.path().join("it.log"), "no operations\n").unwrap();
    let output = place.ssdlab(&["check", "replay.toml"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("it.log"), "{told}");
}
