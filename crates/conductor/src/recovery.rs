//! The guest's side of power cuts: recovers the drive after each of them, one after the other.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use ssdlab_cuts::{Recovery, Subjects};
use ssdlab_guest::{Line, Message};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_lab::{self as lab, Tools};
use ssdlab_plan::Setup;
use ssdlab_undo::Journal;
use ssdlab_workload as workload;

use super::measure::nanos;
use super::trial::PREPARATION;

/// The job of a guest that recovers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Recoveries {
    /// The filesystem and its settings.
    pub setup: Setup,
    /// The files that are examined.
    pub subjects: Subjects,
    /// How often the drive's contents will be replaced.
    pub count: u32,
}

/// Recovers one after the other, in a folder of the guest.
pub(super) fn inside(job: &Recoveries, folder: &Path, line: &Line) -> io::Result<()> {
    let interrupt = Interrupt::default();
    let mut journal = Journal::create_alone(folder)?;
    let marker = journal.marker().to_owned();
    let rules = Rules { marker: &marker, limit: PREPARATION, interrupt: &interrupt };
    let mut tools = Tools { journal: &mut journal, rules };
    let Recoveries { setup, subjects, count } = job;
    let drive = lab::Recovery::open(setup, folder, &mut tools).map_err(io::Error::other)?;
    for _ in 0..*count {
        line.tell(&Message::Next)?;
        let look = |directory: &Path| workload::look(subjects, directory);
        let recovered = drive.recover(setup, rules, look).map_err(io::Error::other)?;
        let (mounted, found) = match recovered.mounted {
            Ok((took, found)) => (Ok(nanos(took)), found),
            Err(error) => (Err(error.to_string()), Vec::new()),
        };
        line.tell(&Message::Recovered(Recovery { mounted, found, checked: recovered.checked }))?;
    }
    Ok(())
}
