//! The keys of an object, from a JSON schema.

use serde_json::Value;

/// A key of an object.
pub struct Property {
    /// Its name.
    pub name: String,
    /// What it means, as Markdown.
    pub says: String,
    /// Whether it must be there.
    pub is_required: bool,
    /// A value, if the schema has an example.
    pub example: Option<Value>,
    /// The definition that its value, or each element of it, follows.
    pub of: Option<String>,
}

/// The keys of an object, in the order of their names.
pub fn properties(object: &Value) -> Vec<Property> {
    let required = object["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let of = |(name, schema): (&String, &Value)| Property {
        name: name.clone(),
        says: described(schema),
        is_required: is_required(name),
        example: schema["examples"].get(0).cloned(),
        of: definition(schema),
    };
    object["properties"].as_object().into_iter().flatten().map(of).collect()
}

/// The description of a schema, in one line.
pub fn described(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The definition that a schema refers to, for itself, for its elements or unless it is null.
fn definition(schema: &Value) -> Option<String> {
    let name = |schema: &Value| {
        let path = schema["$ref"].as_str()?;
        path.strip_prefix("#/$defs/").map(str::to_owned)
    };
    name(schema)
        .or_else(|| definition_within(&schema["items"]))
        .or_else(|| schema["anyOf"].as_array().into_iter().flatten().find_map(definition_within))
}

fn definition_within(schema: &Value) -> Option<String> {
    if schema.is_object() { definition(schema) } else { None }
}
