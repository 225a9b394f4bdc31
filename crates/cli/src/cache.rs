//! `ssdlab cache`: the cached kernels and aged filesystems, and their sizes.

use std::time::{Duration, UNIX_EPOCH};

use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_conductor as conductor;
use ssdlab_kernel::{self as kernel, CacheEntry, EntryKind};
use ssdlab_report::{bytes, counted};

use super::exit::Exit;
use super::output;

/// The version of the `--json` output.
const CACHE_SCHEMA: u32 = 1;

/// Arguments of `ssdlab cache`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct CacheCommand {
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
#[schemars(rename = "Cached")]
pub struct CacheOutput {
    /// The version of this format.
    schema: u32,
    /// Aged filesystems, the least recently used first, then lab kernels, then their build folders.
    entries: Vec<CacheEntry>,
}

impl CacheCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match (&self.what, self.json) {
            (Some(What::Clear), _) => clear()?,
            (None, true) => {
                output::print_json(&CacheOutput {
                    schema: CACHE_SCHEMA,
                    entries: kernel::cached()?,
                });
            }
            (None, false) => output::print(&shown(&kernel::cached()?)),
        }
        Ok(Exit::Done)
    }
}

fn shown(entries: &[CacheEntry]) -> String {
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
            what(entry),
            bytes(entry.size_bytes as f64),
            humantime::format_rfc3339_seconds(used).to_string(),
            (if entry.is_in_use { "in use" } else { "" }).to_owned(),
        ]);
    }
    let all = bytes(entries.iter().map(|entry| entry.size_bytes as f64).sum());
    let is_cleared = |entry: &CacheEntry| entry.kind != EntryKind::Kernel && !entry.is_in_use;
    let hint =
        if entries.iter().any(is_cleared) { "; `ssdlab cache clear` frees space" } else { "" };
    format!("{table}\n{all} in total{hint}\n")
}

fn what(entry: &CacheEntry) -> String {
    match entry.kind {
        EntryKind::Kernel => "lab kernel".to_owned(),
        EntryKind::KernelBuild => "build folder of a lab kernel".to_owned(),
        EntryKind::Aged => match entry.made_from.as_ref().map(conductor::aged_from) {
            None => "unfinished or damaged aged filesystem".to_owned(),
            Some(None) => "aged filesystem of another version of ssdlab".to_owned(),
            Some(Some(says)) => format!("aged {says}"),
        },
    }
}

fn clear() -> Result<(), Report> {
    let cleared = kernel::clear()?;
    let removed = counted(cleared.removed, "folder");
    output::print(&format!("{removed} removed, {}\n", bytes(cleared.removed_bytes as f64)));
    if cleared.in_use > 0 {
        output::print(&format!("{} in use, kept\n", counted(cleared.in_use, "folder")));
    }
    Ok(())
}
