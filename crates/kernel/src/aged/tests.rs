use super::*;
use std::os::unix::fs::FileExt;

/// Gets a state whose file has this text; returns its file and whether it was made.
fn get(store: &Store, from: &str) -> (PathBuf, bool) {
    let mut is_made = false;
    let state = store
        .get(&from, &Interrupt::default(), |folder| {
            is_made = true;
            fs::write(folder.join("image"), from).map_err(KernelError::at("write", folder))?;
            Ok::<_, KernelError>(from.to_owned())
        })
        .unwrap();
    assert_eq!(state.facts, from);
    (state.folder.join("image"), is_made)
}

fn held(store: &Store, from: &str) -> AgedState<String> {
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

fn used(state: &AgedState<String>, used_s: u64) {
    let record = File::open(state.folder.join(RECORD)).unwrap();
    record.set_modified(UNIX_EPOCH + Duration::from_secs(used_s)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_state_is_made_once_and_again_when_it_is_damaged() {
    let place = tempfile::tempdir().unwrap();
    let store = || Store::at(Some(place.path().join("aged")));
    let (image, is_made) = get(&store(), "one");
    assert!(is_made);
    assert_eq!(fs::read_to_string(&image).unwrap(), "one");
    assert!(!get(&store(), "one").1);
    assert!(get(&store(), "two").1);
    for name in ["image", FACTS, RECORD] {
        let path = image.with_file_name(name);
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(b"?", 1).unwrap();
        assert!(get(&store(), "one").1, "{name}");
        assert_eq!(fs::read_to_string(&image).unwrap(), "one");
        fs::remove_file(path).unwrap();
        assert!(get(&store(), "one").1, "{name}");
    }
    assert_eq!(names(&place.path().join("aged")).len(), 2);
}

#[test]
fn what_a_killed_run_left_makes_room_for_what_is_made() {
    let place = tempfile::tempdir().unwrap();
    let left = place.path().join(format!("{WORK}{}", "0".repeat(DIGITS)));
    fs::create_dir(&left).unwrap();
    let store = Store::at(Some(place.path().to_owned()));
    let full = store.get(&1, &Interrupt::default(), |_| {
        assert!(!left.exists());
        Err::<(), KernelError>(ProgramError::Interrupted.into())
    });
    assert!(full.is_err());
}

#[test]
fn a_store_that_others_could_replace_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let store = Store::at(Some(place.path().join("cache/aged")));
    get(&store, "one");
    let above = place.path().join("cache");
    fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).unwrap();
    let make = |_: &Path| Ok::<_, KernelError>("one".to_owned());
    let refused = store.get(&"one", &Interrupt::default(), make).unwrap_err();
    assert!(matches!(refused, KernelError::Exposed { exposed, .. } if exposed.path == above));
}

#[test]
fn what_cannot_be_made_leaves_nothing_and_two_at_once_make_it_once() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::at(Some(place.path().to_owned()));
    let failed = store.get(&1, &Interrupt::default(), |folder| {
        fs::write(folder.join("image"), "half").unwrap();
        Err::<(), KernelError>(ProgramError::Interrupted.into())
    });
    assert!(failed.is_err() && names(place.path()).is_empty());
    let times = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let make = |_: &Path| {
                    *times.lock().unwrap() += 1;
                    sleep(2 * POLL_INTERVAL);
                    Ok::<_, KernelError>(())
                };
                store.get(&1, &Interrupt::default(), make).unwrap();
            });
        }
    });
    assert_eq!(*times.lock().unwrap(), 1);
    let interrupt = Interrupt::default();
    interrupt.set();
    let stopped = store.get(&1, &interrupt, |_| Ok::<_, KernelError>(()));
    assert!(matches!(stopped, Err(KernelError::Program(ProgramError::Interrupted))));
}

#[test]
fn the_least_recently_used_goes_first_and_nothing_that_is_in_use() {
    let place = tempfile::tempdir().unwrap();
    let mut store = Store::at(Some(place.path().join("aged")));
    let first = held(&store, "first");
    used(&first, 1);
    for (from, used_s) in [("second", 3), ("third", 2), ("fourth", 4)] {
        used(&held(&store, from), used_s);
    }
    let [first_, second, third, fourth] =
        [("first", true), ("second", false), ("third", false), ("fourth", false)]
            .map(|(name, is_in_use)| (name.to_owned(), is_in_use));
    assert_eq!(kept(&store), [first_.clone(), third.clone(), second, fourth.clone()]);
    // Using a state keeps it.
    drop(held(&store, "second"));
    // Room for three, and a little.
    let sizes: Vec<u64> = store.all().unwrap().iter().map(|kept| kept.size_bytes).collect();
    store.most_bytes = sizes.iter().sum::<u64>() - sizes[0] / 2;
    drop(held(&store, "fifth"));
    let names: BTreeSet<String> = kept(&store).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, BTreeSet::from(["first", "second", "fifth"].map(str::to_owned)));
    assert!(first.folder.join("image").exists());
    // A state larger than the limit stays as long as it is used.
    store.most_bytes = 0;
    let sixth = held(&store, "sixth");
    assert!(sixth.folder.join("image").exists());
    assert_eq!(kept(&store), [first_, ("sixth".to_owned(), true)]);
}

#[test]
fn clearing_leaves_what_is_in_use_and_what_is_no_state() {
    let place = tempfile::tempdir().unwrap();
    let store = Store::at(Some(place.path().join("aged")));
    assert_eq!(store.clear().unwrap(), RemovalSummary::default());
    let used = held(&store, "used");
    drop(held(&store, "unused"));
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
