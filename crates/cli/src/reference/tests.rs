use schemars::schema_for;
use ssdlab_plan::Plan;

use super::plans;
use super::properties::properties;

#[test]
fn every_key_of_a_plan_has_an_example_or_a_table_of_its_own() {
    let schema = schema_for!(Plan).to_value();
    let mut without = Vec::new();
    for (name, _) in plans::TABLES {
        let table = plans::definition(&schema, name);
        let keys = properties(table);
        assert!(!keys.is_empty(), "`{name}` is no table of the schema");
        let is_shown = |key: &super::properties::Property| {
            key.example.is_some() || key.of.as_deref().and_then(plans::heading).is_some()
        };
        let bare = keys.iter().filter(|key| !is_shown(key));
        without.extend(bare.map(|key| format!("{name}: {}", key.name)));
    }
    assert!(without.is_empty(), "add `#[schemars(example = ...)]` to {}", without.join(", "));
}
