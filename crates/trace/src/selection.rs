//! Defines which part of a trace is asked for, and keeps account of what was passed over.
//!
//! A choice that fits nothing in the trace must not look like an empty trace. Only the end of the
//! trace can tell, and if it lies in several files only the end of them all: a processor may issue
//! what another one queued.

use std::fmt;

use crate::TraceError;

/// Which requests of a trace to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to read requests as they are issued or as they are queued.
    ///
    /// It matters for blktrace and blkparse; the other formats have but one event for a request.
    pub stage: Stage,
    /// The one drive to read, if the trace has several, as the trace names it.
    ///
    /// That is `major,minor` for blktrace and blkparse (`8,0`), `hostname,disk` for MSR Cambridge
    /// (`usr,1`), and the file name for fio. ssdlab's own log has one drive and no name for it.
    pub drive: Option<String>,
}

/// Where on its way through the Linux block layer a request is seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// As the drive sees it: merged, split, and in the order in which it was sent.
    ///
    /// A request that a drive was too busy to take is issued, and read, again.
    #[default]
    Issued,
    /// As a filesystem or program asked for it.
    ///
    /// Drivers without a request queue (device mapper, md, zram) report nothing else.
    Queued,
}

impl Stage {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Issued => Self::Queued,
            Self::Queued => Self::Issued,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Issued => "issued",
            Self::Queued => "queued",
        })
    }
}

/// What is asked for, and what of it was met so far.
#[derive(Debug, Clone)]
pub struct Selection {
    stage: Stage,
    wanted: Option<Vec<u8>>,
    /// The drive whose requests are taken, once there was one.
    taken: Option<Vec<u8>>,
    /// The first drive whose requests were passed over.
    other_drive: Option<Vec<u8>>,
    other_stage: u64,
}

impl Selection {
    pub fn new(options: &Options) -> Self {
        Self {
            stage: options.stage,
            wanted: options.drive.as_ref().map(|drive| drive.as_bytes().to_vec()),
            taken: None,
            other_drive: None,
            other_stage: 0,
        }
    }

    /// Whether an event of this stage is asked for.
    pub fn takes_stage(&mut self, stage: Stage) -> bool {
        let takes = self.stage == stage;
        self.other_stage += u64::from(!takes);
        takes
    }

    /// Whether a request to this drive is asked for; an error if that is the question.
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

    /// Adds what another file of the same trace met.
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

    /// At the end of the trace: an error if the choice, and not the trace, left nothing to read.
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
