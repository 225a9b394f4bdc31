//! `ssdlab drive new`: makes a drive file from the ratings on a drive's box.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use miette::Report;
use ssdlab_flash::Ratings;
use ssdlab_plan::{self as plan, Bytes, Rate};

use super::output;

/// The name of a drive whose file is printed.
const NAME: &str = "my-drive";

/// Arguments of `ssdlab drive new`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("ratings").required(true).multiple(true)))]
pub struct NewDriveCommand {
    /// The drive that it is like: a shipped one, or a drive file.
    #[arg(long, value_name = "DRIVE")]
    pub like: String,
    /// Its capacity.
    #[arg(long, value_name = "SIZE", group = "ratings")]
    capacity: Option<Bytes>,
    /// Its sequential reads, such as 560MB/s.
    #[arg(long, value_name = "RATE", group = "ratings", value_parser = rate)]
    read: Option<Rate>,
    /// Its sequential writes.
    #[arg(long, value_name = "RATE", group = "ratings", value_parser = rate)]
    write: Option<Rate>,
    /// Its random reads and writes of 4 KiB a second, such as 98k/88k.
    #[arg(long, value_name = "READS/WRITES", group = "ratings", value_parser = iops)]
    iops: Option<(u32, u32)>,
    /// Its endurance: the TB that may be written to it.
    #[arg(long, value_name = "TB", group = "ratings", value_parser = terabytes)]
    tbw: Option<Bytes>,
    /// Write the drive file to FILE instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl NewDriveCommand {
    pub fn name(&self) -> String {
        let stem = self.out.as_deref().and_then(Path::file_stem);
        stem.map_or_else(|| NAME.to_owned(), |stem| stem.to_string_lossy().into_owned())
    }

    /// Saves or prints the new file, and tells how to use it.
    pub fn give(&self, text: &str) -> Result<(), Report> {
        let file = if let Some(path) = &self.out {
            output::save(path, |out| out.write_all(text.as_bytes()))?;
            let file = path.display().to_string();
            if plan::names_file(&file) { file } else { format!("./{file}") }
        } else {
            output::print(text);
            "FILE".to_owned()
        };
        output::tell(&format!(
            "What is not on the box is assumed to be as in {}, such as the times of flushes and \
             discards.\nUse it with --drive {file}; `ssdlab drive check {file}` shows the drive.",
            self.like
        ));
        Ok(())
    }

    /// The ratings that were given.
    pub fn ratings(&self) -> Ratings {
        Ratings {
            capacity: self.capacity,
            read: self.read,
            write: self.write,
            random_reads: self.iops.map(|(reads, _)| reads),
            random_writes: self.iops.map(|(_, writes)| writes),
            written: self.tbw,
        }
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    Rate::try_from(text.to_owned())
}

/// Reads two numbers a second, in thousands (`k`) or millions (`M`) if they say so.
fn iops(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        let (number, unit) = match text.trim() {
            text if text.ends_with(['k', 'K']) => (&text[..text.len() - 1], 1e3),
            text if text.ends_with('M') => (&text[..text.len() - 1], 1e6),
            text => (text, 1.0),
        };
        let number = number.parse::<f64>().ok().map(|number| (number * unit).round());
        // It is in the range.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        number.filter(|number| (1.0..=1e9).contains(number)).map(|number| number as u32)
    };
    let numbers = text.split_once('/').and_then(|(one, other)| number(one).zip(number(other)));
    numbers.ok_or_else(|| "write random reads and writes a second, such as 98k/88k".to_owned())
}

/// Reads a number of TB.
fn terabytes(text: &str) -> Result<Bytes, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1e-3..=1e6).contains(number));
    // It is in the range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let bytes = number.map(|number| Bytes((number * 1e12) as u64));
    bytes.ok_or_else(|| "write the number of TB, such as 300".to_owned())
}

#[cfg(test)]
mod tests;
