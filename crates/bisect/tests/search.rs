//! Searches in small git trees, in which a file says what its revision is like: `good`, `bad`, or
//! anything else for one that cannot be judged.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use ssdlab_bisect::{
    BisectError, Bisection, Checkout, Commit, Ends, Examiner, Finding, History, Outcome, kept,
    remove, search,
};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::GIT_REPOSITORY;
use tempfile::TempDir;

struct Tree {
    folder: TempDir,
    interrupt: Interrupt,
}

impl Tree {
    /// A history of one revision after the other.
    fn of(revisions: &[&str]) -> Self {
        let tree = Self { folder: tempfile::tempdir().unwrap(), interrupt: Interrupt::default() };
        tree.git(&["init", "--quiet", "--initial-branch=main"]);
        revisions.iter().enumerate().for_each(|(number, like)| tree.add(&number.to_string(), like));
        tree
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn add(&self, name: &str, like: &str) {
        fs::write(self.folder().join("like"), format!("{like}\n{name}")).unwrap();
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", name]);
        self.git(&["tag", &format!("r{name}")]);
    }

    fn git(&self, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let mut command = Command::new("git");
        command.arg("-C").arg(self.folder()).args(identity).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for variable in GIT_REPOSITORY {
            command.env_remove(variable);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn history(&self) -> History<'_> {
        History::of(self.folder(), &self.interrupt).unwrap()
    }

    fn ends(&self, good: &str, bad: &str) -> Bisection {
        let commit = |revision| self.history().commit(revision).unwrap();
        Bisection::new(Ends { good: commit(good), bad: commit(bad) })
    }
}

/// Looks at the file in a work tree of its own.
struct Looking<'a> {
    checkout: Checkout<'a>,
    /// The subjects of what was examined.
    examined: Vec<String>,
    /// It is interrupted after so many.
    patience: usize,
    kept: Option<Bisection>,
}

impl<'a> Looking<'a> {
    fn at(history: &'a History<'a>, folder: &Path) -> Self {
        let checkout = Checkout::open(history, folder).unwrap();
        Self { checkout, examined: Vec::new(), patience: usize::MAX, kept: None }
    }
}

impl Examiner for Looking<'_> {
    type Stop = BisectError;

    fn examine(&mut self, commit: &Commit, _: u32) -> Result<Option<Finding>, BisectError> {
        if self.examined.len() == self.patience {
            return Ok(None);
        }
        self.examined.push(commit.subject.clone());
        self.checkout.go_to(&commit.id)?;
        let text = fs::read_to_string(self.checkout.tree().join("like")).unwrap();
        let judged = |holds| Finding::Judged { holds, value: Some(if holds { 1.0 } else { 2.0 }) };
        Ok(Some(match text.lines().next().unwrap() {
            "good" => judged(true),
            "bad" => judged(false),
            other => Finding::Skipped(other.to_owned()),
        }))
    }

    fn keep(&mut self, bisection: &Bisection) -> Result<(), BisectError> {
        self.kept = Some(bisection.clone());
        Ok(())
    }
}

/// Searches, and returns the outcome and what was examined.
fn searched(tree: &Tree, mut bisection: Bisection) -> (Outcome, Vec<String>) {
    let (history, work) = (tree.history(), tempfile::tempdir().unwrap());
    let mut looking = Looking::at(&history, work.path());
    search(&history, &mut bisection, &mut looking).unwrap();
    assert_eq!(looking.kept.as_ref(), Some(&bisection));
    (bisection.outcome.unwrap(), looking.examined)
}

fn found(outcome: Outcome) -> String {
    let Outcome::Found(commit) = outcome else { panic!("{outcome:?}") };
    commit.subject
}

#[test]
fn every_commit_that_flips_a_verdict_is_found() {
    for first_bad in 1..16 {
        let like = |number| if number < first_bad { "good" } else { "bad" };
        let tree = Tree::of(&(0..16).map(like).collect::<Vec<_>>());
        let (outcome, examined) = searched(&tree, tree.ends("r0", "r15"));
        assert_eq!(found(outcome), first_bad.to_string());
        assert_eq!(examined[..2], ["0", "15"], "the ends come first");
        assert!(examined.len() <= 2 + 4, "{examined:?}");
        assert_eq!(examined.iter().collect::<BTreeSet<_>>().len(), examined.len());
    }
}

#[test]
fn the_order_is_that_of_git() {
    let like = |number| if number < 9 { "good" } else { "bad" };
    // One commit halves an even number of them, so that git has no choice.
    let tree = Tree::of(&(0..15).map(like).collect::<Vec<_>>());
    let (_, examined) = searched(&tree, tree.ends("r0", "r14"));
    let first = tree.git(&["rev-list", "--bisect", "r14", "--not", "r0"]);
    let first = tree.git(&["show", "--no-patch", "--format=%s", first.trim()]);
    assert_eq!(examined[2], first.trim());
}

