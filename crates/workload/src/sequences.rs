//! Every short sequence of operations, each on a directory of its own, and the state in which they
//! are found after a power cut.
//!
//! What there is, and what a sync promises, says [`ssdlab_operations::cuts::Sequence`].

use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, FallocateFlags, FileType, Mode, OFlags, fallocate, fdatasync, fsync, ftruncate,
    linkat, mkdirat, openat, renameat, syncfs, unlinkat,
};
use rustix::io::Errno;
use ssdlab_operations::cuts::sequence::{
    self, DIRECTORIES, Entries, EntryState, FILES, OperationEffect, SequenceOperation,
};
use ssdlab_operations::cuts::{Damage, FileOperationStep, FileState, Sequence, Sync, WatchedFile};
use ssdlab_plan::sequences::Sequences;

use super::clearing::entries as listed;
use super::history::{TrialReporter, fault, make, read_all, timed};
use super::player::{DIRECTORY, open_directory, write_all_at};
use super::{PhaseContext, PhaseOutcome, WorkloadError};

const OLD: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

/// Makes the directories of all sequences, and what is in them at first.
pub(super) fn lay_out(operations: u32, place: PhaseContext<'_>) -> Result<(), WorkloadError> {
    let parent = open_directory(place.directory)?;
    for sequence in Sequence::all(operations) {
        let name = sequence.name();
        mkdirat(&parent, &name, Mode::RWXU).map_err(WorkloadError::operation("make", &name))?;
        let directory = enter(&parent, &name)?;
        for name in DIRECTORIES {
            mkdirat(&directory, name, Mode::RWXU)
                .map_err(WorkloadError::operation("make", name))?;
        }
        for (name, letters) in FILES {
            make(&directory, name, &sequence::bytes_of(letters))?;
        }
    }
    Ok(())
}

/// Performs all sequences, one after the other.
pub(super) fn run(
    work: Sequences,
    teller: &TrialReporter,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let parent = open_directory(place.directory)?;
    let sequences = Sequence::all(work.operations).into_iter();
    let counted = timed(sequences, 0, place, |sequence| {
        let name = sequence.name();
        let directory = enter(&parent, &name)?;
        let mut version = 0;
        for (operation, after) in sequence.steps() {
            // What the sync is not about, is no version of it.
            let tell = |step| {
                if after > version {
                    teller.tell(WatchedFile::Sequence(sequence), after, step);
                }
            };
            tell(FileOperationStep::Begun);
            perform(operation, &directory).map_err(WorkloadError::operation("perform", &name))?;
            tell(FileOperationStep::Done);
            version = after;
        }
        sync(sequence, &directory).map_err(WorkloadError::operation("sync", &name))?;
        teller.tell(WatchedFile::Sequence(sequence), version, FileOperationStep::Place);
        Ok(())
    })?;
    Ok(PhaseOutcome { counted: Some(counted), ..PhaseOutcome::default() })
}

/// The state in which a sequence is found.
pub(super) fn look(sequence: Sequence, parent: &OwnedFd) -> Result<FileState, Damage> {
    let directory = openat(parent, sequence.name(), DIRECTORY, Mode::empty());
    let directory = directory.map_err(fault)?;
    let mut entries = Entries::new();
    list(&directory, "", &mut entries).map_err(fault)?;
    Ok(sequence.state_in(&entries))
}

/// Adds what is in a directory whose own name, with what follows it in names, is this.
fn list(directory: &OwnedFd, before: &str, entries: &mut Entries) -> Result<(), Errno> {
    for (name, kind) in listed(directory)? {
        let name = name.to_string_lossy();
        let full = format!("{before}{name}");
        let entry = if kind == FileType::Directory {
            let below = openat(directory, &*name, DIRECTORY, Mode::empty())?;
            list(&below, &format!("{full}/"), entries)?;
            EntryState::Directory
        } else {
            EntryState::File(read_all(directory, &name))
        };
        entries.insert(full, entry);
    }
    Ok(())
}

fn enter(parent: &OwnedFd, name: &str) -> Result<OwnedFd, WorkloadError> {
    openat(parent, name, DIRECTORY, Mode::empty()).map_err(WorkloadError::operation("open", name))
}

fn perform(operation: SequenceOperation, directory: &OwnedFd) -> Result<(), Errno> {
    let written = |name| openat(directory, name, OFlags::WRONLY | OLD, Mode::empty());
    match operation.effect() {
        OperationEffect::Create(name, letters) => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OLD;
            let file = openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
            write_all_at(&file, &sequence::bytes_of(letters), 0)
        }
        OperationEffect::Write(name, from, letters) => {
            let bytes = sequence::bytes_of(letters);
            write_all_at(&written(name)?, &bytes, sequence::offset_bytes(from))
        }
        OperationEffect::Truncate(name, letters) => {
            ftruncate(written(name)?, sequence::offset_bytes(letters))
        }
        OperationEffect::Allocate(name, from, letters) => allocate(&written(name)?, from, letters),
        OperationEffect::Link(name, other) => {
            linkat(directory, name, directory, other, AtFlags::empty())
        }
        OperationEffect::Rename(name, other) => renameat(directory, name, directory, other),
        OperationEffect::Unlink(name) => unlinkat(directory, name, AtFlags::empty()),
        OperationEffect::MakeDirectory(name) => mkdirat(directory, name, Mode::RWXU),
        OperationEffect::RemoveDirectory(name) => unlinkat(directory, name, AtFlags::REMOVEDIR),
    }
}

/// Like `posix_fallocate(3)`, which writes zeros where the filesystem cannot allocate.
fn allocate(file: &OwnedFd, from: usize, letters: usize) -> Result<(), Errno> {
    let [offset, length] = [from, letters].map(sequence::offset_bytes);
    match fallocate(file, FallocateFlags::empty(), offset, length) {
        Err(Errno::OPNOTSUPP) => write_all_at(file, &sequence::zeros(letters), offset),
        done => done,
    }
}

fn sync(sequence: Sequence, directory: &OwnedFd) -> Result<(), Errno> {
    let opened = |name, flags| openat(directory, name, flags, Mode::empty());
    let file = || opened(sequence.file().ok_or(Errno::NOENT)?, OFlags::WRONLY | OLD);
    match sequence.sync {
        Sync::File => fsync(file()?),
        Sync::Data => fdatasync(file()?),
        Sync::Directory => match sequence.directory() {
            "" => fsync(directory),
            name => fsync(opened(name, DIRECTORY)?),
        },
        Sync::All => syncfs(directory),
    }
}

#[cfg(test)]
mod tests;
