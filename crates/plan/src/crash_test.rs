//! The plan of `ssdlab crashtest`: does a program's data survive a power cut?

use std::fmt;
use std::path::PathBuf;

use toml::Value;

/// Cuts of each trial: few, so that a run comes to know something soon, has several seeds, and
/// keeps all processors busy.
const CUTS_OF_TRIAL: u32 = 50;

/// The drive unless another is named: honest, without capacitors, and small enough to lose order.
const DRIVE: &str = "x25m-g2";

/// Its capacity; a shipped drive needs no more to behave as it does.
const CAPACITY: &str = "3 GB";

/// A test of a program: what it runs, and what says whether its data survived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashTest {
    /// The shell command that writes data, and prints a line for all that it acknowledges.
    pub run: String,
    /// The shell command that checks them, given these lines.
    pub check: String,
    pub filesystems: Vec<String>,
    /// The number of power cuts on each of them.
    pub cuts: u32,
    /// A drive by its name or file, instead of the usual one.
    pub drive: Option<String>,
    /// The system to run in, instead of this machine's.
    pub root: Option<PathBuf>,
    /// What is added to it.
    pub add: Vec<PathBuf>,
    /// The requests of the drive that fail, as a plan says it.
    pub write_errors: Option<String>,
}

impl CrashTest {
    /// The name of its plan.
    pub const NAME: &str = "crashtest";
}

impl fmt::Display for CrashTest {
    /// Writes the plan.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shell = |command: &str| Value::from(vec!["sh", "-c", command]);
        let paths = |paths: &[PathBuf]| {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            Value::from(paths)
        };
        writeln!(f, "# Made by `ssdlab crashtest`. Save it in a file: ssdlab run FILE\n")?;
        writeln!(f, "name = \"{}\"", Self::NAME)?;
        writeln!(f, "question = \"Does the program's data survive a power cut?\"")?;
        writeln!(f, "target = {{ lab = \"virtual\" }}\n")?;
        writeln!(f, "[cuts]\nnumber = {}\ncheck = {}\n", self.cuts, shell(&self.check))?;
        writeln!(f, "[factors]\nfilesystem = {}", Value::from(self.filesystems.clone()))?;
        writeln!(f, "drive = {}", Value::from(self.drive.as_deref().unwrap_or(DRIVE)))?;
        writeln!(f, "\n[virtual]\nseeds = {}", self.cuts.div_ceil(CUTS_OF_TRIAL).max(1))?;
        if self.drive.is_none() {
            writeln!(f, "capacity = \"{CAPACITY}\"")?;
        }
        writeln!(f, "\n[workload.system]")?;
        if let Some(root) = &self.root {
            writeln!(f, "root = {}", Value::from(root.display().to_string()))?;
        }
        writeln!(f, "add = {}", paths(&self.add))?;
        if let Some(errors) = &self.write_errors {
            writeln!(f, "write_errors = {}", Value::from(errors.as_str()))?;
        }
        writeln!(f, "\n[[workload.phases]]\ndo = \"command\"\nname = \"run\"")?;
        writeln!(f, "run = {}", shell(&self.run))
    }
}

#[cfg(test)]
mod tests;
