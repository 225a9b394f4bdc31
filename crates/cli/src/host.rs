//! `ssdlab host`: the computers that the virtual lab can model, shipped and user-defined.

use std::fmt::Write;
use std::path::Path;

use clap::{Args, Subcommand};
use miette::Report;
use ssdlab_flash::EvidencedValue;
use ssdlab_plan::{Bytes, Costs, HOSTS, HostModel, PlanFault, grounded_host, shipped_host};

use super::exit::Exit;
use super::host_fit::FitHostCommand;
use super::model_output::ModelOutput;
use super::{input, model_output, output};

/// Arguments of `ssdlab host`.
#[derive(Debug, Args)]
pub struct HostCommand {
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
    /// Check a host file and show the resulting computer.
    Check {
        /// A host file, or the name of a computer that comes with the program.
        host: String,
    },
    /// Measure this computer for a minute or two, without root, and print a host file for it, with
    /// ranges.
    ///
    /// Compares the processor time of file operations here with the code that the lab kernel
    /// executes for them, which gives the costs of its code, of a system call and of copying. The
    /// file states the evidence for each value, and how far the fit is from the measurements.
    Fit(FitHostCommand),
}

impl HostCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::List => output::print(&list()),
            What::Show { host, json: false } => {
                let source = Source::of(host)?;
                source.model()?;
                output::print(&source.text);
            }
            What::Check { host } => {
                let source = Source::of(host)?;
                output::print(&computer(&source.model()?));
                model_output::tell_bare(&source.grounded()?, "ssdlab host show modern-2020s");
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

/// A computer, as the virtual lab takes it.
fn computer(host: &HostModel) -> String {
    let Costs { block_ps, call_ns, copy_ns, .. } = host.costs;
    let Costs { crc32_ns, xxhash_ns, sha256_ns, blake2_ns, aes_ns, .. } = host.costs;
    let digests =
        format!("CRC-32 {crc32_ns}, xxHash {xxhash_ns}, SHA-256 {sha256_ns}, BLAKE2b {blake2_ns}");
    let lines = [
        ("name", host.name.clone()),
        ("description", host.description.clone()),
        ("kernel", format!("{} ns a basic block, {call_ns} ns a call", block_ps as f64 / 1e3)),
        ("copying", format!("{copy_ns} ns a KiB")),
        ("checksums", format!("{digests} ns a KiB")),
        ("encryption", format!("AES {aes_ns} ns a KiB")),
        ("memory", Bytes(host.memory_bytes).to_string()),
    ];
    lines.map(|(name, text)| format!("  {name:14} {text}\n")).concat()
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

    fn shown(&self) -> Result<ModelOutput, Report> {
        let HostModel { name, description, .. } = self.model()?;
        Ok(ModelOutput::of(name, description, self.grounded()?))
    }

    fn grounded(&self) -> Result<Vec<EvidencedValue>, Report> {
        grounded_host(&self.text).map_err(|fault| self.at_its_place(fault))
    }

    fn at_its_place(&self, fault: PlanFault) -> Report {
        Report::new(fault.in_file(&self.named, &self.text))
    }
}
