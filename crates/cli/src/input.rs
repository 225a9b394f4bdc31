//! Files that people write, read whole: plans, drive files and host files.

use std::io;
use std::path::Path;

use miette::Report;
use ssdlab_host::{bounded, regular_file};
use ssdlab_plan as plan;

use super::exit::UsageError;

/// The largest such file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a regular file or a pipe. An overlong one fails before it takes much memory.
pub fn read(path: &Path) -> io::Result<String> {
    let bytes = bounded::read(regular_file::open_or_pipe(path)?, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not text: {error}"))
    })
}

/// The text of a named drive or host (`what`): the shipped one of this name, if there is one, or
/// that of a file. `known` are the names of all shipped ones.
pub fn model(
    what: &str,
    named: &str,
    shipped: Option<&str>,
    known: &[&str],
) -> Result<String, Report> {
    let is_file = plan::names_file(named);
    match shipped {
        Some(text) if !is_file => return Ok(text.to_owned()),
        None if !is_file && !Path::new(named).exists() => {
            return Err(UsageError::report(
                format!("there is neither a {what} nor a file named `{named}`"),
                format!(
                    "{}name a {what} file, or one of {}",
                    plan::did_you_mean(named, known.iter().copied()),
                    known.join(", ")
                ),
            ));
        }
        _ => {}
    }
    read(Path::new(named)).map_err(|error| {
        UsageError::report(
            format!("the {what} file {named} cannot be read: {error}"),
            format!("name a {what} file, or one of `ssdlab {what} list`"),
        )
    })
}
