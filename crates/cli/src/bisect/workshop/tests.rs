use std::process::Command;

use ssdlab_host::program::GIT_REPOSITORY;
use tempfile::TempDir;

use super::*;

/// A tree of three revisions: `a.c`; also `a.h`; `a.c` again.
fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let mut command = Command::new("git");
        command.arg("-C").arg(folder.path()).args(identity).args(arguments);
        // The user's configuration may sign commits, the caller's environment name a repository.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for variable in GIT_REPOSITORY {
            command.env_remove(variable);
        }
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    fs::write(folder.path().join("a.c"), "").unwrap();
    for (tag, header) in [("first", false), ("second", true), ("third", false)] {
        let path = folder.path().join("a.h");
        if header { fs::write(path, "") } else { if_there(fs::remove_file(path)).map(drop) }
            .unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", tag]);
        git(&["tag", tag]);
    }
    folder
}

/// What the copy of a revision has, by its last file names, after what was copied before was the
/// commit `before`.
fn left(before: Option<&str>) -> Vec<bool> {
    let (tree, folder, interrupt) = (tree(), tempfile::tempdir().unwrap(), Interrupt::default());
    let history = History::of(tree.path(), &interrupt).unwrap();
    let checkout = Checkout::open(&history, folder.path()).unwrap();
    let workshop = Workshop { history: &history, checkout, interrupt: &interrupt };
    let copy = folder.path().join("output/tree");
    fs::create_dir_all(&copy).unwrap();
    for name in ["a.c", "a.o", "a.h"] {
        fs::write(copy.join(name), "").unwrap();
    }
    if let Some(before) = before {
        let commit = history.commit(before).unwrap_or_else(|_| before.to_owned());
        fs::write(folder.path().join(COPIED), commit).unwrap();
    }
    workshop.remove_old(&history.commit("third").unwrap()).unwrap();
    ["a.c", "a.o", "a.h"].iter().map(|name| copy.join(name).exists()).collect()
}

#[test]
fn what_a_revision_lacks_is_removed_and_what_was_compiled_stays() {
    assert_eq!(left(Some("second")), [true, true, false]);
}

#[test]
fn a_copy_that_may_be_cut_off_is_made_anew() {
    assert_eq!(left(None), [false, false, false]);
    let lost = "0123456789012345678901234567890123456789";
    assert_eq!(left(Some(lost)), [false, false, false]);
}
