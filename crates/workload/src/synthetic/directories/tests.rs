use super::super::random::RandomPurpose;
use super::*;

#[test]
fn most_directories_are_leaves_as_measured() {
    // Measured: 3,865 of 4,918, which is 79 %.
    for seed in 0..5 {
        let directories = directories(FILES, &mut RandomStream::new(seed, RandomPurpose::Tree));
        assert_eq!(directories.len(), 4918);
        let leaves = directories.iter().filter(|d| !d.has_children).count();
        let percent = leaves * 100 / directories.len();
        assert!((70..=85).contains(&percent), "{percent} %");
    }
}

#[test]
fn depths_are_those_measured() {
    let directories = directories(FILES, &mut RandomStream::new(1, RandomPurpose::Tree));
    let mut at_depth = [0; 10];
    for directory in &directories {
        at_depth[directory.path.matches('/').count()] += 1;
    }
    assert_eq!(at_depth[1..], DIRECTORIES_AT_DEPTH);
}

#[test]
fn a_tiny_tree_has_only_the_top() {
    for files in [0, 1, 2, 20] {
        assert_eq!(directories(files, &mut RandomStream::new(1, RandomPurpose::Tree)).len(), 1);
    }
}
