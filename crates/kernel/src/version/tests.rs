use std::fs;
use std::path::PathBuf;

use super::*;

fn kernel(version: &str) -> LabKernel {
    LabKernel { path: PathBuf::new(), identity: version.to_owned(), version: version.to_owned() }
}

fn chosen(level: &str) -> Result<String, String> {
    let kernels = ["6.1.192-ssdlab", "6.12.117-ssdlab", "6.12.9-ssdlab"].map(kernel).to_vec();
    let chosen = choose(level, kernels, Path::new("/nonexistent"));
    chosen.map(|kernel| kernel.version).map_err(|error| error.to_string())
}

#[test]
fn a_version_is_named_by_its_first_parts() {
    assert_eq!(chosen("6.1").unwrap(), "6.1.192-ssdlab");
    assert_eq!(chosen("6.12.9").unwrap(), "6.12.9-ssdlab");
    assert_eq!(chosen("6.12.117-ssdlab").unwrap(), "6.12.117-ssdlab");
    assert!(
        chosen("6.12.1")
            .unwrap_err()
            .contains("no lab kernel of Linux 6.12.1; found: 6.1.192-ssdlab,")
    );
}

#[test]
fn what_could_be_several_is_refused() {
    let says = "Linux 6.12 could be several lab kernels: 6.12.117-ssdlab, 6.12.9-ssdlab";
    assert_eq!(chosen("6.12").unwrap_err(), says);
}

#[test]
fn a_missing_version_is_built_from_the_source_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["linux-source-6.1.tar.xz", "linux-source-6.12.tar.xz"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let source = |level: &str| match choose(level, Vec::new(), folder.path()) {
        Err(KernelError::NoVersion { from, found, .. }) if found == "none" => from,
        other => panic!("{other:?}"),
    };
    let path = folder.path().join("linux-source-6.12.tar.xz").display().to_string();
    assert_eq!([source("6.12"), source("6.12.5")], [path.clone(), path]);
    assert_eq!([source("6.6"), source("6")], ["PATH", "PATH"]);
}
