//! `ssdlab who` without `--for` and without a command: what was written to each drive since boot,
//! by whom as far as the kernel counts it, and how the drive wears. Nothing is traced or written,
//! and everything but a drive's own log is read without root.

mod drive_writes;
mod life;
mod markdown;
mod prometheus;
mod reading;
mod screen;
pub mod target;
mod wording;

use std::path::Path;

use miette::Report;

use self::reading::MachineView;
use super::super::exit::Exit;
use super::super::output;
use super::output::OutputFormat;

pub use self::drive_writes::SinceBoot;

/// Prints what was written to a drive, or to all, since boot.
pub fn since_boot(target: Option<&Path>, format: OutputFormat<'_>) -> Result<Exit, Report> {
    let found = reading::read(&MachineView::this(), target)?;
    match format {
        OutputFormat::Text => output::print(&screen::screen(&found)),
        OutputFormat::Markdown => output::print(&markdown::markdown(&found)),
        OutputFormat::Json => output::print_json(&found),
        OutputFormat::Prometheus(file) => {
            let text = prometheus::prometheus(&found);
            output::save(file, |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests;
