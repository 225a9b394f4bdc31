//! The files of one power cut: the drive's contents, the files on it, and the requests to it.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};

use clap::Args;
use miette::Report;
use ssdlab_conductor::{CutState, Guests, PackedFiles, RequestAtCut, RequestSafety};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{Extent, RevertedSectors, SECTOR_BYTES, SectorContents};
use ssdlab_host::whole_file::WholeFile;

use super::exit::UsageError;
use super::output::{self, OutputError};

/// The files to write of a cut.
#[derive(Debug, Args)]
pub struct CutFilesArguments {
    /// Write what the drive held after the cut, as a sparse image.
    #[arg(long, value_name = "FILE", requires = "number")]
    image: Option<PathBuf>,
    /// Write the requests up to the cut, and which of their data did not survive, as text.
    #[arg(long, value_name = "FILE", requires = "number")]
    log: Option<PathBuf>,
    /// Write the files of the recovered filesystem, as a tar archive.
    #[arg(long, value_name = "FILE", requires = "number")]
    files: Option<PathBuf>,
}

/// The files that are being written.
pub struct CutFiles<'a> {
    image: Option<NamedFile<'a>>,
    log: Option<NamedFile<'a>>,
    files: Option<NamedFile<'a>>,
}

/// A file that is being written, and its name.
type NamedFile<'a> = (&'a Path, WholeFile);

impl CutFilesArguments {
    /// Begins the files, to fail before the work is done if one cannot be written.
    pub fn begin(&self) -> Result<CutFiles<'_>, Report> {
        let Self { image, log, files } = self;
        let named = [("--image", image), ("--log", log), ("--files", files)];
        for (place, (option, path)) in named.iter().enumerate() {
            for (other, other_path) in &named[..place] {
                if let Some((path, other_path)) = path.as_ref().zip(other_path.as_ref())
                    && is_one_file(path, other_path)
                {
                    return Err(UsageError::report(
                        format!("{other} and {option} name the same file"),
                        "give each a file of its own",
                    ));
                }
            }
        }
        Ok(CutFiles {
            image: begun(image.as_ref())?,
            log: begun(log.as_ref())?,
            files: begun(files.as_ref())?,
        })
    }
}

impl CutFiles<'_> {
    /// Has guests keep what is needed to write them.
    pub fn ask(&self, guests: &mut Guests<'_>) {
        if self.files.is_some() {
            guests.pack_files();
        }
    }

    /// Writes them.
    pub fn keep(self, remains: &CutState) -> Result<(), OutputError> {
        if let Some((path, mut file)) = self.image {
            let written = write_image(&remains.image, &mut file);
            written.and_then(|()| file.keep()).map_err(output::unwritten(path))?;
        }
        if let Some((path, mut file)) = self.log {
            let written = write_log(remains, &mut file);
            written.and_then(|()| file.keep()).map_err(output::unwritten(path))?;
        }
        if let Some((path, mut file)) = self.files {
            let PackedFiles { archive, unreadable } = &remains.files;
            if archive.is_empty() {
                let why = "the filesystem cannot be mounted; --image writes what the drive holds";
                return Err(output::unwritten(path)(io::Error::other(why)));
            }
            let written = file.write_all(archive);
            written.and_then(|()| file.keep()).map_err(output::unwritten(path))?;
            for missing in unreadable {
                let path = path.display();
                output::tell(&format!("not in {path}, or not all of it: {missing}"));
            }
        }
        Ok(())
    }
}

fn begun(path: Option<&PathBuf>) -> Result<Option<NamedFile<'_>>, OutputError> {
    path.map(|path| Ok((path.as_path(), output::begin(path)?))).transpose()
}

/// Whether two files that may not exist yet are the same: by name, in the same folder.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let folder = |file: &Path| absolute(file).ok()?.parent()?.canonicalize().ok();
    one.file_name() == other.file_name() && folder(one) == folder(other)
}

/// Writes a drive's contents; pages of zeros become holes.
fn write_image(image: &Memory, file: &mut WholeFile) -> io::Result<()> {
    image.write_into(file)?;
    file.set_len(image.capacity_bytes())
}

/// Writes the requests before a cut, and the parts of them that did not survive it, as text.
fn write_log(remains: &CutState, out: &mut dyn Write) -> io::Result<()> {
    let mut text = "# The requests until the cut, in the order of submission. Times are in ns, \
                    places and lengths in bytes.\n\
                    # number submitted completed command offset length flags state at_risk\n"
        .to_owned();
    for (number, asked) in remains.asked.iter().enumerate() {
        let _ = writeln!(text, "{number} {}", request(asked));
    }
    text += "\n# Where the drive holds older data than the newest submitted, and whose.\n\
             # offset length request\n";
    for reverted in &remains.reverted {
        let _ = writeln!(text, "{}", older(reverted));
    }
    out.write_all(text.as_bytes())
}

fn request(asked: &RequestAtCut) -> String {
    let RequestAtCut { logged, stage, at_risk_bytes, .. } = asked;
    let state = match stage {
        RequestSafety::Safe => "safe",
        RequestSafety::AtRisk => "at-risk",
        RequestSafety::UnderWay => "under-way",
    };
    let completed = logged.completed.map_or_else(|| "-".to_owned(), |at| at.0.to_string());
    let extent = logged.command.extent().unwrap_or(Extent { offset_bytes: 0, length_bytes: 0 });
    let flags = if logged.is_fua { "fua" } else { "-" };
    format!(
        "{} {completed} {} {} {} {flags} {state} {at_risk_bytes}",
        logged.submitted.0,
        logged.command.name(),
        extent.offset_bytes,
        extent.length_bytes
    )
}

fn older(reverted: &RevertedSectors) -> String {
    let [begin, end] =
        [reverted.sectors.start, reverted.sectors.end].map(|sector| sector * SECTOR_BYTES);
    let of = match reverted.to {
        SectorContents::Original => "before-the-log".to_owned(),
        SectorContents::Of(number) => number.to_string(),
    };
    format!("{begin} {} {of}", end - begin)
}

#[cfg(test)]
mod tests;
