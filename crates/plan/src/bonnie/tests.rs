use std::path::Path;

use super::*;
use crate::{Overrides, Schedule};

fn resolved(text: &str, lab: LabKind) -> Result<Bonnie, String> {
    let written: WrittenBonnie = toml::from_str(text).unwrap();
    resolve(&written, |amount| amount, lab).map_err(|fault| fault.message)
}

#[test]
fn defaults_are_those_of_bonnie() {
    let image = resolved("", LabKind::Image).unwrap();
    assert_eq!((image.chunk_bytes, image.seeks, image.seekers), (8192, 8192, 5));
    assert_eq!((image.char_bytes, image.files, image.least_ns), (3 << 20, 16384, 500_000_000));
    let guest = resolved("", LabKind::Virtual).unwrap();
    assert_eq!((guest.size_bytes, guest.char_bytes), (256 << 20, 128 << 10));
    assert_eq!(guest.least_ns, 0);
}

#[test]
fn sizes_are_whole_chunks_and_characters_fit_into_the_file() {
    let text = "size = 100_001\nchunk = \"1 KiB\"\nchar_size = \"1 GiB\"";
    let bonnie = resolved(text, LabKind::Image).unwrap();
    assert_eq!(bonnie.size_bytes, 97 * 1024);
    assert_eq!(bonnie.char_bytes, bonnie.size_bytes);
}

/// Founding post 2 ran `bonnie -n 200:200`.
#[test]
fn files_are_said_as_bonnie_does() {
    let files = |text: &str| {
        resolved(&format!("files = \"{text}\""), LabKind::Image)
            .map(|bonnie| (bonnie.files, bonnie.file_bytes, bonnie.directories))
    };
    assert_eq!(files("200:200"), Ok((204_800, (0, 200), 1)));
    assert_eq!(files("1:4096:100:3"), Ok((1024, (100, 4096), 3)));
    for bad in ["", "0", "x", "1:2:3", "1:-2", "1:5:1:0", "1:1:1:1:1", "99999999999999999999"] {
        assert!(files(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_bonnie_would_refuse_is_refused() {
    for bad in [
        "chunk = 1000",
        "chunk = 128",
        "chunk = \"2 MiB\"",
        "seekers = 0",
        "seeks = 0",
        "seekers = 100000",
        "size = \"9000 PiB\"",
    ] {
        assert!(resolved(bad, LabKind::Image).is_err(), "{bad}");
    }
}

fn schedule(phases: &str, overrides: &Overrides) -> Result<Schedule, String> {
    let text = format!(
        "name = \"b\"\nquestion = \"?\"\n[target]\nlab = \"image\"\nsize = \"512 MiB\"\n\
             [factors]\nfilesystem = \"ext4\"\n[workload]\nbonnie = {{ size = \"256 MiB\" }}\n\
             phases = [{phases}]\n"
    );
    crate::schedule("p", &text, overrides, Path::new("/")).map_err(|error| error.to_string())
}

#[test]
fn tests_are_phases_in_their_order_and_those_that_read_are_cold() {
    let all = schedule("{ do = \"bonnie\" }", &Overrides::default()).unwrap();
    let names: Vec<&str> = all.workload.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, BonnieTest::ALL.map(BonnieTest::name));
    let cold: Vec<bool> = all.workload.phases.iter().map(|phase| phase.cold).collect();
    let expected = [false, false, true, true, true, true];
    assert_eq!(cold[..6], expected);
    assert_eq!(cold[6..], [false; 6]);
    let warm = schedule("{ do = \"bonnie\", cold = false }", &Overrides::default()).unwrap();
    assert!(warm.workload.phases.iter().all(|phase| !phase.cold));
    let some = "{ do = \"bonnie\", tests = [\"seq_output_block\", \"rewrite\"], name = \
                      \"new\" }, { do = \"bonnie\", tests = [\"rewrite\"], name = \"again\" }";
    let some = schedule(some, &Overrides::default()).unwrap();
    assert_eq!(some.phase_names(), ["new_seq_output_block", "new_rewrite", "again"]);
}

#[test]
fn a_test_without_its_files_or_with_them_in_its_way_is_refused() {
    let refused = |phases: &str, why: &str| {
        let message = schedule(phases, &Overrides::default()).unwrap_err();
        assert!(message.contains(why), "{message}");
    };
    let test = |names: &str| format!("{{ do = \"bonnie\", tests = [{names}] }}");
    refused(&test("\"rewrite\""), "`rewrite` works on the files of `seq_output_block`");
    refused(&test("\"seq_output_block\", \"seq_stat\""), "the files of `seq_create`");
    let twice = test("\"seq_create\"") + ", { do = \"bonnie\", name = \"b\" }";
    refused(&twice, "would overwrite its own files");
    let gone = "{ do = \"bonnie\" }, { do = \"delete\" }, { do = \
                    \"bonnie\", tests = [\"rewrite\"], name = \"again\" }";
    refused(gone, "`rewrite` works on");
    refused("{ do = \"sync\", tests = [\"rewrite\"] }", "does not apply");
}

#[test]
fn a_scale_scales_sizes_and_files_and_a_size_larger_than_the_disk_is_refused() {
    let scaled = |scale| Overrides { scale: Some(scale), ..Overrides::default() };
    let quarter = schedule("{ do = \"bonnie\" }", &scaled(0.25)).unwrap();
    let sizes = quarter.0.workload.bonnie.unwrap();
    assert_eq!((sizes.size_bytes, sizes.char_bytes), (64 << 20, 3 << 18));
    assert_eq!((sizes.files, sizes.seeks), (4096, 8192));
    let message = schedule("{ do = \"bonnie\" }", &scaled(4.0)).unwrap_err();
    assert!(message.contains("the image has 512"), "{message}");
}
