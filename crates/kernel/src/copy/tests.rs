use super::*;

/// Of these files in the copy, those that are left when another tree is copied.
fn left(was_interrupted: bool) -> Vec<&'static str> {
    let place = tempfile::tempdir().unwrap();
    let (tree, build) = (place.path().join("tree"), place.path().join("build"));
    fs::create_dir_all(tree.join("fs")).unwrap();
    fs::create_dir_all(build.join("output/tree/fs")).unwrap();
    fs::write(tree.join("fs/a.c"), "").unwrap();
    fs::write(tree.join("fs/a.h"), "").unwrap();
    let copy = TreeCopy::begin(&build, &tree).unwrap();
    let names = ["fs/a.c", "fs/a.h", "fs/a.o"];
    for name in names {
        let path = build.join("output/tree").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    if !was_interrupted {
        copy.end();
    }
    fs::remove_file(tree.join("fs/a.h")).unwrap();
    TreeCopy::begin(&build, &tree).unwrap();
    assert!(!build.join("copied").exists());
    names.into_iter().filter(|name| build.join("output/tree").join(name).exists()).collect()
}

#[test]
fn what_a_tree_has_lost_is_removed_and_what_was_compiled_stays() {
    assert_eq!(left(false), ["fs/a.c", "fs/a.o"]);
}

#[test]
fn a_copy_that_was_interrupted_is_made_anew() {
    assert!(left(true).is_empty());
}
