//! `ssdlab host`: the computers that the virtual lab can model, shipped and user-defined.

use std::fmt::Write;
use std::path::Path;

use clap::{Args, Subcommand};
use miette::Report;
use ssdlab_plan::{Fault, HOSTS, HostModel, grounded_host, shipped_host};

use super::exit::Exit;
use super::host_fit::Fit;
use super::shown::Shown;
use super::{input, output};

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
    /// Print a computer's file, with the evidence for every value, as a starting point for your
    /// own.
    Show {
        /// The name of a computer that comes with the program, or a host file.
        host: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Measure this computer for a minute or two, without root, and print a host file for it, with
    /// ranges.
    ///
    /// Compares the processor time of file operations here with the code that the lab kernel
    /// executes for them, which gives the costs of its code, of a system call and of copying. The
    /// file states the evidence for each value, and how far the fit is from the measurements.
    Fit(Fit),
}

impl Host {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::List => output::print(&list()),
            What::Show { host, json: false } => {
                let source = Source::of(host)?;
                source.model()?;
                output::print(&source.text);
            }
            What::Fit(fit) => return fit.run(),
            What::Show { host, json: true } => output::print_json(&Source::of(host)?.shown()?),
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

/// Reads a host: a file, after which it is named, or a shipped one.
pub fn load(host: &str) -> Result<HostModel, Report> {
    Source::of(host)?.model()
}

/// The text of a host file.
struct Source {
    /// The file, or the shipped host.
    named: String,
    text: String,
}

impl Source {
    fn of(host: &str) -> Result<Self, Report> {
        let names = HOSTS.each_ref().map(|host| host.name.as_str());
        let text = input::model("host", host, shipped_host(host), &names)?;
        Ok(Self { named: host.to_owned(), text })
    }

    fn name(&self) -> String {
        let stem = Path::new(&self.named).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    fn model(&self) -> Result<HostModel, Report> {
        HostModel::parse(&self.name(), &self.text).map_err(|fault| self.at_its_place(fault))
    }

    fn shown(&self) -> Result<Shown, Report> {
        let HostModel { name, description, .. } = self.model()?;
        let grounded = grounded_host(&self.text).map_err(|fault| self.at_its_place(fault))?;
        Ok(Shown::of(name, description, grounded))
    }

    fn at_its_place(&self, fault: Fault) -> Report {
        Report::new(fault.in_file(&self.named, &self.text))
    }
}
