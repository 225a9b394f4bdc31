//! `ssdlab probe`: what the drive below a folder takes, and what that is fast enough for.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use miette::{IntoDiagnostic, Report};
use rayon::prelude::*;
use ssdlab_flash::probe::{
    MOST_WRITTEN_BYTES, NearestDrive, ProbeAnswers, ProbeForecast, probe, ranked,
};
use ssdlab_flash::{DriveFileError, MeasuredDrive, measured, presets};
use ssdlab_host::mounts;
use ssdlab_plan::Bytes;
use ssdlab_report as report;
use ssdlab_workload::ProbeFile;

pub use self::found::ProbeOutput;
use self::place::ProbedPlace;
use super::exit::Exit;
use super::output;

mod cautions;
mod found;
mod place;
mod screen;

/// Arguments of `ssdlab probe`.
#[derive(Debug, Args)]
pub struct ProbeCommand {
    /// A folder on the drive.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Write a drive file to start from, of a drive that answers as this one does, as far as a
    /// minute shows.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The seed of the order of questions and the places of requests.
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// Print one JSON object.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown, for an issue or a forum.
    #[arg(long)]
    markdown: bool,
}

/// The name of the drive of a file, if the file's own name is none.
const NAME: &str = "my-drive";

/// The seed of the simulated drives that answers are compared with.
const FORECAST_SEED: u64 = 1;

impl ProbeCommand {
    pub fn run(self) -> Result<Exit, Report> {
        let folder = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let mut file = ProbeFile::create(&folder)?;
        let place = ProbedPlace::of(&folder)?;
        output::tell(&format!(
            "Writes at most {} to a file without a name in {}, for about a minute at most.",
            report::bytes(MOST_WRITTEN_BYTES as f64),
            mounts::printable(&folder),
        ));
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new(100)
        } else {
            ProgressBar::hidden()
        };
        // The bar takes whole per cents.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let answers =
            probe(&mut file, self.seed, &mut |done| bar.set_position((100.0 * done) as u64));
        bar.finish_and_clear();
        drop(file);
        let answers = answers?;
        let forecasts: Result<Vec<ProbeForecast>, DriveFileError> = presets::ALL
            .into_par_iter()
            .map(|preset| ProbeForecast::of(preset, FORECAST_SEED))
            .collect();
        let forecasts = forecasts.into_diagnostic()?;
        let closest = ranked(&answers, &forecasts, place.passes_fua)[0];
        let found = ProbeOutput::new(&answers, closest, place, self.seed);
        match (self.json, self.markdown) {
            (true, _) => output::print_json(&found),
            (_, true) => output::print(&found.markdown()),
            (false, false) => output::print(&found.screen()),
        }
        if let Some(path) = &self.out {
            save(path, &answers, closest, &found.place)?;
        }
        Ok(Exit::Done)
    }
}

/// Writes the drive file, and tells what it is worth.
fn save(
    path: &Path,
    answers: &ProbeAnswers,
    closest: NearestDrive,
    place: &ProbedPlace,
) -> Result<(), Report> {
    let like = presets::find(closest.name).expect("it is a shipped drive").text;
    let name = path.file_stem().map_or(NAME.into(), |stem| stem.to_string_lossy());
    let capacity = place.capacity_bytes.map(Bytes);
    let MeasuredDrive { text, measured, distance } =
        measured(&name, answers, capacity, (like, closest.host), place.passes_fua)
            .into_diagnostic()?;
    output::save(path, |out| out.write_all(text.as_bytes()))?;
    let values = match measured.as_slice() {
        [] => "no value could be measured".to_owned(),
        some => format!("measured: {}", some.join(", ")),
    };
    output::tell(&format!(
        "{}: a drive at a distance of {distance:.2} from this one; {values}; all else is assumed \
         to be as in {}.",
        path.display(),
        closest.name,
    ));
    Ok(())
}

#[cfg(test)]
mod tests;
