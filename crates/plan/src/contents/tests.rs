use std::path::Path;

use crate::io::IoContents;
use crate::{LabKind, Overrides, Schedule, schedule};

/// Does compression spare the drive writes? (Fedora, Changes/BtrfsTransparentCompression, 2021)
fn plan(factors: &str, contents: &str, claims: &str) -> Schedule {
    let text = format!(
        r#"
name = "zstd"
question = "?"
metric = "written_bytes"
[factors]
{factors}
[workload]
tree = {{ files = 200, size = "6 MB" }}
phases = [
    {{ do = "unpack", sync = true }},
    {{ do = "io", name = "big", io = {{ size = "64 MiB", amount = "64 MiB"{contents} }} }},
    {{ do = "io", name = "reads", io = {{ size = "64 MiB", reads = "100 %", operations = 10 }} }},
]
{claims}
"#
    );
    let overrides = Overrides { lab: Some(LabKind::Image), ..Overrides::default() };
    schedule("p.toml", &text, &overrides, Path::new("/")).unwrap()
}

fn claim(id: &str, phase: &str, more: &str) -> String {
    format!(
        "[[claims]]\nid = \"{id}\"\nsays = \"?\"\nphases = [\"{phase}\"]\n\
         compare = {{ mount = \"compress=zstd:1\" }}\nagainst = {{ mount = \"defaults\" }}\n\
         at_most = 0.7\n{more}\n"
    )
}

const BTRFS: &str = "filesystem = \"btrfs\"\nmount = [\"defaults\", \"compress=zstd:1\"]";

#[test]
fn case_io_contents_unsaid_fedora_2021_a_claim_about_compression_says_what_its_phases_write() {
    let claims = [
        claim("big", "big", ""),
        claim("unpack", "unpack", ""),
        claim("unpack-time", "unpack", "metric = \"time_ns\""),
        claim("reads", "reads", ""),
    ];
    let schedule = plan(BTRFS, "", &claims.concat());
    let says = |id: &str| {
        let claim = schedule.claims.iter().find(|claim| claim.id == id).unwrap();
        schedule.by_construction(claim).map(std::borrow::Cow::into_owned)
    };
    let random = "the phase writes random bytes, which do not compress";
    assert_eq!(says("big").as_deref(), Some(random));
    let third = "the phase writes text made to compress to about a third";
    assert_eq!(says("unpack").as_deref(), Some(third));
    // How long it takes is not given by the contents; and a phase that reads writes nothing.
    assert_eq!((says("unpack-time"), says("reads")), (None, None));
    let phases = schedule.compressed_contents();
    assert_eq!(phases[&IoContents::Random], ["big"]);
    assert_eq!(phases[&IoContents::Text], ["unpack"]);
    let text = plan(BTRFS, ", contents = \"text\"", "");
    assert_eq!(text.compressed_contents()[&IoContents::Text], ["unpack", "big"]);
    assert_eq!(text.workload.contents()["data"], IoContents::Text);
}

#[test]
fn compression_is_compared_where_treatments_differ_in_it() {
    let is_told = |factors: &str| !plan(factors, "", "").compressed_contents().is_empty();
    assert!(is_told("filesystem = \"btrfs\"\ncompression = [\"off\", \"zstd\"]"));
    assert!(is_told("filesystem = \"f2fs\"\ncompression = [\"lz4\", \"zstd\"]"));
    assert!(!is_told("filesystem = \"btrfs\"\ncompression = \"zstd\""));
    assert!(!is_told("filesystem = \"btrfs\"\nmount = [\"defaults\", \"commit=300\"]"));
    assert!(!is_told("filesystem = \"btrfs\"\nmount = [\"defaults\", \"compress=no\"]"));
    assert!(!is_told("filesystem = [\"ext4\", \"xfs\"]"));
}

/// A schedule that was stored before contents had a key is the same as one without it.
#[test]
fn random_contents_are_not_written_down() {
    let stored = serde_json::to_string(&plan(BTRFS, "", "")).unwrap();
    assert!(!stored.contains("contents"), "{stored}");
    assert!(
        serde_json::to_string(&plan(BTRFS, ", contents = \"zeros\"", ""))
            .unwrap()
            .contains("zeros")
    );
}
