use std::collections::BTreeSet;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;

use super::*;
use crate::aged::State;

fn get(store: &Store, from: &str) -> State<String> {
    let make = |folder: &Path| {
        fs::write(folder.join("image"), from).map_err(KernelError::at("write", folder))?;
        Ok::<_, KernelError>(from.to_owned())
    };
    store.get(&from, &Interrupt::default(), make).unwrap()
}

/// The states in the cache, by origin, least recently used first.
fn kept(store: &Store) -> Vec<(String, bool)> {
    let all = store.all().unwrap().into_iter();
    let name = |kept: &CacheEntry| match &kept.made_from {
        Some(from) => from.as_str().unwrap().to_owned(),
        None => "?".to_owned(),
    };
    all.map(|kept| (name(&kept), kept.is_in_use)).collect()
}

fn used(state: &State<String>, used_s: u64) {
    let record = File::open(state.folder.join(RECORD)).unwrap();
    record.set_modified(UNIX_EPOCH + Duration::from_secs(used_s)).unwrap();
}

#[test]
fn the_least_recently_used_goes_first_and_nothing_that_is_in_use() {
    let place = tempfile::tempdir().unwrap();
    let mut store = Store::at(Some(place.path().join("aged")));
    let first = get(&store, "first");
    used(&first, 1);
    for (from, used_s) in [("second", 3), ("third", 2), ("fourth", 4)] {
        used(&get(&store, from), used_s);
    }
    let [first_, second, third, fourth] =
        [("first", true), ("second", false), ("third", false), ("fourth", false)]
            .map(|(name, is_in_use)| (name.to_owned(), is_in_use));
    assert_eq!(kept(&store), [first_.clone(), third.clone(), second, fourth.clone()]);
    // Using a state keeps it.
    drop(get(&store, "second"));
    // Room for three, and a little.
    let sizes: Vec<u64> = store.all().unwrap().iter().map(|kept| kept.size_bytes).collect();
    store.most_bytes = sizes.iter().sum::<u64>() - sizes[0] / 2;
    drop(get(&store, "fifth"));
    let names: BTreeSet<String> = kept(&store).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, BTreeSet::from(["first", "second", "fifth"].map(str::to_owned)));
    assert!(first.folder.join("image").exists());
    // A state larger than the limit stays as long as it is used.
    store.most_bytes = 0;
    let sixth = get(&store, "sixth");
    assert!(sixth.folder.join("image").exists());
    assert_eq!(kept(&store), [first_, ("sixth".to_owned(), true)]);
}

#[test]
fn clearing_leaves_what_is_in_use_and_what_is_no_state() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::at(Some(place.path().join("aged")));
    assert_eq!(store.clear().unwrap(), Cleared::default());
    let used = get(&store, "used");
    drop(get(&store, "unused"));
    let folder = place.path().join("aged");
    let given_up = folder.join(format!("{WORK}0123456789abcdef"));
    let theirs = ["notes", "0123456789abcdeX", "work-0"].map(|name| folder.join(name));
    for path in &theirs {
        fs::create_dir(path).unwrap();
    }
    let making = |_: &Path| {
        fs::create_dir(&given_up).unwrap();
        fs::write(given_up.join("image"), "half").unwrap();
        let cleared = store.clear().unwrap();
        assert_eq!((cleared.removed, cleared.in_use), (2, 2));
        Ok::<_, KernelError>(())
    };
    store.get(&"making", &Interrupt::default(), making).unwrap();
    assert!(used.folder.join("image").exists() && !given_up.exists());
    assert!(theirs.iter().all(|path| path.exists()));
    drop(used);
    let cleared = store.clear().unwrap();
    assert_eq!((cleared.removed, cleared.in_use), (2, 0));
    assert!(cleared.removed_bytes > 0);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), theirs.len());
}
