//! Defines the header of a log: what was recorded, and what could not be.

use std::collections::BTreeMap;
use std::fmt;

/// The first lines of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// What was recorded, in words: a line of 1024 bytes at most.
    pub title: String,
    /// What the program did besides what is in the log.
    pub left_out: LeftOut,
}

/// How often each kind of call was omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<Omission, u64>);

impl LeftOut {
    /// Counts so many more.
    pub fn add(&mut self, omission: Omission, count: u64) {
        let counted = self.0.entry(omission).or_default();
        *counted = counted.saturating_add(count);
    }

    /// What was left out, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Omission, u64)> {
        self.0.iter().map(|(omission, count)| (*omission, *count))
    }

    /// How often this was left out.
    #[must_use]
    pub fn count(&self, omission: Omission) -> u64 {
        self.0.get(&omission).copied().unwrap_or(0)
    }
}

/// Something a program did in the directory that a log cannot express, or that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Omission {
    /// A file was opened past the page cache (`O_DIRECT`); it is opened in the usual way.
    DirectIo,
    /// A call that contradicts what was known of the directory: somebody else worked on it too, or
    /// it was about a name that another omission made missing.
    DoesNotFit,
    /// A program in the directory was executed; what the kernel read of it is not known.
    Executed,
    /// Extended attributes were set or removed.
    ExtendedAttributes,
    /// Requests were made through `io_uring` or the kernel's asynchronous I/O.
    AsynchronousIo,
    /// Something unknown was moved or linked in from outside.
    MovedIn,
    /// Something was moved out of the directory; it is removed.
    MovedOut,
    /// Owners were changed.
    Ownership,
    /// A file was mapped shared and writable; writes through the mapping are not seen.
    SharedMapping,
    /// A pipe, socket or device was made.
    SpecialFile,
    /// A file without a name was opened (`O_TMPFILE`).
    UnnamedFile,
    /// A call on something in the directory that this version does not know.
    UnknownCall,
    /// A descriptor was used whose opening was not seen: inherited, or passed between processes.
    UnknownDescriptor,
    /// A process whose parent was not seen; it was taken to have nothing open.
    UnknownParent,
}

impl Omission {
    /// Everything that may be left out.
    pub const ALL: [Self; 14] = [
        Self::DirectIo,
        Self::DoesNotFit,
        Self::Executed,
        Self::ExtendedAttributes,
        Self::AsynchronousIo,
        Self::MovedIn,
        Self::MovedOut,
        Self::Ownership,
        Self::SharedMapping,
        Self::SpecialFile,
        Self::UnnamedFile,
        Self::UnknownCall,
        Self::UnknownDescriptor,
        Self::UnknownParent,
    ];

    /// The word by which a log names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DirectIo => "direct-io",
            Self::DoesNotFit => "does-not-fit",
            Self::Executed => "executed",
            Self::ExtendedAttributes => "extended-attributes",
            Self::AsynchronousIo => "asynchronous-io",
            Self::MovedIn => "moved-in",
            Self::MovedOut => "moved-out",
            Self::Ownership => "ownership",
            Self::SharedMapping => "shared-mapping",
            Self::SpecialFile => "special-file",
            Self::UnnamedFile => "unnamed-file",
            Self::UnknownCall => "unknown-call",
            Self::UnknownDescriptor => "unknown-descriptor",
            Self::UnknownParent => "unknown-parent",
        }
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
