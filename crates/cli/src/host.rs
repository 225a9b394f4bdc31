//! `ssdlab host`: the computers that the virtual lab stands in for.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Args, Subcommand};
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_flash::evidence::Evidence;
use ssdlab_plan::{HOSTS, HostModel, find_host};

use super::exit::{Exit, Wrong};
use super::output;

/// The version of what `host show --json` prints.
const SHOWN_SCHEMA: u32 = 1;

/// Arguments of `ssdlab host`.
#[derive(Debug, Args)]
pub struct Host {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the computers.
    List,
    /// Print a computer's file, with the evidence for every value.
    Show {
        /// Its name.
        host: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// What `ssdlab host show --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShownHost")]
pub struct Shown {
    /// The version of this format.
    schema: u32,
    name: String,
    /// What it stands for, in a sentence.
    description: String,
    /// The file's values as TOML writes them, by dotted key (`ns_per_kib.copy`).
    values: BTreeMap<String, String>,
    /// What the values rest on, by the same keys; absent for a value without evidence.
    evidence: BTreeMap<String, Evidence>,
}

impl Host {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::List => output::print(&list()),
            What::Show { host, json: false } => output::print(find(host)?.text()),
            What::Show { host, json: true } => output::print_json(&shown(find(host)?)),
        }
        Ok(Exit::Done)
    }
}

fn list() -> String {
    let mut out = String::new();
    let width = HOSTS.iter().map(|host| host.name.len()).max().unwrap_or(0);
    for host in HOSTS.iter() {
        let _ = writeln!(out, "  {:width$}  {}", host.name, host.description);
    }
    out
}

fn find(name: &str) -> Result<&'static HostModel, Report> {
    find_host(name).ok_or_else(|| {
        let names = HOSTS.each_ref().map(|host| host.name.as_str());
        Wrong::report(
            format!("there is no host named `{name}`"),
            format!("hosts: {}", names.join(", ")),
        )
    })
}

fn shown(host: &HostModel) -> Shown {
    let (mut values, mut evidence) = (BTreeMap::new(), BTreeMap::new());
    for value in host.grounded() {
        evidence.extend(value.evidence.map(|evidence| (value.key.clone(), evidence)));
        values.insert(value.key, value.value);
    }
    let (name, description) = (host.name.clone(), host.description.clone());
    Shown { schema: SHOWN_SCHEMA, name, description, values, evidence }
}
