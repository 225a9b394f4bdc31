//! The guest's side of power cuts: recovers the drive after each of them, one after the other.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use ssdlab_disk::guest::GuestChannel;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{ProgramError, Rules};
use ssdlab_host::undo::Journal;
use ssdlab_lab::{self as lab, Tools};
use ssdlab_operations::cuts::{DataVerdict, FsckResult, Recovery, WatchedFiles};
use ssdlab_plan::Setup;
use ssdlab_quantity::{Span, Words};
use ssdlab_workload as workload;

use super::message::Message;
use super::trial::PREPARATION;

/// The size of a piece of an archive, in bytes.
const PIECE_BYTES: usize = 1 << 20;

/// The job of a guest that recovers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recoveries {
    /// The filesystem and its settings.
    pub setup: Setup,
    /// The files that are examined.
    pub subjects: WatchedFiles,
    /// How often the drive's contents will be replaced.
    pub count: u32,
    /// The plan's own check of the data, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<DataCheck>,
    /// Whether to send the files that are there.
    #[serde(default)]
    pub packs: bool,
}

/// The plan's own check.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DataCheck {
    /// The program and its arguments.
    pub run: Words,
    /// What programs printed in the trial, line by line.
    pub said: Vec<String>,
    /// Whether it runs in the plan's system of commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_in_system: bool,
    /// How many of these lines before each of the cuts, in the order of recovery.
    pub before: Vec<usize>,
}

impl DataCheck {
    /// What it says after a recovery, by the number of recoveries before it.
    fn judge(
        &self,
        number: u32,
        directory: &Path,
        rules: Rules<'_>,
    ) -> Result<DataVerdict, ProgramError> {
        let before = self.before.get(number as usize).copied().unwrap_or(0);
        workload::check(&self.run.0, &self.said[..before], directory, self.is_in_system, rules)
    }
}

/// Sends what is written to it as pieces of an archive.
struct Pieces<'a>(&'a GuestChannel);

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.tell(&Message::<()>::Packed(bytes.to_vec()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the files below a directory.
fn pack(root: &Path, line: &GuestChannel) -> io::Result<()> {
    let mut unreadable = Vec::new();
    let pieces = BufWriter::with_capacity(PIECE_BYTES, Pieces(line));
    workload::pack(root, pieces, |name, error| {
        unreadable.push(format!("{}: {error}", name.display()));
    })?;
    unreadable.into_iter().try_for_each(|name| line.tell(&Message::<()>::Unreadable(name)))
}

/// Recovers one after the other, in a folder of the guest.
pub(super) fn inside(job: &Recoveries, folder: &Path, line: &GuestChannel) -> io::Result<()> {
    let interrupt = Interrupt::default();
    let mut journal = Journal::create_alone(folder)?;
    let marker = journal.marker().to_owned();
    let rules = Rules { marker: &marker, limit: PREPARATION, interrupt: &interrupt };
    let mut tools = Tools { journal: &mut journal, rules };
    let Recoveries { setup, subjects, count, check, packs } = job;
    let drive = lab::RecoveryDrive::open(setup, folder, &mut tools).map_err(io::Error::other)?;
    let tell = |message: Message| line.tell(&message);
    for number in 0..*count {
        tell(Message::Next)?;
        let checked_before =
            drive.check(setup, rules).map_err(io::Error::other)?.map(FsckResult::from);
        tell(Message::Again)?;
        // Files are looked at before the check may change them.
        let look = |directory: &Path| {
            let found = workload::look(subjects, directory);
            let packed = if *packs { pack(drive.root(), line) } else { Ok(()) };
            (packed, found, check.as_ref().map(|check| check.judge(number, directory, rules)))
        };
        let recovered = drive.recover(setup, rules, look).map_err(io::Error::other)?;
        let (mounted, found, data) = match recovered.mounted {
            Ok((took, (packed, found, data))) => {
                packed?;
                (Ok(Span(took).nanos()), found, data)
            }
            Err(error) => (Err(error.to_string()), Vec::new(), None),
        };
        let unasked = |error| io::Error::other(format!("the check cannot run: {error}"));
        let data = data.transpose().map_err(unasked)?;
        let checked = recovered.checked.map(FsckResult::from);
        tell(Message::Recovered(Recovery { checked_before, mounted, found, checked, data }))?;
    }
    Ok(())
}
