//! Operation logs: what a program did to the files of a directory, and in which order.
//!
//! A log is made on one machine and performed on any other, so it holds no times, no contents, no
//! owners and no path outside the directory: only the directory as it was before ([`Entry`]) and
//! the [`Operation`]s that succeeded, in the order in which they ended. [`Recorder`] makes them of
//! what strace(1) prints, [`Writer`] and [`Reader`] keep them as text, [`Tree`] says what a
//! directory comes to by them, and [`Statistics`] count them.
//!
//! # The format
//!
//! Lines of fields that one blank separates. In a path, every byte that is not a printable ASCII
//! character, and the backslash, is `\xHH` (lower-case). Numbers are decimal, modes octal.
//!
//! ```text
//! ssdlab operation log 1          what it is, and the version
//! title make -j2 of zlib          what was recorded, in words
//! left-out executed 3             what the program did besides, and how often: Omission
//! before                          the directory before, parents first
//! directory 755 src               mode, path
//! file 644 1234 src/a.c           mode, bytes, path
//! symlink src/a.c newest          text of the link, path
//! link src/a.c src/b.c            a name above of the same file, path
//! operations
//! create 0 write 644 src/a.o      handle, how it is opened, mode, path: the file is new
//! open 1 read src/a.c             handle, how it is opened, path: it exists
//! read 1 0 1234                   handle, offset, bytes
//! write 0 0 4096 7                the same; 7 such calls, each where the one before ended
//! close 0
//! end                             without this line, the log was cut
//! ```
//!
//! The other operations are `allocate`, `chmod`, `exchange`, `fchmod`, `fdatasync`, `fsync`,
//! `ftruncate`, `futimens`, `link`, `list`, `mkdir`, `readlink`, `rename`, `rmdir`, `stat`,
//! `symlink`, `sync`, `truncate`, `unlink` and `utimens`, each with the fields of [`Operation`]
//! and paths last. Operations that are made up rather than recorded have `list-directory`,
//! `modified`, `read-file` and `seek` as well.
//!
//! # What holds for every log that is read
//!
//! - A path has no `..` and does not begin with `/` ([`RelativePath`]).
//! - A handle is opened before it is used, and not twice.
//!
//! # What holds for every log that is recorded
//!
//! - No component of a path is a symbolic link, for the recorder has followed them; the last one is
//!   where the link itself is meant. A reader cannot check that. So whoever performs a log opens
//!   with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS` (openat2(2)), which a hostile log fails at.
//! - Every operation fits the directory as the ones before leave it ([`Tree::apply`]).
//! - Modes are those the files got, so the umask of whoever performs them has to be 0.
//!
//! Everything here is pure: no file is opened and no clock is read. No input makes it panic. Memory
//! does not grow with the length of a log; that of a tree and of a recorder grows with the names,
//! open files and processes that there are at a time.

mod entry;
mod error;
mod escape;
mod header;
mod lines;
mod operation;
mod path;
mod reader;
mod statistics;
mod strace;
mod text;
mod tree;
mod writer;

pub use entry::Entry;
pub use error::LogError;
pub use header::{Header, LeftOut, Omission};
pub use operation::{Allocation, Handle, OpenFlags, Operation, Target, Transfer};
pub use path::RelativePath;
pub use reader::Reader;
pub use statistics::Statistics;
pub use strace::{Recorder, STRACE_OPTIONS, Setting, StraceError};
pub use tree::{Node, Tree, Unfit};
pub use writer::Writer;
