//! Output to the terminal and to files, and the capabilities of the terminal.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::Serialize;
use ssdlab_host::whole_file::WholeFile;
use ssdlab_report::{Style, is_unseen};
use ssdlab_results as results;
use thiserror::Error;

use super::json;

/// The write buffer: reports of long runs are large.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that could not be written. Its previous contents are intact.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot write {}: {cause}", path.display())]
#[diagnostic(help("name a file in a folder that exists and that you may write to"))]
pub struct OutputError {
    path: PathBuf,
    cause: io::Error,
}

/// A word of a command that is printed, quoted for sh(1) where it has to be.
pub fn quoted(word: &str) -> String {
    shlex::try_quote(word).unwrap_or_default().into_owned()
}

/// Prints a text to standard output. Terminal control sequences from untrusted files are removed.
pub fn print(text: &str) {
    print_written(|out| out.write_all(harmless(text).as_bytes()));
}

/// Prints a report, which has colours of its own but no control characters of others.
pub fn print_coloured(text: &str) {
    print_written(|out| out.write_all(coloured(text).as_bytes()));
}

/// Prints incrementally to standard output. A closed pipe (`| head`) only ends the printing; a full
/// disk ends the program, because the output is incomplete.
pub fn print_written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    print_to_reader(write);
}

/// Prints incrementally, as [`print_written`] does, and returns whether the reader is still there.
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

/// Writes a file incrementally but atomically. It does not replace anything but regular files (no
/// disk, no link), nor a run's own files.
pub fn save(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let mut file = begin(path)?;
    write(&mut file).and_then(|()| file.keep()).map_err(unwritten(path))
}

/// Begins a file that, as with [`save`], appears once it is kept.
pub fn begin(path: &Path) -> Result<WholeFile, OutputError> {
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if results::is_of_a_run(&place) {
        let cause = io::Error::other("it is part of a run, and reports never replace those files");
        return Err(unwritten(path)(cause));
    }
    WholeFile::begin(path).map_err(unwritten(path))
}

/// Makes the error of a file that cannot be written.
pub fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> OutputError {
    move |cause| OutputError { path: path.to_owned(), cause }
}

/// Prints a message to standard error, ignoring a closed pipe. Terminal control sequences from
/// untrusted files are removed.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// Prints a message with colours of its own, as [`print_coloured`] does.
pub fn tell_coloured(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", coloured(text));
}

/// Replaces control characters except line feeds and tabs by spaces, and removes characters that
/// change the direction of text.
pub fn harmless(text: &str) -> String {
    safe(text, |_| false)
}

/// The same, but keeps colours: others' text must not be in it, or be free of control characters.
pub fn coloured(text: &str) -> String {
    safe(text, is_colour)
}

fn safe(text: &str, is_kept: fn(&str) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.char_indices().filter(|(_, c)| !is_unseen(*c)) {
        let is_safe = !c.is_control() || c == '\n' || c == '\t' || is_kept(&text[at..]);
        safe.push(if is_safe { c } else { ' ' });
    }
    safe
}

/// Whether a text begins with a colour sequence (ECMA-48, SGR).
fn is_colour(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\x1b[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

/// Whether a stream shows colours: a terminal does, unless `NO_COLOR` is set.
pub fn is_coloured(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The width of the terminal on standard output or standard error.
pub fn width() -> Option<u16> {
    size().map(|(columns, _)| columns)
}

/// The columns and lines of the terminal on standard output or standard error.
pub fn size() -> Option<(u16, u16)> {
    let of = |found: rustix::io::Result<rustix::termios::Winsize>| {
        found.ok().map(|size| (size.ws_col, size.ws_row))
    };
    of(rustix::termios::tcgetwinsize(io::stdout()))
        .or_else(|| of(rustix::termios::tcgetwinsize(io::stderr())))
        .filter(|(columns, _)| *columns > 0)
}

/// The peak memory of this process, from proc(5); 0 if it cannot be read.
pub fn peak_memory_bytes() -> u64 {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.ok().and_then(|status| status.vmhwm).map_or(0, |kib| kib * 1024)
}

/// The width at which messages wrap; logs are not wrapped.
pub fn error_width() -> usize {
    let width = if io::stderr().is_terminal() { width() } else { None };
    width.map_or(usize::MAX / 2, usize::from)
}

/// The style of reports on standard output.
pub fn style() -> Style {
    let stdout = io::stdout();
    let width = if stdout.is_terminal() { width().map(|width| width.max(40)) } else { None };
    Style { is_coloured: is_coloured(&stdout), width }
}

#[cfg(test)]
mod tests;
