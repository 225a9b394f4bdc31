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
                    sleep(2 * GLANCE);
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
