use ssdlab_plan::Overrides;

use super::*;

fn schedule(lab: LabKind, rest: &str, runs: u32) -> Schedule {
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n[factors]\ndiscard = [\"off\", \"on\"]\n{rest}\n\
             [baseline]\ndiscard = \"off\"\n[workload]\nphases = [{{ do = \"sync\" }}]\n"
    );
    let overrides = Overrides { lab: Some(lab), runs: Some(runs), ..Overrides::default() };
    plan::schedule("p.toml", &plan, &overrides, Path::new("/")).unwrap()
}

fn of(schedule: &Schedule, nodes: usize) -> Vec<Submission> {
    submissions(schedule, &schedule.trials, &Homes::new(), false, nodes)
}

#[test]
fn a_block_on_a_wall_clock_shares_a_node_as_far_as_its_treatments_may() {
    let one = of(&schedule(LabKind::Image, "", 3), 2);
    assert_eq!(one.len(), 1);
    let sizes: Vec<usize> = one[0].elements.iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 2, 2]);
    let rest = "node_feature = [\"ssd=a\", \"ssd=b\"]";
    let two = of(&schedule(LabKind::Image, rest, 3), 2);
    assert_eq!(two.len(), 2);
    assert!(two.iter().all(|one| one.elements.len() == 3 && one.features.len() == 1));
    let mut trials = two.iter().flat_map(|one| one.elements.iter().flatten());
    assert!(trials.all(|trial| trial.block < 3));
}

#[test]
fn virtual_trials_are_packed_and_spread_over_nodes() {
    let schedule = schedule(LabKind::Virtual, "", 10_000);
    let all = of(&schedule, 2);
    let sizes: Vec<usize> = all.iter().flat_map(|one| &one.elements).map(Vec::len).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 20_000);
    // An empty trial takes a second.
    assert!(sizes.len() <= MOST_ELEMENTS && sizes[0] >= 20, "{}", sizes.len());
    let longest = sizes.iter().max().unwrap();
    assert!(sizes.len().is_multiple_of(2) && sizes.iter().all(|size| size + 1 >= *longest));
    // Even a few short trials are spread over all nodes.
    let few = submissions(&schedule, &schedule.trials[..6], &Homes::new(), false, 3);
    assert_eq!(few[0].elements.len(), 3);
    // They do not all fit into the script of one job.
    let staged = submissions(&schedule, &schedule.trials, &Homes::new(), true, 2);
    assert!(staged.len() > 3);
    assert_eq!(staged.iter().flat_map(|one| one.elements.iter().flatten()).count(), 20_000);
}

#[test]
fn a_block_that_was_begun_is_completed_where_it_began() {
    let schedule = schedule(LabKind::Image, "", 3);
    let homes = Homes::from([((1, BTreeSet::new()), "node7".to_owned())]);
    let all = submissions(&schedule, &schedule.trials[1..], &homes, false, 2);
    let nodes: Vec<_> = all.iter().map(|one| one.node.as_deref()).collect();
    assert_eq!(nodes, [None, Some("node7")]);
    assert!(all[1].elements.iter().flatten().all(|trial| trial.block == 1));
}

#[test]
fn a_node_that_has_something_else_is_told_what() {
    let input = |hash: &str| BTreeMap::from([(PathBuf::from("/a.tar"), hash.to_owned())]);
    let meant = Expected { inputs: input("1"), ..Expected::default() };
    assert_eq!(meant.differs_from(&meant), None);
    let other = Expected { kernel: Some("ab".to_owned()), ..meant.clone() };
    let says = meant.differs_from(&other).unwrap();
    assert_eq!(says, "the lab kernel: here ab, submitted from none");
    let other = Expected { inputs: input("2"), ..Expected::default() };
    assert_eq!(meant.differs_from(&other).unwrap(), "/a.tar: it has other contents");
}

#[test]
fn a_submission_is_written_whole_or_not_at_all() {
    let place = tempfile::tempdir().unwrap();
    let submission = Submission { staged: Some("/x".into()), ..Submission::default() };
    assert!(submission.write(place.path(), "a").is_err());
    fs::create_dir(place.path().join(ATTEMPTS)).unwrap();
    submission.write(place.path(), "a").unwrap();
    assert_eq!(fs::read_dir(place.path().join(ATTEMPTS)).unwrap().count(), 1);
    let all = Submission::all(place.path()).unwrap();
    assert_eq!(all, BTreeMap::from([("a".to_owned(), submission)]));
}

/// It gets into scripts, and into what rsync(1) is told: a name that begins with a colon would be
/// that of a server's module.
#[test]
fn a_submission_that_names_no_folder_of_nodes_is_refused() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join(ATTEMPTS)).unwrap();
    for folder in ["", "run", ":module/run", "/r\0un"] {
        let staged = Some(folder.into());
        Submission { staged, ..Submission::default() }.write(place.path(), "a").unwrap();
        let refused = Submission::read(place.path(), "a").unwrap_err().to_string();
        assert!(refused.contains("a.json: `staged` is"), "{refused}");
    }
}
