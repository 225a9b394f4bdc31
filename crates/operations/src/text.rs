//! Defines the lines of entries and operations in a log, for writing and reading.

use std::fmt;

use crate::error::LineFault;
use crate::{
    Allocation, Entry, Handle, OpenFlags, Operation, OperationTarget, RelativePath, Transfer,
};

/// The names of flags for opening, and their fields.
const FLAGS: [(&str, Flag); 8] = [
    ("read", |flags| &mut flags.read),
    ("write", |flags| &mut flags.write),
    ("truncate", |flags| &mut flags.truncate),
    ("append", |flags| &mut flags.append),
    ("sync", |flags| &mut flags.sync),
    ("data-sync", |flags| &mut flags.data_sync),
    ("directory", |flags| &mut flags.directory),
    ("or-existing", |flags| &mut flags.or_existing),
];

/// The field of a flag.
type Flag = fn(&mut OpenFlags) -> &mut bool;

/// A path as a field of a line.
struct Field<'a>(&'a RelativePath);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(self.0.as_bytes()))
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl fmt::Display for OperationTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => Field(path).fmt(f),
            Self::Handle(handle) => handle.fmt(f),
        }
    }
}

impl fmt::Display for OpenFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut flags = *self;
        let words: Vec<_> =
            FLAGS.iter().filter(|(_, flag)| *flag(&mut flags)).map(|(word, _)| *word).collect();
        f.write_str(if words.is_empty() { "-" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handle, offset, length, count } = self;
        write!(f, "{handle} {offset} {length}")?;
        if *count > 1 { write!(f, " {count}") } else { Ok(()) }
    }
}

/// An entry is shown as its line in a log.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { mode, path } => write!(f, "directory {mode:o} {}", Field(path)),
            Self::File { mode, size_bytes, path } => {
                write!(f, "file {mode:o} {size_bytes} {}", Field(path))
            }
            Self::Symlink { target, path } => {
                write!(f, "symlink {} {}", escape(target), Field(path))
            }
            Self::Link { existing, path } => {
                write!(f, "link {} {}", Field(existing), Field(path))
            }
        }
    }
}

/// An operation is shown as its line in a log.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::SyncFilesystem => Ok(()),
            Self::MakeDirectory { mode, path } => write!(f, " {mode:o} {}", Field(path)),
            Self::Open { handle, flags, create: Some(mode), path } => {
                write!(f, " {handle} {flags} {mode:o} {}", Field(path))
            }
            Self::Open { handle, flags, create: None, path } => {
                write!(f, " {handle} {flags} {}", Field(path))
            }
            Self::Close { handle } | Self::Sync { handle, .. } | Self::List { handle } => {
                write!(f, " {handle}")
            }
            Self::Seek { handle, offset } => write!(f, " {handle} {offset}"),
            Self::SetModified { handle, seconds } => write!(f, " {handle} {seconds}"),
            Self::Read(transfer) | Self::Write(transfer) => write!(f, " {transfer}"),
            Self::Truncate { target, size_bytes } => write!(f, " {size_bytes} {target}"),
            Self::Allocate { handle, allocation, offset, length } => {
                write!(f, " {handle} {} {offset} {length}", allocation.name())
            }
            Self::Rename { from, to } | Self::Exchange { from, to } => {
                write!(f, " {} {}", Field(from), Field(to))
            }
            Self::Link { existing, path } => write!(f, " {} {}", Field(existing), Field(path)),
            Self::Symlink { target, path } => write!(f, " {} {}", escape(target), Field(path)),
            Self::RemoveDirectory { path }
            | Self::ReadFile { path }
            | Self::ListDirectory { path }
            | Self::Unlink { path }
            | Self::Stat { path }
            | Self::ReadLink { path } => write!(f, " {}", Field(path)),
            Self::SetMode { target, mode } => write!(f, " {mode:o} {target}"),
            Self::SetTimes { target } => write!(f, " {target}"),
        }
    }
}

/// The unread fields of a line.
pub struct Fields<'a>(Option<&'a [u8]>);

