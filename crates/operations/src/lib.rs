//! Operation logs: what a program did to the files of a directory, in order.
//!
//! A log is recorded on one machine and replayed on any other, so it has no times, contents, owners
//! or paths outside the directory: only the directory's initial state ([`Entry`]) and the
//! [`Operation`]s that succeeded, in the order in which they ended. [`StraceRecorder`] makes them
//! from the output of strace(1), [`LogWriter`] and [`LogReader`] store them as text, and [`Tree`]
//! models their effect on a directory.
//!
//! # The format
//!
//! Lines of fields separated by single spaces. In a path, every byte that is not a printable ASCII
//! character, and the backslash, is `\xHH` (lower-case). Numbers are decimal, modes octal.
//!
//! ```text
//! ssdlab operation log 1          what it is, and the version
//! title make -j2 of zlib          what was recorded, in words
//! left-out executed 3             what is not in the log, and how often: Omission
//! before                          the initial directory, parents first
//! directory 755 src               mode, path
//! file 644 1234 src/a.c           mode, bytes, path
//! symlink src/a.c newest          target, path
//! link src/a.c src/b.c            an earlier name of the same file, path
//! operations
//! create 0 write 644 src/a.o      handle, flags, mode, path: the file is new
//! open 1 read src/a.c             handle, flags, path: the file exists
//! read 1 0 1234                   handle, offset, bytes
//! write 0 0 4096 7                the same, with 7 such calls one after the other
//! close 0
//! end                             without this line, the log is truncated
//! ```
//!
//! The other operations are `allocate`, `chmod`, `exchange`, `fchmod`, `fdatasync`, `fsync`,
//! `ftruncate`, `futimens`, `link`, `list`, `mkdir`, `readlink`, `rename`, `rmdir`, `stat`,
//! `symlink`, `sync`, `truncate`, `unlink` and `utimens`, each with the fields of [`Operation`] and
//! paths last. Generated operations also include `list-directory`, `modified`, `read-file` and
//! `seek`.
//!
//! # Invariants of every log that is read
//!
//! - A path has no `..` and does not begin with `/` ([`RelativePath`]).
//! - A handle is opened before it is used, and not twice.
//!
//! # Invariants of every log that is recorded
//!
//! - No component of a path is a symbolic link, because the recorder has followed them; only the
//!   last may be, if the link itself is meant. A reader cannot check that, so a replay opens files
//!   with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` (openat2(2)), which defeats a hostile log.
//! - Every operation is valid in the state left by those before it ([`Tree::apply`]).
//! - Modes are final, so a replay needs a umask of 0.
//!
//! Everything here is pure: no file is opened and no clock is read. No input causes a panic. Memory
//! does not grow with the length of a log; that of a tree and of a recorder grows with the number
//! of names, open files and processes.

/// Gives the variants of an enum their words: `ALL` has the variants in order, `name` gives a
/// variant's word in plans, logs and results.
#[macro_export]
macro_rules! words {
    ($named:ident { $($variant:ident: $word:literal,)+ }) => {
        impl $named {
            /// All of them, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its word in plans, logs and results.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

pub mod calls;
pub mod cuts;
mod entry;
mod error;
mod header;
mod lines;
mod operation;
mod path;
mod reader;
mod strace;
mod text;
mod tree;
mod writer;

pub use entry::Entry;
pub use error::OperationLogError;
pub use header::{LeftOut, LogHeader, Omission};
pub use operation::{Allocation, Handle, OpenFlags, Operation, OperationTarget, Transfer};
pub use path::RelativePath;
pub use reader::LogReader;
pub use strace::{ProgramStart, STRACE_OPTIONS, StraceError, StraceRecorder};
pub use tree::{Node, Tree, Unfit};
pub use writer::LogWriter;
