//! The reference of plans: every table of a plan, every key with an example, every word.

use std::fmt::Write;

use schemars::schema_for;
use serde_json::Value;
use ssdlab_plan::Plan;

use super::cell::cell;
use super::properties::{described, properties};

/// The tables of a plan in the usual order: the definition in the schema, and the heading. The plan
/// itself has no definition.
pub const TABLES: [(&str, &str); 20] = [
    ("", "The plan"),
    ("Target", "`[target]`"),
    ("Needs", "`[needs]`"),
    ("Simulated", "`[virtual]`"),
    ("Workload", "`[workload]`"),
    ("Tree", "`workload.tree`"),
    ("Build", "`workload.build`"),
    ("WrittenBonnie", "`workload.bonnie`"),
    ("Phase", "`workload.phases`"),
    ("WrittenIo", "`io` of a phase"),
    ("WrittenTransactions", "`transactions` of a phase"),
    ("WrittenReplace", "`replace` of a phase"),
    ("WrittenAppend", "`append` of a phase"),
    ("WrittenDatabase", "`database` of a phase"),
    ("WrittenCuts", "`[cuts]`"),
    ("Repetitions", "`[repetitions]`"),
    ("Ranking", "`[ranking]`"),
    ("Step", "`[[steps]]`"),
    ("Claim", "`[[claims]]`"),
    ("Published", "`[[published]]`"),
];

/// The enumerations of words: the definition, and the heading.
const WORDS: [(&str, &str); 8] = [
    ("LabKind", "Labs"),
    ("Verb", "What a phase does"),
    ("BonnieTest", "Bonnie's tests"),
    ("Pattern", "Orders of places"),
    ("JournalMode", "Journals of transactions"),
    ("Synced", "What is synced when a file is replaced"),
    ("TornPages", "What repairs torn pages of a database"),
    ("Synchronous", "When transactions are synced"),
];

/// The text of the page.
pub fn page() -> String {
    let schema = schema_for!(Plan).to_value();
    let mut out = "A plan is a TOML file. Every key is optional unless marked *required*. \
                   `ssdlab schema plan` prints the same as a JSON schema, with which an editor can \
                   complete and check plans; `ssdlab check PLAN` shows what a plan would do. \
                   [Your own plan](../tutorial/own-plan.md) is a tutorial.\n"
        .to_owned();
    for (name, title) in TABLES {
        let table = definition(&schema, name);
        let _ = write!(
            out,
            "\n## {title}\n\n{}\n\n| key | example | meaning |\n|---|---|---|\n",
            described(table)
        );
        for key in properties(table) {
            let linked = key.of.as_deref().and_then(heading);
            let example = match (&key.example, linked) {
                (Some(value), _) => format!("`{} = {}`", key.name, cell(&toml(value))),
                (None, Some(title)) => format!("[{title}](#{})", anchor(title)),
                (None, None) => String::new(),
            };
            let required = if key.is_required { "*Required.* " } else { "" };
            let words = key
                .of
                .as_deref()
                .and_then(words)
                .map_or(String::new(), |title| format!(" [{title}](#{}).", anchor(title)));
            let says = cell(&key.says);
            let _ = writeln!(out, "| `{}` | {example} | {required}{says}{words} |", key.name);
        }
    }
    for (name, title) in WORDS {
        let _ = write!(out, "\n## {title}\n\n| word | meaning |\n|---|---|\n");
        for word in definition(&schema, name)["oneOf"].as_array().into_iter().flatten() {
            let says = cell(&described(word));
            let _ = writeln!(out, "| `{}` | {says} |", word["const"].as_str().unwrap_or_default());
        }
    }
    out
}

/// A definition of the schema; the schema itself without a name.
pub fn definition<'a>(schema: &'a Value, name: &str) -> &'a Value {
    if name.is_empty() { schema } else { &schema["$defs"][name] }
}

/// The heading of a table.
pub fn heading(name: &str) -> Option<&'static str> {
    TABLES.iter().find(|table| table.0 == name).map(|table| table.1)
}

/// The heading of a list of words.
fn words(name: &str) -> Option<&'static str> {
    WORDS.iter().find(|words| words.0 == name).map(|words| words.1)
}

/// A heading's anchor, as mdBook and others make it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '_' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// A value as TOML writes it on one line.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(toml).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Object(table) => {
            let keys: Vec<String> =
                table.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        // Words, numbers and booleans are written as in JSON.
        plain => plain.to_string(),
    }
}
