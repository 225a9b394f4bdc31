//! The values of a drive file, each with what it rests on.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::drive_file::{DriveFile, DriveFileError};
use crate::evidence::{Evidence, Figure};

/// A value of a drive file, and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Grounded {
    /// Its dotted key.
    pub key: String,
    /// The value, as TOML writes it.
    pub value: String,
    /// What it rests on, if the file says.
    pub evidence: Option<Evidence>,
}

/// Keys that say what a drive is called, not what it is.
const NAMES: [&str; 3] = ["name", "description", "evidence"];

/// The values of a drive file in the order of their keys, each with what it rests on.
///
/// Fails if evidence is of no value of the file, or contradicts it, or if a value that it calls
/// plausible makes no drive.
pub fn grounded(text: &str) -> Result<Vec<Grounded>, DriveFileError> {
    let file = DriveFile::parse(text)?;
    let table: Table = toml::from_str(text).expect("a drive file is TOML");
    let mut values = BTreeMap::new();
    flatten(&table, "", &mut values);
    for (key, evidence) in &file.evidence {
        let fault =
            |message, help| Err(DriveFileError { message, at: Some(evidence.span()), help });
        let Some(value) = values.get(key.as_str()) else {
            return fault(
                format!("there is evidence of `{key}`, which this file does not set"),
                "write the dotted key of a value of this file, such as \"trim.per_command\"".into(),
            );
        };
        let evidence = evidence.get_ref();
        if let Some((message, help)) = evidence.fault(key, value) {
            return fault(message, help);
        }
        for figure in evidence.alternatives() {
            if let Err(error) = with(&table, key, figure).and_then(|file| file.resolve()) {
                return fault(
                    format!(
                        "`{key} = {}` is called plausible and makes no drive: {}",
                        figure.clone().into_value(),
                        error.message
                    ),
                    error.help,
                );
            }
        }
    }
    Ok(values
        .into_iter()
        .map(|(key, value)| Grounded {
            evidence: file.evidence.get(&key).map(|evidence| evidence.get_ref().clone()),
            value: value.into_value().to_string(),
            key,
        })
        .collect())
}

/// The drive of a file with another value of one key.
fn with(table: &Table, key: &str, figure: &Figure) -> Result<DriveFile, DriveFileError> {
    let mut table = table.clone();
    table.remove("evidence");
    let mut inner = &mut table;
    let mut path = key.split('.').peekable();
    while let Some(part) = path.next() {
        if path.peek().is_none() {
            inner.insert(part.to_owned(), figure.clone().into_value());
            break;
        }
        inner = inner
            .get_mut(part)
            .and_then(Value::as_table_mut)
            .expect("the key is one of the table's own");
    }
    DriveFile::parse(&table.to_string())
}

fn flatten(table: &Table, prefix: &str, values: &mut BTreeMap<String, Figure>) {
    for (key, value) in table {
        if prefix.is_empty() && NAMES.contains(&key.as_str()) {
            continue;
        }
        let key = format!("{prefix}{key}");
        match value {
            Value::Table(inner) => flatten(inner, &format!("{key}."), values),
            value => values.extend(Figure::of(value).map(|figure| (key, figure))),
        }
    }
}

#[cfg(test)]
mod tests;
