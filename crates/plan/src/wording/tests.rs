use std::path::Path;

use crate::{Overrides, Schedule, parse, schedule, shipped};

fn set(text: &str, set: &[&str]) -> Schedule {
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    schedule("plan.toml", text, &Overrides { set, ..Overrides::default() }, Path::new("/")).unwrap()
}

#[test]
fn discard_with_filesystem_xfs_set_asks_about_xfs_and_not_about_ext4() {
    let plan = shipped::find("discard").unwrap().text;
    let own = parse("", plan).unwrap().own_question();
    assert!(own.starts_with("Does ext4's discard option"), "{own}");
    assert_eq!(set(plan, &[]).question, own);
    let other = set(plan, &["filesystem=xfs"]).0.question;
    assert_eq!(other, own.replace("ext4", "xfs"));
}

#[test]
fn a_question_that_names_a_level_says_what_is_set_instead() {
    let text = "name = \"own\"\nquestion = \"Is ext4 slow with {discard} and {x}?\"\n\
                [factors]\nfilesystem = \"ext4\"\ndiscard = [\"off\", \"on\"]\n\
                [baseline]\ndiscard = \"off\"\n[workload]\nphases = [{ do = \"unpack\" }]\n\
                [[claims]]\nid = \"slow\"\nsays = \"{filesystem} is\"\nphases = [\"unpack\"]\n\
                compare = { discard = \"on\" }\nat_least = 2\nif_holds = \"Leave {filesystem}\"\n";
    assert_eq!(set(text, &[]).question, "Is ext4 slow with off and on and {x}?");
    let other = set(text, &["filesystem=xfs,btrfs"]);
    assert_eq!(
        other.question,
        "Is ext4 slow with off and on and {x}? (here: filesystem = xfs, btrfs)"
    );
    let claim = &other.claims[0];
    assert_eq!(claim.says, "xfs and btrfs is");
    assert_eq!(claim.if_holds.as_deref(), Some("Leave xfs and btrfs"));
    // One of several that a question names may be left out, and others added.
    assert!(set(text, &["filesystem=ext4,xfs"]).question.ends_with("{x}?"));
}