#[test]
fn what_cannot_be_judged_is_skipped() {
    let tree = Tree::of(&["good", "good", "good", "broken", "bad", "bad", "bad"]);
    let (outcome, examined) = searched(&tree, tree.ends("r0", "r6"));
    let Outcome::OneOf(commits) = outcome else { panic!("{outcome:?}") };
    let subjects: Vec<&str> = commits.iter().map(|commit| &*commit.subject).collect();
    assert_eq!(subjects, ["4", "3"]);
    assert!(examined.contains(&"3".to_owned()));
    // Elsewhere a skip costs a step, and the commit is found all the same.
    let tree = Tree::of(&["good", "good", "good", "broken", "good", "bad", "bad"]);
    assert_eq!(found(searched(&tree, tree.ends("r0", "r6")).0), "5");
}

#[test]
fn a_search_goes_on_where_it_was() {
    let like = |number| if number < 11 { "good" } else { "bad" };
    let tree = Tree::of(&(0..16).map(like).collect::<Vec<_>>());
    let (whole, all) = searched(&tree, tree.ends("r0", "r15"));
    let (history, work) = (tree.history(), tempfile::tempdir().unwrap());
    let mut bisection = tree.ends("r0", "r15");
    let mut examined = Vec::new();
    while bisection.outcome.is_none() {
        let mut looking = Looking { patience: 1, ..Looking::at(&history, work.path()) };
        search(&history, &mut bisection, &mut looking).unwrap();
        examined.append(&mut looking.examined);
        // The next session only has what was kept.
        bisection = looking.kept.unwrap();
    }
    assert_eq!((bisection.outcome.unwrap(), examined), (whole, all));
}

#[test]
fn without_a_difference_nothing_else_is_examined() {
    let tree = Tree::of(&["good", "bad", "bad", "good"]);
    assert_eq!(searched(&tree, tree.ends("r0", "r3")).0, Outcome::Alike);
    assert_eq!(searched(&tree, tree.ends("r0", "r3")).1, ["0", "3"]);
}

#[test]
fn an_end_that_cannot_be_judged_ends_the_search() {
    let tree = Tree::of(&["good", "good", "bad", "it does not build"]);
    let (outcome, examined) = searched(&tree, tree.ends("r0", "r3"));
    let end = tree.history().commit("r3").unwrap();
    let unjudged = Outcome::Unjudged(end, "it does not build".to_owned());
    assert_eq!((&outcome, examined), (&unjudged, vec!["0".to_owned(), "3".to_owned()]));
    // The next session tries it again, and nothing else.
    let mut bisection = tree.ends("r0", "r3");
    let (history, work) = (tree.history(), tempfile::tempdir().unwrap());
    let mut looking = Looking::at(&history, work.path());
    search(&history, &mut bisection, &mut looking).unwrap();
    let mut bisection = bisection.resumed();
    search(&history, &mut bisection, &mut looking).unwrap();
    assert_eq!(looking.examined, ["0", "3", "3"]);
    assert_eq!(bisection.outcome, Some(unjudged));
}

#[test]
fn a_claim_may_also_become_true() {
    let tree = Tree::of(&["bad", "bad", "bad", "good", "good"]);
    assert_eq!(found(searched(&tree, tree.ends("r0", "r4")).0), "3");
}

#[test]
fn a_commit_of_a_merged_branch_is_found() {
    let tree = Tree::of(&["good", "good"]);
    tree.git(&["checkout", "--quiet", "-b", "side"]);
    for name in ["s1", "s2"] {
        fs::write(tree.folder().join(name), name).unwrap();
        tree.git(&["add", "--all"]);
        tree.git(&["commit", "--quiet", "--message", name]);
    }
    tree.add("culprit", "bad");
    tree.git(&["checkout", "--quiet", "main"]);
    fs::write(tree.folder().join("other"), "other").unwrap();
    tree.git(&["add", "--all"]);
    tree.git(&["commit", "--quiet", "--message", "other"]);
    tree.git(&["merge", "--quiet", "--no-ff", "--message", "merge", "side"]);
    assert_eq!(found(searched(&tree, tree.ends("r0", "main")).0), "culprit");
}

#[test]
fn the_tree_of_the_user_stays_as_it_is() {
    let tree = Tree::of(&["good", "bad", "bad"]);
    fs::write(tree.folder().join("like"), "being edited").unwrap();
    let state = || {
        let refs = tree.git(&["for-each-ref"]);
        (tree.git(&["status", "--porcelain"]), refs, tree.git(&["worktree", "list"]))
    };
    let before = state();
    assert_eq!(found(searched(&tree, tree.ends("r0", "r2")).0), "1");
    assert_eq!(state(), before);
    assert_eq!(fs::read_to_string(tree.folder().join("like")).unwrap(), "being edited");
}

