//! What `ssdlab check` says of work of nothing.

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
    ] {
        let phase = format!("{{ do = \"{verb}\", {verb} = {{ {work} }} }}");
        let said = place.wrong(&format!("{HEAD}[workload]\nphases = [{phase}]\n"));
        assert!(said.contains(message), "{phase}\n{said}");
    }
}
