//! What aged filesystems are made from.

use ssdlab_plan::{Factor, Levels};

use super::*;

fn made_from(more: &[(Factor, &str)]) -> String {
    let of_all = [(Factor::Filesystem, "btrfs"), (Factor::Age, "mail")];
    let levels = of_all.iter().chain(more).map(|(factor, l)| (*factor, (*l).to_owned()));
    let setup = shaping(&Setup::new(&Levels(levels.collect())).unwrap()).unwrap();
    let (age, place) = (setup.age.unwrap(), BTreeMap::new());
    let made_from = AgeingInputs::new(age, &setup, 1, place, &Toolbox::Machine).unwrap();
    serde_json::to_string(&made_from).unwrap()
}

#[test]
fn what_a_state_was_made_from_is_told_in_a_line() {
    let setup = Setup::new(&Levels(BTreeMap::from([
        (Factor::Filesystem, "ext4".to_owned()),
        (Factor::Age, "mail to 0.7".to_owned()),
    ])))
    .unwrap();
    let place = BTreeMap::from([
        ("lab", LabKind::Image.to_string()),
        ("condition", "aged:2000".to_owned()),
        ("size_bytes", (4_u64 << 30).to_string()),
    ]);
    let age = setup.age.unwrap();
    let made_from = AgeingInputs::new(age, &setup, 7, place, &Toolbox::Machine).unwrap();
    let says = aged_from(&serde_json::to_value(made_from).unwrap()).unwrap();
    assert_eq!(says, "ext4, mail to 0.7, image lab, aged:2000, 4.0 GiB, seed 7");
    assert_eq!(aged_from(&serde_json::json!({ "seed": 7 })), None);
}

#[test]
fn a_state_is_shared_by_all_that_age_alike() {
    let plain = made_from(&[]);
    assert_eq!(made_from(&[(Factor::Discard, "on")]), plain);
    assert_eq!(made_from(&[(Factor::Compression, "off")]), plain);
    let compressed = made_from(&[(Factor::Compression, "zstd")]);
    let hashed = made_from(&[(Factor::Checksums, "sha256")]);
    assert!(compressed != plain && hashed != plain && compressed != hashed);
}
