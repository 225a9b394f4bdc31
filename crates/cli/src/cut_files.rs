//! The files of one power cut: the drive's contents, and the requests to it.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, absolute};

use miette::Report;
use ssdlab_conductor::{Asked, AskedStage, Remains};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{Extent, Reverted, SECTOR_BYTES, Version};
use ssdlab_host::whole_file::WholeFile;

use super::exit::Wrong;
use super::output::{self, Unwritten};

/// The files that somebody asked for.
pub struct CutFiles<'a> {
    image: Option<(&'a Path, WholeFile)>,
    log: Option<(&'a Path, WholeFile)>,
}

impl<'a> CutFiles<'a> {
    /// Begins them, to fail before the work is done if a file cannot be written.
    pub fn begin(image: Option<&'a Path>, log: Option<&'a Path>) -> Result<Self, Report> {
        if let Some((image, log)) = image.zip(log)
            && is_one_file(image, log)
        {
            return Err(Wrong::report(
                "--image and --log name the same file",
                "give each a file of its own",
            ));
        }
        let begun = |path: Option<&'a Path>| {
            path.map(|path| Ok::<_, Unwritten>((path, output::begin(path)?))).transpose()
        };
        Ok(Self { image: begun(image)?, log: begun(log)? })
    }

    /// Writes them.
    pub fn keep(self, remains: &Remains) -> Result<(), Unwritten> {
        if let Some((path, mut file)) = self.image {
            let written = write_image(&remains.image, &mut file);
            written.and_then(|()| file.keep()).map_err(output::unwritten(path))?;
        }
        if let Some((path, mut file)) = self.log {
            let written = write_log(remains, &mut file);
            written.and_then(|()| file.keep()).map_err(output::unwritten(path))?;
        }
        Ok(())
    }
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
fn write_log(remains: &Remains, out: &mut dyn Write) -> io::Result<()> {
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

fn request(asked: &Asked) -> String {
    let Asked { logged, stage, at_risk_bytes, .. } = asked;
    let state = match stage {
        AskedStage::Safe => "safe",
        AskedStage::AtRisk => "at-risk",
        AskedStage::UnderWay => "under-way",
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

fn older(reverted: &Reverted) -> String {
    let [begin, end] =
        [reverted.sectors.start, reverted.sectors.end].map(|sector| sector * SECTOR_BYTES);
    let of = match reverted.to {
        Version::Original => "before-the-log".to_owned(),
        Version::Of(number) => number.to_string(),
    };
    format!("{begin} {} {of}", end - begin)
}

#[cfg(test)]
mod tests;
