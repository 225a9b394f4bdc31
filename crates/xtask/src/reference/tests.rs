use std::collections::BTreeMap;
use std::fs;

use schemars::schema_for;
use ssdlab_plan::Plan;

use super::plans::PLAN;
use super::properties::{Property, properties};
use super::tables::definition;
use super::{FOLDER, model_files, pages};
use crate::source;

#[test]
fn the_manual_has_the_pages_as_the_program_makes_them() {
    let made = BTreeMap::from(pages());
    let kept = fs::read_dir(source::path(FOLDER)).unwrap().map(|file| {
        let file = file.unwrap();
        (file.file_name().into_string().unwrap(), fs::read_to_string(file.path()).unwrap())
    });
    let kept: BTreeMap<String, String> = kept.collect();
    assert!(made.keys().eq(kept.keys()), "make reference: {:?}", kept.keys());
    let stale: Vec<&String> = made.keys().filter(|name| made[*name] != kept[*name]).collect();
    assert!(stale.is_empty(), "make reference: {stale:?}");
}

#[test]
fn every_key_of_a_plan_has_an_example_or_a_table_of_its_own() {
    let schema = schema_for!(Plan).to_value();
    let mut without = Vec::new();
    for (name, _) in PLAN.tables {
        let keys = properties(definition(&schema, name));
        assert!(!keys.is_empty(), "`{name}` is no table of the schema");
        let is_shown = |key: &Property| {
            key.example.is_some() || key.of.as_deref().and_then(|name| PLAN.heading(name)).is_some()
        };
        let bare = keys.iter().filter(|key| !is_shown(key));
        without.extend(bare.map(|key| format!("{name}: {}", key.name)));
    }
    assert!(without.is_empty(), "add `#[schemars(example = ...)]` to {}", without.join(", "));
}

#[test]
fn every_key_and_word_of_drive_and_host_files_is_explained() {
    for page in [model_files::drives(), model_files::hosts()] {
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let bare: Vec<&&str> = rows.iter().filter(|row| row.ends_with("|  |")).collect();
        assert!(bare.is_empty(), "{bare:?}");
        // Only these two hold tables of names that a file chooses.
        let is_without = |row: &&&str| row.contains(" |  | ");
        let without = rows.iter().filter(is_without).map(|row| row.split('`').nth(1).unwrap());
        let without: Vec<&str> = without.collect();
        assert!(without.iter().all(|key| ["evidence", "figures"].contains(key)), "{without:?}");
        // No heading is above a table without rows.
        assert!(!page.contains("|---|\n\n") && !page.ends_with("|---|\n"), "{page}");
    }
    let drives = model_files::drives();
    for part in ["| `read` | `read = \"", "| `spare_factor` | `spare_factor = 0", "| `d-choices` |"]
    {
        assert!(drives.contains(part), "{part} in {drives}");
    }
}
