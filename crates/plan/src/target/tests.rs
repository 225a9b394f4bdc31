//! Targets as they are stored.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Target;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    #[serde(with = "super")]
    target: Option<Target>,
}

fn read(target: &Value) -> Result<Option<Target>, String> {
    let holder = serde_json::from_value(json!({ "target": target }));
    holder.map(|holder: Holder| holder.target).map_err(|error| error.to_string())
}

#[test]
fn every_target_reads_back_as_it_was_written() {
    let path = || PathBuf::from("/x");
    let all = [
        None,
        Some(Target::Virtual { capacity_bytes: None }),
        Some(Target::Virtual { capacity_bytes: Some(1 << 30) }),
        Some(Target::Image { size_bytes: 4 << 30, folder: None }),
        Some(Target::Image { size_bytes: 4 << 30, folder: Some(path()) }),
        Some(Target::Device { path: None }),
        Some(Target::Device { path: Some(path()) }),
        Some(Target::Directory { path: path() }),
    ];
    for target in all {
        let holder = Holder { target };
        let written = serde_json::to_value(&holder).unwrap();
        assert_eq!(serde_json::from_value::<Holder>(written).unwrap(), holder);
    }
}

#[test]
fn schedules_of_earlier_releases_are_read() {
    // Each lab's with the keys of the others; the first had no capacity yet.
    let of = |lab: &str| json!({ "lab": lab, "size_bytes": 7, "device": null, "directory": null });
    let with = |lab: &str, key: &str, value: Value| {
        let mut target = of(lab);
        target[key] = value;
        target
    };
    assert_eq!(read(&of("virtual")), Ok(Some(Target::Virtual { capacity_bytes: None })));
    let image = Target::Image { size_bytes: 7, folder: None };
    assert_eq!(read(&of("image")), Ok(Some(image)));
    let device = Target::Device { path: Some("/dev/x".into()) };
    assert_eq!(read(&with("device", "device", json!("/dev/x"))), Ok(Some(device)));
    let directory = Target::Directory { path: "/x".into() };
    assert_eq!(read(&with("directory", "directory", json!("/x"))), Ok(Some(directory)));
    assert_eq!(read(&of("imported")), Ok(None));
    assert!(read(&of("directory")).unwrap_err().contains("missing field `directory`"));
    assert!(read(&of("moon")).is_err());
}
