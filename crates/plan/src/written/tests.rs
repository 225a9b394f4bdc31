use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::*;

/// Puts each example of a table's keys into a table that has what is required, and reads it.
#[track_caller]
fn examples_are_valid<T: JsonSchema + DeserializeOwned>(required: &str) {
    let schema = schema_for!(T).to_value();
    let keys = schema["properties"].as_object().unwrap();
    let mut examples = 0;
    for (key, of) in keys {
        let Some(example) = of["examples"].get(0) else { continue };
        let mut table: Map<String, Value> =
            toml::from_str(required).unwrap_or_else(|error| panic!("{error}"));
        table.insert(key.clone(), example.clone());
        let text = toml::to_string(&table).unwrap();
        if let Err(error) = toml::from_str::<T>(&text) {
            panic!("the example of `{key}`: {error}\n{text}");
        }
        examples += 1;
    }
    assert!(examples > 0, "no example at all");
}

#[test]
fn the_examples_of_the_schema_are_valid() {
    examples_are_valid::<Plan>(
        "name = \"a\"\nquestion = \"b\"\n[workload]\nphases = [{ do = \"sync\" }]",
    );
    examples_are_valid::<WrittenTarget>("");
    examples_are_valid::<WrittenNeeds>("");
    examples_are_valid::<WrittenVirtual>("");
    examples_are_valid::<WrittenWorkload>("phases = [{ do = \"sync\" }]");
    examples_are_valid::<WrittenTree>("");
    examples_are_valid::<WrittenBuild>("");
    examples_are_valid::<WrittenBonnie>("");
    examples_are_valid::<WrittenPhase>("do = \"sync\"");
    examples_are_valid::<WrittenIo>("size = \"1 MiB\"");
    examples_are_valid::<WrittenTransactions>("");
    examples_are_valid::<WrittenRepetitions>("");
    examples_are_valid::<WrittenRanking>("");
    examples_are_valid::<WrittenStep>("name = \"a\"");
    examples_are_valid::<WrittenClaim>("id = \"a\"\nsays = \"b\"\nphases = [\"c\"]");
    examples_are_valid::<WrittenPublished>("values = {}");
}
