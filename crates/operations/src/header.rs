//! Defines the header of a log: what was recorded, and what was not.

use std::collections::BTreeMap;
use std::fmt;

/// The first lines of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogHeader {
    /// A description: one line of at most 1024 bytes.
    pub title: String,
    /// What the program did that is not in the log.
    pub left_out: LeftOut,
}

/// How often each kind of call was omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<Omission, u64>);

impl LeftOut {
    pub fn add(&mut self, omission: Omission, count: u64) {
        let counted = self.0.entry(omission).or_default();
        *counted = counted.saturating_add(count);
    }

    /// What was omitted, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Omission, u64)> {
        self.0.iter().map(|(omission, count)| (*omission, *count))
    }

    /// How often this was omitted.
    pub fn count(&self, omission: Omission) -> u64 {
        self.0.get(&omission).copied().unwrap_or(0)
    }
}

/// Something a program did in the directory that a log cannot express, or that was not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Omission {
    /// A file was opened for direct I/O (`O_DIRECT`); the log opens it buffered.
    DirectIo,
    /// A call contradicts the known state of the directory: another process changed it, or the call
    /// concerned a name missing because of another omission.
    DoesNotFit,
    /// A program in the directory was executed; what the kernel read of it is unknown.
    Executed,
    /// Extended attributes were set or removed.
    ExtendedAttributes,
    /// I/O was submitted through `io_uring` or the kernel's asynchronous I/O.
    AsynchronousIo,
    /// Something was moved or linked in from outside.
    MovedIn,
    /// Something was moved out of the directory; the log removes it.
    MovedOut,
    /// Owners were changed.
    Ownership,
    /// A file was mapped shared and writable; writes through the mapping are invisible.
    SharedMapping,
    /// A pipe, socket or device was made.
    SpecialFile,
    /// A file without a name was opened (`O_TMPFILE`).
    UnnamedFile,
    /// An unknown call concerned the directory.
    UnknownCall,
    /// A descriptor was used whose opening was not seen: it was inherited, or passed between
    /// processes.
    UnknownDescriptor,
    /// The parent of a process was not seen; the process was assumed to have nothing open.
    UnknownParent,
}

crate::words! {
    Omission {
        DirectIo: "direct-io",
        DoesNotFit: "does-not-fit",
        Executed: "executed",
        ExtendedAttributes: "extended-attributes",
        AsynchronousIo: "asynchronous-io",
        MovedIn: "moved-in",
        MovedOut: "moved-out",
        Ownership: "ownership",
        SharedMapping: "shared-mapping",
        SpecialFile: "special-file",
        UnnamedFile: "unnamed-file",
        UnknownCall: "unknown-call",
        UnknownDescriptor: "unknown-descriptor",
        UnknownParent: "unknown-parent",
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
