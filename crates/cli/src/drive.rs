//! `ssdlab drive`: simulated drives, shipped and user-defined.

use std::fmt::Write;

use clap::{Args, Subcommand};
use miette::Report;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::{
    DriveFileError, EvidencedValue, Plausible, Ratings, Specification, presets, rated,
};
use ssdlab_plan::{Bytes, PlanFault};
use ssdlab_report as report;

use super::drive_new::NewDriveCommand;
use super::exit::{Exit, UsageError};
use super::model_output::ModelOutput;
use super::{input, model_output, output};

/// Arguments of `ssdlab drive`.
#[derive(Debug, Args)]
pub struct DriveCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the shipped drives.
    List,
    /// Print a drive file, with the evidence for every value, as a starting point for your own.
    Show {
        /// The name of a drive that comes with the program, or a drive file.
        drive: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Check a drive file and show the resulting drive.
    Check {
        /// A drive file, or the name of a shipped drive.
        drive: String,
        /// Override its capacity; spare space scales with it, caches do not.
        #[arg(long, value_name = "SIZE")]
        capacity: Option<Bytes>,
    },
    /// Make a drive file for your own drive from the ratings on its box.
    ///
    /// The file has the values of a drive that yours is like, but for those that a rating
    /// determines: the model then gives each rating of speed within a tenth. It says which values
    /// are rated and which are assumed.
    New(NewDriveCommand),
}

impl DriveCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::List => output::print(&list()),
            What::Show { drive, json: false } => output::print(&Source::of(drive)?.text),
            What::Show { drive, json: true } => output::print_json(&Source::of(drive)?.shown()?),
            What::Check { drive, capacity } => {
                let source = Source::of(drive)?;
                output::print(&report::specification(&source.specification(*capacity)?));
                model_output::tell_bare(&source.grounded()?, "ssdlab drive show vertex-le");
            }
            What::New(new) => {
                let source = Source::of(&new.like)?;
                new.give(&source.rated(&new.name(), &new.ratings())?)?;
            }
        }
        Ok(Exit::Done)
    }
}

fn list() -> String {
    let mut out = String::new();
    for preset in presets::ALL {
        let drive = preset.specification();
        let _ = writeln!(out, "  {:13}  {}", drive.name, drive.description);
    }
    out
}

/// Reads a drive: a file, or a shipped one. Refuses a capacity that leaves it too few blocks.
pub fn load(drive: &str, capacity: Option<Bytes>) -> Result<Specification, Report> {
    Source::of(drive)?.specification(capacity)
}

/// Reads a drive from the text of a file.
pub fn load_text(name: &str, text: &str, capacity: Option<Bytes>) -> Result<Specification, Report> {
    Source { name: name.to_owned(), text: text.to_owned() }.specification(capacity)
}

/// Reads a drive of which only the write cache matters, not how many blocks there are to collect.
pub fn load_of_any_size(drive: &str, capacity: Option<Bytes>) -> Result<Specification, Report> {
    Source::of(drive)?.of_any_size(capacity)
}

/// Reads the drives that a drive's evidence leaves possible.
pub fn plausible(drive: &str, capacity: Option<Bytes>) -> Result<Plausible, Report> {
    let source = Source::of(drive)?;
    let plausible = Plausible::of(&source.text).map_err(|error| source.at_its_place(error))?;
    Ok(match capacity {
        Some(capacity) => plausible.with_capacity(capacity),
        None => plausible,
    })
}

/// Where people give a drive a capacity that is not its file's.
const GIVEN: &str = "by --capacity, or as `capacity` in [virtual] of the plan";

/// The text of a drive file.
struct Source {
    /// The file, or the shipped drive.
    name: String,
    text: String,
}

impl Source {
    fn of(drive: &str) -> Result<Self, Report> {
        let names: Vec<&str> = presets::ALL.iter().map(|preset| preset.name).collect();
        let shipped = presets::find(drive).map(|preset| preset.text);
        Ok(Self { name: drive.to_owned(), text: input::model("drive", drive, shipped, &names)? })
    }

    /// Makes the file of another drive, which is like this one but for its ratings.
    fn rated(&self, name: &str, ratings: &Ratings) -> Result<String, Report> {
        rated(name, ratings, &self.text).map_err(|error| match error.at {
            Some(_) => self.at_its_place(error),
            None => UsageError::report(error.message, error.help),
        })
    }

    fn specification(&self, capacity: Option<Bytes>) -> Result<Specification, Report> {
        let file = DriveFile::parse(&self.text).map_err(|error| self.at_its_place(error))?;
        if let Some(capacity) = capacity {
            let refused = |error: DriveFileError| {
                UsageError::report(error.message, format!("{}: {GIVEN}", error.help))
            };
            file.check_capacity(capacity).map_err(refused)?;
        }
        self.of_any_size(capacity)
    }

    fn of_any_size(&self, capacity: Option<Bytes>) -> Result<Specification, Report> {
        let own = DriveFile::parse(&self.text).map_err(|error| self.at_its_place(error))?;
        let Some(capacity) = capacity else {
            return own.resolve().map_err(|error| self.at_its_place(error));
        };
        let mut given = own.clone();
        given.with_capacity(capacity);
        // What its own capacity would not mend is the file's fault.
        given.resolve().map_err(|error| match own.resolve() {
            Err(own) => self.at_its_place(own),
            Ok(_) => UsageError::report(
                format!("{} cannot have a capacity of {capacity}: {}", self.name, error.message),
                format!("name another: {GIVEN}"),
            ),
        })
    }

    fn grounded(&self) -> Result<Vec<EvidencedValue>, Report> {
        ssdlab_flash::grounded(&self.text).map_err(|error| self.at_its_place(error))
    }

    fn shown(&self) -> Result<ModelOutput, Report> {
        let Specification { name, description, .. } = self.specification(None)?;
        Ok(ModelOutput::of(name, description, self.grounded()?))
    }

    fn at_its_place(&self, error: DriveFileError) -> Report {
        let fault = PlanFault { message: error.message, at: error.at, help: Some(error.help) };
        Report::new(fault.in_file(&self.name, &self.text))
    }
}
