//! Import: other people's results as a schedule and records.
//!
//! Pure: the contents of files go in, what a run's folder holds comes out. Each format is a file
//! here; it turns a text into [`Found`], and this file turns what was found into treatments, blocks
//! and trials. What a file does not say stays absent.

mod bonnie;
mod error;
mod fio;
mod hyperfine;
mod phoronix;
mod run;

pub use error::ImportError;
pub use run::Run;

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use ssdlab_meter::environment::Environment;
use ssdlab_plan::Levels;
use ssdlab_results::{Phase, Told};
use ssdlab_workload::printed;

use self::error::Fault;

/// The largest file that is read: results are text, and the largest seen (fio's with every latency
/// bin) have a few MB.
pub const LARGEST_BYTES: u64 = 64 << 20;

/// Trials of one run: a hundred times what anybody has been seen to publish.
const MOST_TRIALS: usize = 20_000;

/// A file to import.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its name in messages and records.
    pub name: &'a str,
    /// What its treatment is to be called; by default what the file, or its name, says.
    pub label: Option<&'a str>,
    /// What is in it.
    pub contents: &'a [u8],
}

/// What a file says.
struct Found {
    program: &'static str,
    version: Option<String>,
    /// The metric that stands for all phases.
    metric: &'static str,
    /// Whether samples are in the order in which they were taken.
    is_in_order: bool,
    samples: Vec<Sample>,
    /// What a reader of the numbers must know.
    notes: Vec<String>,
}

/// One measurement of one treatment.
#[derive(Default)]
struct Sample {
    /// What the file calls the treatment; none where it holds one, without a name.
    name: Option<String>,
    /// Levels of factors that the file names as such.
    levels: Levels,
    /// When it was taken, in ms since 1970.
    at_ms: Option<u64>,
    environment: Environment,
    /// Settings of the machine.
    applied: BTreeMap<String, String>,
    phases: Vec<Phase>,
    told: BTreeMap<String, Told>,
    /// Why it is no result, if it went wrong.
    failure: Option<String>,
}

/// Refuses more trials than a run can have, before they take the memory.
fn check_trials(trials: usize) -> Result<(), Fault> {
    if trials <= MOST_TRIALS {
        return Ok(());
    }
    let message = format!("it has more than {MOST_TRIALS} trials, which no run can have");
    Err(Fault::new(message, "import a part of it"))
}

/// A phase of which only what a program reported is known.
fn phase(name: &str, reported: BTreeMap<String, f64>) -> Phase {
    Phase { name: name.to_owned(), reported, ..Phase::default() }
}

/// Reads files, all of one program, as one run. `name` is what it is filed under, by default the
/// program's name.
pub fn import(name: Option<&str>, sources: &[Source<'_>]) -> Result<Run, ImportError> {
    let mut files: Vec<(Source<'_>, String, Found)> = Vec::new();
    for source in sources {
        let sha256 = hex::encode(Sha256::digest(source.contents));
        if let Some((earlier, ..)) = files.iter().find(|(_, known, _)| *known == sha256) {
            let message = format!("it has the same contents as {}", earlier.name);
            let fault = Fault::new(message, "a result counts once; name each file once");
            return Err(fault.of(source.name));
        }
        let found = read(source.contents).map_err(|fault| fault.of(source.name))?;
        if let Some((earlier, _, first)) = files.first()
            && first.program != found.program
        {
            let (here, there) = (found.program, first.program);
            let message = format!("it is of {here}, but {} is of {there}", earlier.name);
            let help = "their numbers cannot be compared; import each program's by themselves";
            return Err(Fault::new(message, help).of(source.name));
        }
        files.push((*source, sha256, found));
    }
    run::assemble(name, files)
}

/// Recognises a format by its content.
fn read(contents: &[u8]) -> Result<Found, Fault> {
    let known = "fio: --output-format=json; bonnie++: its line of values; hyperfine: \
                 --export-json; Phoronix Test Suite: composite.xml";
    let text = match str::from_utf8(contents) {
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}'),
        _ => {
            return Err(Fault::new("it is binary, expected text of a known format", known));
        }
    };
    if text.trim().is_empty() {
        return Err(Fault::new("it is empty, expected results of a known format", known));
    }
    if text.trim_start().starts_with('<') {
        return phoronix::read(text.trim_start());
    }
    if text.lines().any(|line| line.starts_with('{')) {
        let object = printed::fio::object(text)
            .map_err(|reason| Fault::new(format!("its JSON cannot be read: {reason}"), known))?;
        return match (&object["jobs"], &object["results"]) {
            (jobs, _) if jobs.is_array() => fio::read(&object),
            (_, results) if results.is_array() => hyperfine::read(&object),
            _ => {
                let says = "it is JSON with neither fio's `jobs` nor hyperfine's `results`";
                Err(Fault::new(says, known))
            }
        };
    }
    if text.lines().any(printed::bonnie::is_line) {
        return bonnie::read(text);
    }
    Err(Fault::new("it is of no known format", known))
}

/// The reader as the fuzzer drives it: any bytes, no panic.
#[doc(hidden)]
pub fn fuzz(contents: &[u8]) {
    let source = Source { name: "file", label: None, contents };
    if let Ok(run) = import(None, &[source]) {
        assert_eq!(run.schedule.fault(), None);
        assert!(!run.records.is_empty());
    }
}
