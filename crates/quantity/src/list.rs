//! Lists in sentences.

/// The parts of a sentence, one after the other: `a, b and c`.
#[must_use]
pub fn listed(parts: &[String]) -> String {
    match parts {
        [parts @ .., last] if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        _ => parts.concat(),
    }
}