#[test]
fn a_work_tree_is_exactly_that_of_its_commit() {
    let tree = Tree::of(&["good"]);
    fs::write(tree.folder().join("header.h"), "1").unwrap();
    tree.add("1", "good");
    fs::remove_file(tree.folder().join("header.h")).unwrap();
    tree.add("2", "good");
    let (history, place) = (tree.history(), tempfile::tempdir().unwrap());
    let work = place.path().join("work");
    let checkout = Checkout::open(&history, &work).unwrap();
    let [with, without] = ["r1", "r2"].map(|revision| history.commit(revision).unwrap());
    let header = checkout.tree().join("header.h");
    checkout.go_to(&with).unwrap();
    let like = fs::metadata(checkout.tree().join("like")).unwrap();
    assert!(header.exists());
    checkout.go_to(&with).unwrap();
    let again = fs::metadata(checkout.tree().join("like")).unwrap();
    assert_eq!(like.modified().unwrap(), again.modified().unwrap(), "what is the same stays");
    // A git that was killed has left its lock, and something untracked.
    fs::write(checkout.tree().join(".git/index.lock"), "").unwrap();
    fs::write(checkout.tree().join("stray.o"), "").unwrap();
    checkout.go_to(&without).unwrap();
    assert!(!header.exists() && !checkout.tree().join("stray.o").exists());
    assert_eq!(history.lacks(&without, &with).unwrap(), [Path::new("header.h")]);
    // A second session takes the same one, but not at the same time.
    let second = Checkout::open(&history, &work).map(|_| ());
    assert!(matches!(second, Err(BisectError::Busy { .. })));
    let [kept] = &kept(place.path()).unwrap()[..] else { panic!("one folder") };
    assert!(kept.is_in_use && kept.path == work && kept.size_bytes > 0);
    drop(checkout);
    Checkout::open(&history, &work).unwrap().go_to(&with).unwrap();
    assert!(header.exists());
    remove(&work).unwrap();
    assert!(!work.exists());
}

#[test]
fn a_folder_that_others_could_replace_is_neither_searched_in_nor_removed() {
    let (tree, place) = (Tree::of(&["good"]), tempfile::tempdir().unwrap());
    let (history, above) = (tree.history(), place.path().canonicalize().unwrap().join("cache"));
    let work = above.join("work");
    Checkout::open(&history, &work).unwrap();
    fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).unwrap();
    // A link that they put there, too.
    let (link, theirs) = (above.join("link"), place.path().join("theirs"));
    fs::create_dir_all(theirs.join("tree")).unwrap();
    symlink(&theirs, &link).unwrap();
    for (folder, exposed_at) in [(&work, &above), (&link, &link)] {
        for refused in [Checkout::open(&history, folder).map(|_| ()), remove(folder)] {
            let Err(BisectError::Exposed { exposed, .. }) = refused else { panic!("{refused:?}") };
            assert_eq!(&exposed.path, exposed_at);
        }
    }
    assert!(work.join("tree").exists() && theirs.join("tree").exists());
}

#[test]
fn what_an_interrupted_removal_left_does_not_count() {
    let (tree, place) = (Tree::of(&["good"]), tempfile::tempdir().unwrap());
    let (history, work) = (tree.history(), place.path().canonicalize().unwrap().join("work"));
    for name in ["tree.part/half", "output/half"] {
        fs::create_dir_all(work.join(name)).unwrap();
    }
    fs::write(work.join("copied"), "").unwrap();
    let checkout = Checkout::open(&history, &work).unwrap();
    let names = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<BTreeSet<_>>(), ["lock", "tree"].map(Into::into).into());
    drop(checkout);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let tree = Tree::of(&["good", "bad"]);
    let history = tree.history();
    let [old, new] = ["r0", "r1"].map(|revision| history.commit(revision).unwrap());
    history.check_leads(&old, &new).unwrap();
    let help = |good: &str, bad: &str| match history.check_leads(good, bad) {
        Err(BisectError::Unrelated { help, .. }) => help,
        other => panic!("{other:?}"),
    };
    assert!(help(&new, &old).contains("the other way round"));
    assert!(help(&new, &new).contains("two revisions"));
    tree.git(&["checkout", "--quiet", "-b", "side", "r0"]);
    tree.add("side", "bad");
    let side = history.commit("side").unwrap();
    assert!(help(&side, &new).ends_with(&format!("--good {old}")));
    tree.git(&["checkout", "--quiet", "--orphan", "alone"]);
    tree.add("alone", "bad");
    assert!(help(&history.commit("alone").unwrap(), &new).contains("one history"));
    for revision in ["r9", "--help", "r0:like"] {
        let refused = history.commit(revision);
        assert!(matches!(refused, Err(BisectError::NoRevision { .. })), "{refused:?}");
    }
    let no_tree = tempfile::tempdir().unwrap();
    let refused = History::of(no_tree.path(), &tree.interrupt).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("is not a git tree"), "{refused}");
}

#[test]
fn a_worktree_and_a_folder_of_a_tree_will_do() {
    let tree = Tree::of(&["good", "bad"]);
    fs::create_dir(tree.folder().join("fs")).unwrap();
    let other = tempfile::tempdir().unwrap();
    let worktree = other.path().join("worktree");
    tree.git(&["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap(), "r0"]);
    for folder in [worktree, tree.folder().join("fs")] {
        let history = History::of(&folder, &tree.interrupt).unwrap();
        let work = tempfile::tempdir().unwrap();
        let checkout = Checkout::open(&history, work.path()).unwrap();
        checkout.go_to(&history.commit("r1").unwrap()).unwrap();
        assert!(checkout.tree().join("like").exists());
    }
}
