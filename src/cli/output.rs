//! What goes to the terminal, and what the terminal can show.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::Serialize;
use thiserror::Error;

use super::json;
use crate::host::whole_file::WholeFile;
use crate::report::{Style, is_unseen};
use crate::results;

/// What is written at a time: reports of long runs are large.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that could not be written. What was there before is still there.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot write {}: {cause}", path.display())]
#[diagnostic(help("name a file in a folder that exists and that you may write to"))]
pub struct Unwritten {
    path: PathBuf,
    cause: io::Error,
}

/// Prints a text to standard output. Nothing that it has from somebody else's files steers the
/// terminal.
pub fn print(text: &str) {
    print_written(|out| out.write_all(harmless(text).as_bytes()));
}

/// Prints what is written bit by bit to standard output. A reader that has gone away (`| head`)
/// ends nothing but the printing; a full disk ends the program, because what was printed is not
/// whole.
pub fn print_written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    print_to_reader(write);
}

/// Prints what is written bit by bit, as [`print_written`] does, and tells whether its reader is
/// still there.
pub fn print_to_reader(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> bool {
    let mut stdout = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
        Err(error) => {
            tell(&format!("standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// Prints a value as one JSON object.
pub fn print_json(value: &impl Serialize) {
    print_written(|out| json::write(value, out));
}

/// Writes a file bit by bit, whole or not at all. What is not a file, like a disk or a link, is
/// left alone, and so is what a run consists of.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Unwritten> {
    let mut file = begin(path)?;
    write(&mut file).and_then(|()| file.keep()).map_err(unwritten(path))
}

/// Begins a file that is there, as with [`save`], once it is kept.
pub fn begin(path: &Path) -> Result<WholeFile, Unwritten> {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if results::is_of_a_run(&place) {
        let cause = io::Error::other("it is a part of a run, which no report replaces");
        return Err(unwritten(path)(cause));
    }
    WholeFile::begin(path).map_err(unwritten(path))
}

/// The error of a file that cannot be written.
pub fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> Unwritten {
    move |cause| Unwritten { path: path.to_owned(), cause }
}

/// Tells something on standard error; nobody listening is no reason to end. What is told may name
/// what is in somebody else's files: of that nothing steers the terminal.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// A text with a space in the place of each control character, but for line feeds, tabs and
/// colours, and without what would change the direction of other text.
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices().filter(|(_, c)| !is_unseen(*c)) {
        let is_safe = !c.is_control() || c == '\n' || c == '\t' || is_colour(&text[at..]);
        safe.push(if is_safe { c } else { ' ' });
    }
    safe
}

/// Whether a text begins with a sequence that sets colours (ECMA-48, SGR).
fn is_colour(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\x1b[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

/// Whether a stream shows colours: a terminal does, unless `NO_COLOR` is set.
pub fn is_coloured(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The width of the terminal that standard output or standard error is.
pub fn width() -> Option<u16> {
    let of = |stream: rustix::io::Result<rustix::termios::Winsize>| stream.ok().map(|s| s.ws_col);
    of(rustix::termios::tcgetwinsize(io::stdout()))
        .or_else(|| of(rustix::termios::tcgetwinsize(io::stderr())))
        .filter(|width| *width > 0)
}

/// The most memory this process has taken, as proc(5) says; 0 where that cannot be read.
pub fn peak_memory_bytes() -> u64 {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.ok().and_then(|status| status.vmhwm).map_or(0, |kib| kib * 1024)
}

/// The width that messages are wrapped to; a log is not wrapped.
pub fn error_width() -> usize {
    let width = if io::stderr().is_terminal() { width() } else { None };
    width.map_or(usize::MAX / 2, usize::from)
}

/// How a report for standard output looks.
pub fn style() -> Style {
    let stdout = io::stdout();
    let width = if stdout.is_terminal() { width().map(|width| width.max(40)) } else { None };
    Style { is_coloured: is_coloured(&stdout), width }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_steers_no_terminal() {
        let hostile = "a\x1b]0;title\x07b\x1b[2Jc\rd\u{9b}31me\u{202e}f";
        assert_eq!(harmless(hostile), "a ]0;title b [2Jc d 31mef");
        let coloured = "\x1b[1;31mred\x1b[0m\n\tplain";
        assert_eq!(harmless(coloured), coloured);
    }
}
