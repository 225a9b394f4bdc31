//! What the system calls of programs did to files, and what of it no sync has made durable.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most files and libraries that are named; what is done to more is added up.
const MOST_NAMED: usize = 100;

/// The name of all files together that are not named, and of what was synced whole.
const OTHERS: &str = "(other files)";
const EVERYTHING: &str = "(everything)";

/// A call of a program that changed a file or a name, or synced some. Paths start in the directory
/// under test, which is `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileCall {
    /// The call's name: `pwrite64`.
    pub name: String,
    /// What it did.
    pub effect: CallEffect,
    /// The number of the error with which it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<i32>,
}

/// What a call did, or was to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEffect {
    /// Wrote bytes of a file; durable at once if the file was opened so.
    Write {
        path: String,
        /// The first byte.
        offset_bytes: u64,
        length_bytes: u64,
        /// Whether the call returned only when they were durable.
        durable: bool,
    },
    /// Gave a file another size.
    Truncate {
        path: String,
        /// The size.
        length_bytes: u64,
    },
    /// Made, replaced or removed names.
    Names {
        /// The name that was made or removed, or that a file had before.
        path: String,
        /// The name that a file has now.
        to: Option<String>,
    },
    /// Synced a file or a directory.
    Sync {
        /// Which.
        path: String,
    },
    /// Synced everything.
    SyncAll,
}

/// What programs did in a phase, by their system calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramActivity {
    /// What they did to each file under test, by the name that it had then: the first hundred, and
    /// `(other files)`; `(everything)` is what sync and syncfs did.
    pub files: BTreeMap<String, FileActivity>,
    /// Files below `/usr` and `/lib*` of their system, but for `/usr/local`, that they opened: the
    /// first hundred.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub libraries: BTreeSet<String>,
}

/// What programs did to a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileActivity {
    /// Bytes passed to calls that write.
    pub written_bytes: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Syncs, and writes that returned only when they were durable.
    pub syncs: u64,
}

impl ProgramActivity {
    /// Counts a call.
    pub fn add(&mut self, call: &FileCall) {
        match &call.effect {
            // It has reserved space.
            CallEffect::Write { .. } if call.name == "fallocate" => {}
            CallEffect::Write { path, length_bytes, durable, .. } => {
                let file = self.file(path);
                file.written_bytes += length_bytes;
                file.writes += 1;
                file.syncs += u64::from(*durable);
            }
            CallEffect::Sync { path } => self.file(path).syncs += 1,
            CallEffect::SyncAll => self.file(EVERYTHING).syncs += 1,
            CallEffect::Truncate { .. } | CallEffect::Names { .. } => {}
        }
    }

    /// Counts with a file that was opened, by its path in the system.
    pub fn open(&mut self, path: &str) {
        let mut parts = path.trim_start_matches('/').splitn(3, '/');
        let is_library = match (parts.next(), parts.next()) {
            (Some("usr"), Some("local")) => false,
            (Some("usr" | "lib" | "lib32" | "lib64" | "libx32"), Some(_)) => true,
            _ => false,
        };
        if is_library && self.libraries.len() < MOST_NAMED {
            self.libraries.insert(path.to_owned());
        }
    }

    pub fn syncs(&self) -> u64 {
        self.files.values().map(|file| file.syncs).sum()
    }

    fn file(&mut self, name: &str) -> &mut FileActivity {
        let is_named = self.files.contains_key(name) || self.files.len() < MOST_NAMED;
        self.files.entry(if is_named { name } else { OTHERS }.to_owned()).or_default()
    }
}

/// What no sync has made durable at some moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsynced {
    /// The first byte and the one after the last that were written, by file.
    pub files: BTreeMap<String, (u64, u64)>,
    /// Changes of names, the latest last.
    pub names: Vec<FileCall>,
}

impl Unsynced {
    /// What is left by these calls, in their order.
    pub fn after<'a>(calls: impl IntoIterator<Item = &'a FileCall>) -> Self {
        let mut left = Self::default();
        calls.into_iter().for_each(|call| left.add(call));
        left
    }

    /// Lets a call take effect.
    pub fn add(&mut self, call: &FileCall) {
        if call.error.is_some() {
            return;
        }
        match &call.effect {
            CallEffect::Write { durable: true, .. } => {}
            CallEffect::Write { path, offset_bytes, length_bytes, .. } => {
                self.touch(path, *offset_bytes, offset_bytes.saturating_add(*length_bytes));
            }
            CallEffect::Truncate { path, length_bytes } => {
                self.touch(path, *length_bytes, *length_bytes);
            }
            // A file that has one more name keeps the one that it is synced by.
            CallEffect::Names { .. } if call.name == "link" => self.names.push(call.clone()),
            CallEffect::Names { path, to } => {
                let written = self.files.remove(path);
                if let Some(to) = to {
                    // What had that name is gone.
                    self.files.remove(to);
                    self.files.extend(written.map(|written| (to.clone(), written)));
                }
                self.names.push(call.clone());
            }
            CallEffect::Sync { path } => {
                self.files.remove(path);
                // A file that is synced is there by the name that it was made with.
                self.names.retain(|change| {
                    !(change.is_in(path) || change.makes(path) && change.renames().is_none())
                });
            }
            CallEffect::SyncAll => *self = Self::default(),
        }
    }

    fn touch(&mut self, path: &str, first: u64, end: u64) {
        let known = self.files.entry(path.to_owned()).or_insert((first, end));
        *known = (known.0.min(first), known.1.max(end));
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.names.is_empty()
    }
}

impl FileCall {
    /// The directories in which it changed names.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        let names = match &self.effect {
            CallEffect::Names { path, to } => [Some(path), to.as_ref()],
            _ => [None, None],
        };
        names.into_iter().flatten().map(|name| directory_of(name))
    }

    /// Whether it changed a name in this directory.
    fn is_in(&self, directory: &str) -> bool {
        self.directories().any(|own| own == directory)
    }

    fn makes(&self, name: &str) -> bool {
        matches!(&self.effect, CallEffect::Names { path, .. } if path == name)
    }

    fn renames(&self) -> Option<&str> {
        match &self.effect {
            CallEffect::Names { to, .. } => to.as_deref(),
            _ => None,
        }
    }
}

/// The directory of a name.
pub fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(directory, _)| directory)
}

#[cfg(test)]
mod tests;
