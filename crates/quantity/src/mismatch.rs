//! Messages about values of the wrong kind, in the words of files.

/// A message of serde in the words of somebody who writes a file: "invalid value: integer `-1`,
/// expected u32" becomes "expected a whole number from 0 to 4294967295, found `-1`". Other messages
/// stay as they are.
pub fn in_words(message: &str) -> String {
    let of_kind =
        message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    match of_kind.and_then(|text| text.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("expected {}, found {}", kind(expected), value(found)),
        None => message.to_owned(),
    }
}

fn kind(expected: &str) -> String {
    let whole = |most: u64| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" | "usize" => "a whole number from 0".to_owned(),
        "i32" | "i64" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text: \"...\"".to_owned(),
        "a sequence" => "a list: [...]".to_owned(),
        "a map" => "a table: { key = value }".to_owned(),
        table if table.starts_with("struct ") => kind("a map"),
        other => other.to_owned(),
    }
}

fn value(found: &str) -> &str {
    match found {
        "sequence" => "a list",
        "map" => "a table",
        // A kind, and the value in quotes.
        other => other.find(['`', '"']).map_or(other, |at| &other[at..]),
    }
}

#[cfg(test)]
mod tests;
