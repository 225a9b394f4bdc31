//! Saves the charts of a run as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, Report as Error};
use rayon::prelude::*;
use ssdlab_report::Chart;
use thiserror::Error;

use super::output;

/// A chart that could not be saved.
#[derive(Debug, Error, Diagnostic)]
enum ChartError {
    #[error("cannot make the folder {}: {cause}", path.display())]
    #[diagnostic(help("name an existing folder, or one in a folder that you may write to"))]
    Folder { path: PathBuf, cause: io::Error },
    #[error("cannot render the chart {id}: {cause}")]
    #[diagnostic(help("this is a bug in ssdlab: please report it, with the run's folder"))]
    Pixels { id: String, cause: String },
}

/// Saves each chart as ID.svg and ID.png in a folder, which is created if missing.
pub(super) fn save(charts: &[Chart], folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder)
        .map_err(|cause| ChartError::Folder { path: folder.to_owned(), cause })?;
    charts.par_iter().try_for_each(|chart| save_one(chart, folder))?;
    output::tell(&match charts.len() {
        0 => "no charts: the run has no data to plot".to_owned(),
        1 => format!("1 chart in {}", folder.display()),
        charts => format!("{charts} charts in {}", folder.display()),
    });
    Ok(())
}

fn save_one(chart: &Chart, folder: &Path) -> Result<(), Error> {
    let pixels = chart.png().map_err(|cause| ChartError::Pixels { id: chart.id.clone(), cause })?;
    let at = |ending| folder.join(format!("{}.{ending}", chart.id));
    output::save(&at("svg"), |out| out.write_all(chart.svg.as_bytes()))?;
    output::save(&at("png"), |out| out.write_all(&pixels))?;
    Ok(())
}
