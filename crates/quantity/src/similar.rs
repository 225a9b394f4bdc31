//! Suggestions for misspelt names.

/// Words less alike than this are not suggested. By Jaro and Winkler 1 is equality; `etx4` and
/// `ext4` have 0.93, names of one kind that have nothing to do with each other 0.4 to 0.7.
const LEAST: f64 = 0.8;

/// The known name most similar to the written one, if any is similar.
pub fn similar<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.into_iter().map(|name| (strsim::jaro_winkler(written, name), name));
    let alike = alike.filter(|(alike, name)| *alike >= LEAST && *name != written);
    alike.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// A question to begin a help text with, if a known name is similar to the written one; empty
/// otherwise.
pub fn did_you_mean<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(written, known).map_or(String::new(), |name| format!("did you mean `{name}`? "))
}

/// The question whether a similar key or word was meant, if serde's message names one.
pub fn was_meant(message: &str) -> Option<String> {
    similar_key(message).map(|key| format!("did you mean `{key}`?"))
}

/// The key or word that was meant, from serde's message "unknown field `x`, expected one of `y`,
/// `z`".
fn similar_key(message: &str) -> Option<&str> {
    let (_, named) = message.strip_prefix("unknown ")?.split_once('`')?;
    let (written, known) = named.split_once('`')?;
    similar(written, known.split(['`', ' ', ',']))
}

#[cfg(test)]
mod tests;
