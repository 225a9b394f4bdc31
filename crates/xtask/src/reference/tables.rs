//! The reference of a TOML file, from its JSON schema: every table, every key with an example,
//! every word.

use std::fmt::Write;

use serde_json::Value;

use super::cell::cell;
use super::properties::{Property, described, properties};

/// What a file consists of: definitions of its schema, each with its heading. The file itself has
/// no definition, and an empty name.
pub struct Tables {
    /// The tables.
    pub tables: &'static [(&'static str, &'static str)],
    /// The enumerations of words.
    pub words: &'static [(&'static str, &'static str)],
}

impl Tables {
    /// Writes the tables and the words. `example` gives the example, as TOML, of a key by the
    /// table's heading and the key, for keys with neither one in the schema nor a table.
    pub fn write(
        &self,
        out: &mut String,
        schema: &Value,
        example: &dyn Fn([&str; 2]) -> Option<String>,
    ) {
        for (name, title) in self.tables {
            let table = definition(schema, name);
            let _ = write!(
                out,
                "\n## {title}\n\n{}\n\n| key | example | meaning |\n|---|---|---|\n",
                described(table)
            );
            for key in properties(table) {
                let linked = key.of.as_deref().and_then(|name| self.heading(name));
                let shown = match (&key.example, linked) {
                    (Some(own), _) => Some(toml(own)),
                    (None, Some(_)) => None,
                    (None, None) => example([*title, &key.name]),
                };
                let _ = writeln!(out, "{}", self.row(&key, shown, linked));
            }
        }
        for (name, title) in self.words {
            let _ = write!(out, "\n## {title}\n\n| word | meaning |\n|---|---|\n");
            for word in definition(schema, name)["oneOf"].as_array().into_iter().flatten() {
                let says = cell(&described(word));
                let word = word["const"].as_str().unwrap_or_default();
                let _ = writeln!(out, "| `{word}` | {says} |");
            }
        }
    }

    fn row(&self, key: &Property, example: Option<String>, linked: Option<&str>) -> String {
        let example = match (example, linked) {
            (Some(value), _) => format!("`{} = {}`", key.name, cell(&value)),
            (None, Some(title)) => format!("[{title}](#{})", anchor(title)),
            (None, None) => String::new(),
        };
        let required = if key.is_required { "*Required.* " } else { "" };
        let words = self.words.iter().find(|words| Some(words.0) == key.of.as_deref());
        let words =
            words.map_or(String::new(), |(_, title)| format!(" [{title}](#{}).", anchor(title)));
        format!("| `{}` | {example} | {required}{}{words} |", key.name, cell(&key.says))
    }

    /// The heading of a table.
    pub fn heading(&self, name: &str) -> Option<&'static str> {
        self.tables.iter().find(|table| table.0 == name).map(|table| table.1)
    }
}

/// A definition of the schema; the schema itself without a name.
pub fn definition<'a>(schema: &'a Value, name: &str) -> &'a Value {
    if name.is_empty() { schema } else { &schema["$defs"][name] }
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
