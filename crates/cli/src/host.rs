//! `ssdlab host`: the computers that the virtual lab stands in for.

use std::fmt::Write;

use clap::{Args, Subcommand};
use miette::Report;
use ssdlab_plan::{HOSTS, HostModel, find_host};

use super::exit::{Exit, Wrong};
use super::output;
use super::shown::Shown;

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
    Shown::of(host.name.clone(), host.description.clone(), host.grounded())
}
