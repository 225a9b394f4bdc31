//! The values of a drive or host file, each with its evidence.

use std::collections::BTreeMap;

use toml::Table;

use crate::drive_file::{DriveFile, DriveFileError};
use crate::evidence::{Evidence, EvidenceByKey, Value};

/// A value of a drive or host file, and its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidencedValue {
    /// Its dotted key.
    pub key: String,
    /// The value, as TOML writes it.
    pub value: String,
    /// Its evidence, if the file has any.
    pub evidence: Option<Evidence>,
}

/// Keys about the name and the evidence of a drive or host, not about its properties.
const ABOUT: [&str; 4] = ["name", "description", "evidence", "figures"];

/// The values of a drive file in the order of their keys, each with its evidence.
///
/// Fails if evidence is for a value that the file does not set, contradicts the value or names a
/// figure that is not in the file, or if a value that it calls plausible gives an invalid drive.
pub fn grounded(text: &str) -> Result<Vec<EvidencedValue>, DriveFileError> {
    let file = DriveFile::parse(text)?;
    let table: Table = toml::from_str(text).expect("a drive file is TOML");
    let values = values(&table);
    for (key, evidence) in &file.evidence {
        let fault =
            |message, help| Err(DriveFileError { message, at: Some(evidence.span()), help });
        let evidence = evidence.get_ref();
        if let Some((message, help)) = self::fault(&values, key, evidence, "trim.per_command") {
            return fault(message, help);
        }
        if let Some(name) = evidence.fitted_to.iter().find(|name| !file.figures.contains_key(*name))
        {
            return fault(
                format!("`{key}` is fitted to `{name}`, which is not among the file's figures"),
                format!("describe the figure in a table [figures.{name}]"),
            );
        }
        for value in evidence.alternatives() {
            if let Err(error) = with(&table, [(key, value)]).and_then(|file| file.resolve()) {
                return fault(
                    format!(
                        "`{key} = {}` is called plausible and makes no drive: {}",
                        value.clone().into_toml(),
                        error.message
                    ),
                    error.help,
                );
            }
        }
    }
    Ok(with_evidence(values, &file.evidence))
}

/// The fault of a key's evidence, given the values of its file, and what to do; `example` is a key
/// of such files.
pub fn fault(
    values: &BTreeMap<String, Value>,
    key: &str,
    evidence: &Evidence,
    example: &str,
) -> Option<(String, String)> {
    match values.get(key) {
        Some(value) => evidence.fault(key, value),
        None => Some((
            format!("there is evidence for `{key}`, which this file does not set"),
            format!("write the dotted key of a value of this file, such as \"{example}\""),
        )),
    }
}

/// The values of a drive or host file, by their dotted keys.
pub fn values(table: &Table) -> BTreeMap<String, Value> {
    let mut values = BTreeMap::new();
    flatten(table, "", &mut values);
    values
}

/// Values in the order of their keys, each with its evidence.
pub fn with_evidence(
    values: BTreeMap<String, Value>,
    evidence: &EvidenceByKey,
) -> Vec<EvidencedValue> {
    let grounded = |(key, value): (String, Value)| EvidencedValue {
        evidence: evidence.get(&key).map(|evidence| evidence.get_ref().clone()),
        value: value.into_toml().to_string(),
        key,
    };
    values.into_iter().map(grounded).collect()
}

/// A file's drive with other values of some keys, each of which the file sets.
pub(crate) fn with<'a>(
    table: &Table,
    values: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Result<DriveFile, DriveFileError> {
    let mut table = table.clone();
    table.retain(|key, _| !matches!(key, "evidence" | "figures"));
    for (key, value) in values {
        let (path, last) = key.rsplit_once('.').map_or((None, key.as_str()), |(p, l)| (Some(p), l));
        let inner = path
            .into_iter()
            .flat_map(|path| path.split('.'))
            .try_fold(&mut table, |inner, part| {
                inner.get_mut(part).and_then(toml::Value::as_table_mut)
            });
        let Some(place) = inner.and_then(|inner| inner.get_mut(last)) else {
            return Err(DriveFileError {
                message: format!("the drive file does not set `{key}`"),
                at: None,
                help: "the values are of another drive file".to_owned(),
            });
        };
        *place = value.clone().into_toml();
    }
    DriveFile::parse(&table.to_string())
}

fn flatten(table: &Table, prefix: &str, values: &mut BTreeMap<String, Value>) {
    for (key, value) in table {
        if prefix.is_empty() && ABOUT.contains(&key.as_str()) {
            continue;
        }
        let key = format!("{prefix}{key}");
        match value {
            toml::Value::Table(inner) => flatten(inner, &format!("{key}."), values),
            value => values.extend(Value::of(value).map(|value| (key, value))),
        }
    }
}

#[cfg(test)]
mod tests;
