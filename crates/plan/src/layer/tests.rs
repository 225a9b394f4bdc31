use std::path::Path;

use crate::{LabKind, Overrides, schedule};

use super::{Layer, read};

fn fault(level: &str) -> String {
    let error = read(level).unwrap_err();
    format!("{}; {}", error.message, error.help)
}

#[test]
fn a_layer_is_its_target_with_parameters() {
    assert!(read("none").unwrap().is_none());
    let crypt = read("crypt allow_discards sector_size:4096").unwrap().unwrap();
    assert!(crypt.takes_discards());
    let Layer::Crypt { parameters } = crypt else { panic!("{crypt:?}") };
    assert_eq!(parameters, ["allow_discards", "sector_size:4096"]);
    let thin = read("thin skip_block_zeroing chunk:256KiB").unwrap().unwrap();
    let Layer::Thin { chunk_bytes, features } = thin else { panic!("{thin:?}") };
    assert_eq!((chunk_bytes, features), (256 << 10, vec!["skip_block_zeroing"]));
    let image = read("image on btrfs").unwrap().unwrap();
    assert!(matches!(image, Layer::Image { on } if on.name == "btrfs"), "{image:?}");
}

#[test]
fn dm_crypt_takes_discards_only_if_told_to() {
    let takes = |level| read(level).unwrap().unwrap().takes_discards();
    assert!(!takes("crypt no_read_workqueue no_write_workqueue"));
    assert!(takes("thin no_discard_passdown"));
    assert!(!takes("thin ignore_discard"));
}

#[test]
fn what_is_no_layer_says_what_is() {
    for level in ["", "luks", "none at all", "image", "image on", "image on ext4 twice"] {
        let said = fault(level);
        assert!(said.contains("image on FILESYSTEM"), "{level}: {said}");
    }
    assert!(fault("crypt discard").contains("allow_discards"));
    assert!(fault("thin chunk:100KiB").contains("a multiple of 64 KiB"));
    assert!(fault("thin chunk:0").contains("a multiple of 64 KiB"));
    assert!(fault("thin chunk:2GiB").contains("up to 1 GiB"));
    // A pool's daemon is not started twice.
    assert!(!fault("image on zfs").contains("zfs,"), "{}", fault("image on zfs"));
}

/// Why a plan with an encrypted drive is refused.
fn refusal(factors: &str, rest: &str, lab: LabKind) -> String {
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n{rest}\n[factors]\nfilesystem = \"ext4\"\n{factors}\n\
         layer = [\"none\", \"crypt\"]\n[workload]\nphases = [{{ do = \"append\", append = {{ \
         records = 1 }} }}]\n"
    );
    let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
    schedule("p.toml", &plan, &overrides, Path::new("/")).unwrap_err().to_string()
}

#[test]
fn what_a_layer_makes_impossible_is_refused() {
    let refused = |factors, rest| refusal(factors, rest, LabKind::Virtual);
    assert!(refused("discard = \"fstrim\"", "").contains("dm-crypt takes no discards"));
    assert!(refused("age = \"desktop\"", "").contains("not aged through dm-crypt"));
    let cut = refused("", "cuts = { number = 8 }");
    assert!(cut.contains("not recovered through dm-crypt"), "{cut}");
    let elsewhere = refusal("", "", LabKind::Image);
    assert!(elsewhere.contains("the image lab uses devices as they are"), "{elsewhere}");
}
