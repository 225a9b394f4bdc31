//! Defines which part of a trace is selected, and tracks what was skipped.
//!
//! A selection that matches nothing must not look like an empty trace. This is known only at the
//! end of the trace, and if there are several files only at the end of all: a processor may issue
//! what another one queued.

use crate::TraceError;
use crate::event::{TraceStage, TraceStep};

/// Which requests of a trace to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// Whether to read requests as issued or as queued.
    ///
    /// This matters for blktrace, blkparse and ftrace; other formats have one event per request.
    pub stage: TraceStage,
    /// The drive to read if the trace has several, by its name in the trace.
    ///
    /// This is `major,minor` for blktrace, blkparse and ftrace (`8,0`), `major minor` for FIU,
    /// `hostname,disk` for MSR Cambridge (`usr,1`), the file name for fio, and the column of the
    /// disk, volume or LUN for the others. Logs of dm-log-writes and ssdlab have one drive without
    /// a name.
    pub drive: Option<String>,
}

/// The selection, and what has been found so far.
#[derive(Debug, Clone)]
pub struct Selection {
    stage: TraceStage,
    wanted: Option<Vec<u8>>,
    /// The drive whose requests are read, once one was found.
    taken: Option<Vec<u8>>,
    /// The first drive whose requests were skipped.
    other_drive: Option<Vec<u8>>,
    other_stage: u64,
}

impl Selection {
    pub fn new(options: &TraceOptions) -> Self {
        Self {
            stage: options.stage,
            wanted: options.drive.as_ref().map(|drive| drive.as_bytes().to_vec()),
            taken: None,
            other_drive: None,
            other_stage: 0,
        }
    }

    /// Whether an event is selected. Only submissions decide which drive is read.
    pub fn takes(&mut self, step: TraceStep, drive: &[u8]) -> Result<bool, TraceError> {
        match step {
            TraceStep::Submitted(stage) => {
                Ok(stage.is_none_or(|stage| self.takes_stage(stage)) && self.takes_drive(drive)?)
            }
            TraceStep::Completed | TraceStep::Returned => {
                Ok(self.wanted.as_ref().is_none_or(|wanted| wanted == drive))
            }
        }
    }

    /// Whether submissions at this stage are selected.
    pub fn takes_stage(&mut self, stage: TraceStage) -> bool {
        let takes = self.stage == stage;
        self.other_stage += u64::from(!takes);
        takes
    }

    /// Whether requests to this drive are selected; an error if that is ambiguous.
    pub fn takes_drive(&mut self, name: &[u8]) -> Result<bool, TraceError> {
        match (&self.taken, &self.wanted) {
            (Some(taken), _) if taken == name => return Ok(true),
            (Some(taken), None) => {
                return Err(TraceError::SeveralDrives { first: text(taken), second: text(name) });
            }
            (None, None) => {}
            (None, Some(wanted)) if wanted == name => {}
            (_, Some(_)) => {
                self.other_drive.get_or_insert_with(|| name.to_vec());
                return Ok(false);
            }
        }
        self.taken = Some(name.to_vec());
        Ok(true)
    }

    /// Adds what was found in another file of the same trace.
    pub fn join(&mut self, other: &Self) -> Result<(), TraceError> {
        if let Some(name) = &other.taken {
            self.takes_drive(name)?;
        }
        if let Some(name) = &other.other_drive {
            self.other_drive.get_or_insert_with(|| name.clone());
        }
        self.other_stage += other.other_stage;
        Ok(())
    }

    /// At the end of the trace: an error if the selection, not the trace, is empty.
    pub fn check_met(&self) -> Result<(), TraceError> {
        if self.taken.is_some() {
            return Ok(());
        }
        if let (Some(wanted), Some(found)) = (&self.wanted, &self.other_drive) {
            return Err(TraceError::NoSuchDrive { wanted: text(wanted), found: text(found) });
        }
        if self.other_stage > 0 {
            return Err(TraceError::NoneAtStage { wanted: self.stage, others: self.other_stage });
        }
        Ok(())
    }
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