impl<'a> Fields<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Self(Some(line))
    }

    /// Parses the line as an entry.
    pub fn entry(mut self) -> Result<Entry, LineFault> {
        let word = self.next();
        let entry = match word {
            b"directory" => Entry::Directory { mode: self.mode()?, path: self.path()? },
            b"file" => {
                Entry::File { mode: self.mode()?, size_bytes: self.size()?, path: self.path()? }
            }
            b"symlink" => Entry::Symlink { target: self.target_text()?, path: self.path()? },
            b"link" => Entry::Link { existing: self.path()?, path: self.path()? },
            _ => return Err(LineFault::new("the entry", "directory, file, symlink or link", word)),
        };
        self.finish(entry)
    }

    /// Parses the line as an operation.
    pub fn operation(mut self) -> Result<Operation, LineFault> {
        let word = self.next();
        let operation = match word {
            b"mkdir" => Operation::MakeDirectory { mode: self.mode()?, path: self.path()? },
            b"rmdir" => Operation::RemoveDirectory { path: self.path()? },
            b"create" => Operation::Open {
                handle: self.handle()?,
                flags: self.flags()?,
                create: Some(self.mode()?),
                path: self.path()?,
            },
            b"open" => Operation::Open {
                handle: self.handle()?,
                flags: self.flags()?,
                create: None,
                path: self.path()?,
            },
            b"seek" => Operation::Seek {
                handle: self.handle()?,
                offset: self.parse("the offset", "a number of bytes below 2^63", offset)?,
            },
            b"modified" => Operation::SetModified {
                handle: self.handle()?,
                seconds: self.parse("the time", "a number of seconds", |field| {
                    str::from_utf8(field).ok()?.parse().ok()
                })?,
            },
            b"read-file" => Operation::ReadFile { path: self.path()? },
            b"list-directory" => Operation::ListDirectory { path: self.path()? },
            b"close" => Operation::Close { handle: self.handle()? },
            b"read" => Operation::Read(self.transfer()?),
            b"write" => Operation::Write(self.transfer()?),
            b"allocate" => self.allocate()?,
            b"fsync" => Operation::Sync { handle: self.handle()?, only_data: false },
            b"fdatasync" => Operation::Sync { handle: self.handle()?, only_data: true },
            b"sync" => Operation::SyncFilesystem,
            b"rename" => Operation::Rename { from: self.path()?, to: self.path()? },
            b"exchange" => Operation::Exchange { from: self.path()?, to: self.path()? },
            b"link" => Operation::Link { existing: self.path()?, path: self.path()? },
            b"symlink" => Operation::Symlink { target: self.target_text()?, path: self.path()? },
            b"unlink" => Operation::Unlink { path: self.path()? },
            b"stat" => Operation::Stat { path: self.path()? },
            b"readlink" => Operation::ReadLink { path: self.path()? },
            b"list" => Operation::List { handle: self.handle()? },
            b"truncate" | b"ftruncate" => {
                let size_bytes = self.size()?;
                Operation::Truncate { size_bytes, target: self.target(word)? }
            }
            b"chmod" | b"fchmod" => {
                let mode = self.mode()?;
                Operation::SetMode { mode, target: self.target(word)? }
            }
            b"utimens" | b"futimens" => Operation::SetTimes { target: self.target(word)? },
            _ => return Err(LineFault::new("the operation", "one of version 1", word)),
        };
        self.finish(operation)
    }

    /// The next field; empty at the end of the line.
    fn next(&mut self) -> &'a [u8] {
        let rest = self.0.unwrap_or_default();
        let mut parts = rest.splitn(2, |byte| *byte == b' ');
        let field = parts.next().unwrap_or_default();
        self.0 = parts.next();
        field
    }

    fn finish<T>(self, value: T) -> Result<T, LineFault> {
        self.0.map_or(Ok(value), |rest| Err(LineFault::new("the rest", "nothing", rest)))
    }

    fn parse<T>(
        &mut self,
        what: &'static str,
        expected: &'static str,
        parse: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, LineFault> {
        let field = self.next();
        parse(field).ok_or_else(|| LineFault::new(what, expected, field))
    }

    fn mode(&mut self) -> Result<u32, LineFault> {
        self.parse("the mode", "octal and below 10000", |field| {
            number(field, 8)
                .and_then(|mode| u32::try_from(mode).ok())
                .filter(|mode| *mode < 0o10000)
        })
    }

    fn size(&mut self) -> Result<u64, LineFault> {
        self.parse("the size", "a number of bytes below 2^63", offset)
    }

    fn path(&mut self) -> Result<RelativePath, LineFault> {
        self.parse("the path", "a relative one without \"..\"", |field| {
            escaped(field).and_then(|bytes| RelativePath::new(&bytes))
        })
    }

    fn target_text(&mut self) -> Result<Box<[u8]>, LineFault> {
        self.parse("the link's target", "1 to 4095 bytes without NUL", |field| {
            let fits = |bytes: &Vec<u8>| (1..4096).contains(&bytes.len()) && !bytes.contains(&0);
            escaped(field).filter(fits).map(Vec::into_boxed_slice)
        })
    }

    fn handle(&mut self) -> Result<Handle, LineFault> {
        self.parse("the handle", "a number below 2^20", |field| {
            number(field, 10).and_then(|number| Handle::new(u32::try_from(number).ok()?))
        })
    }

    /// The target of an operation: a handle if its name begins with `f`.
    fn target(&mut self, word: &[u8]) -> Result<OperationTarget, LineFault> {
        if word.starts_with(b"f") {
            self.handle().map(OperationTarget::Handle)
        } else {
            self.path().map(OperationTarget::Path)
        }
    }

    fn flags(&mut self) -> Result<OpenFlags, LineFault> {
        self.parse("the flags", "a list of read, write and the like", |field| {
            let mut flags = OpenFlags::default();
            for word in field.split(|byte| *byte == b',').filter(|_| field != b"-") {
                let (_, flag) = FLAGS.iter().find(|(name, _)| name.as_bytes() == word)?;
                *flag(&mut flags) = true;
            }
            Some(flags)
        })
    }

    fn transfer(&mut self) -> Result<Transfer, LineFault> {
        let handle = self.handle()?;
        let start = self.parse("the offset", "a number of bytes below 2^63", offset)?;
        let field = self.0.unwrap_or_default();
        let length = self.parse("the length", "a number of bytes", offset)?;
        let count = match self.0 {
            Some(_) => self.parse("the count", "a number", |field| number(field, 10))?,
            None => 1,
        };
        Transfer::new(handle, start, length, count)
            .ok_or_else(|| LineFault::new("the length", "above 0, with an end below 2^63", field))
    }

    fn allocate(&mut self) -> Result<Operation, LineFault> {
        Ok(Operation::Allocate {
            handle: self.handle()?,
            allocation: self.parse("the allocation mode", "one of version 1", |field| {
                let is_it = |allocation: &Allocation| allocation.name().as_bytes() == field;
                Allocation::ALL.into_iter().find(is_it)
            })?,
            offset: self.parse("the offset", "a number of bytes below 2^63", offset)?,
            length: self.parse("the length", "a number of bytes below 2^63", offset)?,
        })
    }
}

fn escaped(field: &[u8]) -> Option<Vec<u8>> {
    field.iter().all(u8::is_ascii_graphic).then(|| unescape(field)).flatten()
}

fn offset(field: &[u8]) -> Option<u64> {
    number(field, 10).filter(|offset| i64::try_from(*offset).is_ok())
}

/// A number without sign.
pub fn number(field: &[u8], radix: u32) -> Option<u64> {
    let digits = str::from_utf8(field).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, radix).ok()
}

/// The bytes as one field of a line.
pub fn escape(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut field = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'\\' {
            field.push(char::from(byte));
        } else {
            write!(field, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    field
}

/// The bytes of a field, in which `\xHH` is one byte; the same as strace(1) `-xx`.
pub fn unescape(field: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        if first == b'\\' {
            let (high, low) = (digit(*rest.get(2)?)?, digit(*rest.get(3)?)?);
            bytes.push(high << 4 | low);
            rest = rest.strip_prefix(b"\\x")?.get(2..)?;
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
