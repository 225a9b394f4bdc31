//! What `ssdlab drive` and `ssdlab host` tell of a file's values and their evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_flash::EvidencedValue;
use ssdlab_flash::evidence::Evidence;

use super::output;

/// The version of the format.
const SHOWN_SCHEMA: u32 = 1;

/// Names the values of a file that have no evidence; `example` prints a file that has all.
pub fn tell_bare(values: &[EvidencedValue], example: &str) {
    let bare = values.iter().filter(|value| value.evidence.is_none());
    let bare: Vec<&str> = bare.map(|value| value.key.as_str()).collect();
    if !bare.is_empty() {
        output::tell(&format!(
            "without evidence: {}; say in [evidence] what they rest on, as `{example}` does",
            bare.join(", ")
        ));
    }
}

/// A drive or a host in JSON: its values, and what they rest on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Shown")]
pub struct ModelOutput {
    /// The version of this format.
    schema: u32,
    name: String,
    /// What it stands for, in a sentence.
    description: String,
    /// The file's values as TOML writes them, by dotted key (`trim.per_command`).
    values: BTreeMap<String, String>,
    /// What the values rest on, by the same keys; absent for a value without evidence.
    evidence: BTreeMap<String, Evidence>,
}

impl ModelOutput {
    pub fn of(name: String, description: String, grounded: Vec<EvidencedValue>) -> Self {
        let (mut values, mut evidence) = (BTreeMap::new(), BTreeMap::new());
        for value in grounded {
            evidence.extend(value.evidence.map(|evidence| (value.key.clone(), evidence)));
            values.insert(value.key, value.value);
        }
        Self { schema: SHOWN_SCHEMA, name, description, values, evidence }
    }
}
