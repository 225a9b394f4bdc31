//! `ssdlab doctor`: whether this machine is set up right for its drives. Only reads.

use std::fmt::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use miette::{IntoDiagnostic, Report, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_doctor::{
    AdviceGrade, FindingState, InspectedMachine, MachinePlace, SetupFinding, SpaceUse, examine,
};
use ssdlab_host::mounts::printable;
use ssdlab_host::sysfs;
use ssdlab_report::{Style, capitalised, inline, number_word, wrapped};

use super::exit::Exit;
use super::output;

/// The version of the `--json` output.
const SCHEMA: u32 = 1;

const COLUMNS: u16 = 80;

/// Arguments of `ssdlab doctor`.
#[derive(Debug, Args)]
pub struct DoctorCommand {
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, for an issue or a forum.
    #[arg(long)]
    markdown: bool,
}

/// What `ssdlab doctor --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorOutput {
    /// The version of this format.
    schema: u32,
    /// What was looked at.
    machine: ExaminedMachine,
    /// What could be better.
    findings: Vec<SetupFinding>,
}

/// A machine, as far as it matters for advice.
#[derive(Debug, Serialize, JsonSchema)]
struct ExaminedMachine {
    /// The kernel's version.
    kernel: String,
    /// The distribution, as os-release(5) names it.
    distribution: String,
    /// What it runs on.
    place: MachinePlace,
    /// How many filesystems were looked at.
    filesystems: usize,
}

impl DoctorCommand {
    pub fn run(self) -> Result<Exit, Report> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let found = DoctorOutput::of_machine(Path::new("/"), now.as_secs())?;
        match (self.json, self.markdown) {
            (true, _) => output::print_json(&found),
            (_, true) => output::print(&found.markdown()),
            (false, false) => output::print(&found.screen()),
        }
        Ok(if found.of(FindingState::ToDo).is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// The space of a mount point of this machine.
fn space(mount: &Path) -> Option<SpaceUse> {
    let found = rustix::fs::statvfs(mount).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some(SpaceUse { size: bytes(found.f_blocks), free: bytes(found.f_bfree) })
}

impl DoctorOutput {
    /// Examines the machine whose files are below a folder.
    fn of_machine(root: &Path, now_s: u64) -> Result<Self, Report> {
        let wrong = || format!("cannot read the mounts of {}", root.display());
        let machine =
            InspectedMachine::read(root, now_s, &space).into_diagnostic().wrap_err_with(wrong)?;
        let release = sysfs::read(&root.join("etc/os-release")).unwrap_or_default();
        let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        Ok(Self {
            schema: SCHEMA,
            machine: ExaminedMachine {
                kernel: sysfs::read(&root.join("proc/sys/kernel/osrelease")).unwrap_or_default(),
                distribution: name.unwrap_or("unknown").trim_matches('"').to_owned(),
                place: machine.place,
                filesystems: machine.writable().count(),
            },
            findings: examine(&machine),
        })
    }

    fn of(&self, state: FindingState) -> Vec<&SetupFinding> {
        self.findings.iter().filter(|finding| finding.state == state).collect()
    }

    /// The answer in a line.
    fn answer(&self) -> String {
        let number = self.of(FindingState::ToDo).len();
        match number {
            0 => "Nothing to do.".to_owned(),
            1 => "One thing to do.".to_owned(),
            _ => format!("{} things to do.", capitalised(&number_word(number))),
        }
    }

    fn method(&self) -> String {
        let place = match self.machine.place {
            MachinePlace::Hardware => "",
            MachinePlace::VirtualMachine => " in a virtual machine",
            MachinePlace::Container => " in a container",
        };
        let number = self.machine.filesystems;
        let s = if number == 1 { "" } else { "s" };
        let ExaminedMachine { distribution, kernel, .. } = &self.machine;
        format!(
            "{number} filesystem{s} of {distribution}, Linux {kernel}{place}; nothing was changed"
        )
    }

    fn screen(&self) -> String {
        let mut text =
            format!("Is this machine set up right for its drives?\n\n  {}\n\n", self.answer());
        for finding in &self.findings {
            let subject = printable(Path::new(&finding.subject));
            let head = match finding.state {
                FindingState::ToDo => subject,
                FindingState::OnTheHost => format!("{subject} (set up on the host)"),
            };
            let _ = writeln!(text, "  {head}");
            let lines = [
                ("Why", Some(&finding.why)),
                ("Do", Some(&finding.remedy)),
                ("Risk", finding.risk.as_ref()),
            ];
            for (label, says) in lines {
                text += &says.map_or(String::new(), |says| labelled(label, says));
            }
            text += &(labelled("Known", known(finding.grade)) + "\n");
        }
        text += &labelled("Seen", &self.method());
        text + &labelled("More", "what writes to the drives: ssdlab who")
    }

    fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", self.answer());
        for finding in &self.findings {
            let host = match finding.state {
                FindingState::ToDo => "",
                FindingState::OnTheHost => " (set up on the host)",
            };
            let risk = finding.risk.as_ref();
            let risk = risk.map_or(String::new(), |risk| format!(" Risk: {}", inline(risk)));
            let _ = writeln!(
                text,
                "- {}{host}: {} Do: {}.{risk} ({})",
                inline(&finding.subject),
                inline(&finding.why),
                inline(&finding.remedy),
                known(finding.grade)
            );
        }
        let version = env!("CARGO_PKG_VERSION");
        let _ = writeln!(text, "\n`ssdlab doctor` {version}: {}.", inline(&self.method()));
        text
    }
}

/// What an advice rests on, in words.
fn known(grade: AdviceGrade) -> &'static str {
    match grade {
        AdviceGrade::Fact => "from this machine and the documentation of what it runs",
        AdviceGrade::Lab => "from simulated drives, in the virtual lab",
    }
}

fn labelled(label: &str, text: &str) -> String {
    let style = Style { width: Some(COLUMNS), ..Style::default() };
    wrapped(&format!("    {label:<8}"), text, "            ", style) + "\n"
}

#[cfg(test)]
mod tests;
