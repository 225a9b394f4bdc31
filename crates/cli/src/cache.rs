//! `ssdlab cache`: the cached kernels and aged filesystems, and their sizes.

use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_aged::Store;
use ssdlab_conductor as conductor;
use ssdlab_kernel::{self as kernel, KernelError};
use ssdlab_report::{bytes, counted};

use super::exit::Exit;
use super::output;

/// The version of the `--json` output.
const CACHE_SCHEMA: u32 = 1;

/// Arguments of `ssdlab cache`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cache {
    #[command(subcommand)]
    what: Option<What>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Remove aged filesystems, which runs recreate, and build folders of lab kernels; never
    /// anything in use, nor lab kernels themselves.
    Clear,
}

/// The contents of the cache.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cached {
    /// The version of this format.
    schema: u32,
    /// Aged filesystems, the least recently used first, then lab kernels, then their build folders.
    entries: Vec<Entry>,
}

/// An entry of the cache.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// The kind of entry.
    kind: Kind,
    /// Its path.
    path: PathBuf,
    /// The settings an aged filesystem was made from; absent if it is unfinished or damaged.
    made_from: Option<serde_json::Value>,
    /// Its size on disk.
    size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    used_s: u64,
    /// Whether it is being used or made. For a kernel this is unknown, and false.
    is_in_use: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// An aged filesystem.
    Aged,
    /// A lab kernel.
    Kernel,
    /// A folder in which lab kernels are built: left by a build that has not ended, or kept by
    /// `ssdlab judge`.
    KernelBuild,
}

impl Cache {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        match (&self.what, self.json) {
            (Some(What::Clear), _) => clear()?,
            (None, true) => {
                output::print_json(&Cached { schema: CACHE_SCHEMA, entries: entries()? });
            }
            (None, false) => output::print(&shown(&entries()?)),
        }
        Ok(Exit::Done)
    }
}

fn entries() -> Result<Vec<Entry>, Report> {
    let aged = Store::of_user().all()?.into_iter().map(|kept| Entry {
        kind: Kind::Aged,
        path: kept.folder,
        made_from: kept.made_from,
        size_bytes: kept.size_bytes,
        used_s: kept.used_s,
        is_in_use: kept.is_in_use,
    });
    let kernels = kernel::kept()?.into_iter().map(|kept| Entry {
        kind: if kept.is_build { Kind::KernelBuild } else { Kind::Kernel },
        path: kept.path,
        made_from: None,
        size_bytes: kept.size_bytes,
        used_s: kept.used_s,
        is_in_use: kept.is_in_use,
    });
    Ok(aged.chain(kernels).collect())
}

fn shown(entries: &[Entry]) -> String {
    if entries.is_empty() {
        return "the cache is empty\n".to_owned();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["path", "what", "size", "last used", ""]);
    for entry in entries {
        let used = UNIX_EPOCH + Duration::from_secs(entry.used_s);
        table.add_row([
            entry.path.display().to_string(),
            entry.what(),
            bytes(entry.size_bytes as f64),
            humantime::format_rfc3339_seconds(used).to_string(),
            (if entry.is_in_use { "in use" } else { "" }).to_owned(),
        ]);
    }
    let all = bytes(entries.iter().map(|entry| entry.size_bytes as f64).sum());
    let is_cleared = |entry: &Entry| entry.kind != Kind::Kernel && !entry.is_in_use;
    let hint =
        if entries.iter().any(is_cleared) { "; `ssdlab cache clear` frees space" } else { "" };
    format!("{table}\n{all} in total{hint}\n")
}

impl Entry {
    fn what(&self) -> String {
        match self.kind {
            Kind::Kernel => "lab kernel".to_owned(),
            Kind::KernelBuild => "build folder of a lab kernel".to_owned(),
            Kind::Aged => match self.made_from.as_ref().map(conductor::aged_from) {
                None => "unfinished or damaged aged filesystem".to_owned(),
                Some(None) => "aged filesystem of another version of ssdlab".to_owned(),
                Some(Some(says)) => format!("aged {says}"),
            },
        }
    }
}

fn clear() -> Result<(), Report> {
    let mut cleared = Store::of_user().clear()?;
    let builds = kernel::kept()?.into_iter().filter(|kept| kept.is_build);
    for build in builds {
        match kernel::clear() {
            Ok(()) => {
                cleared.removed += 1;
                cleared.removed_bytes += build.size_bytes;
            }
            Err(KernelError::Busy { .. }) => cleared.in_use += 1,
            Err(error) => return Err(error.into()),
        }
    }
    let removed = counted(cleared.removed, "folder");
    output::print(&format!("{removed} removed, {}\n", bytes(cleared.removed_bytes as f64)));
    if cleared.in_use > 0 {
        output::print(&format!("{} in use, kept\n", counted(cleared.in_use, "folder")));
    }
    Ok(())
}
