//! What goes to the terminal, and what the terminal can show.

use std::io::{self, IsTerminal, Write};

use crate::report::Style;

/// Prints to standard output. A reader that has gone away (`| head`) ends nothing but the
/// printing; a full disk ends the program, because what was printed is not whole.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tell(&format!("standard output: {error}"));
            std::process::exit(1);
        }
        _ => {}
    }
}

/// Tells something on standard error; nobody listening is no reason to end.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
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
