//! Imports other programs' results as a schedule and records.
//!
//! Pure: the contents of files go in, the contents of a run's folder come out. Each format has a
//! file here that turns text into an `ImportedFile`, from which `run` makes treatments, blocks and
//! trials.
//! What a file does not say stays absent.

mod bonnie;
mod error;
mod fio;
mod hyperfine;
mod phoronix;
mod run;
mod sample;

pub use error::ImportError;
pub use run::ImportedRun;
pub use sample::ImportSource;

use sha2::{Digest, Sha256};
use ssdlab_workload::printed;

use self::error::ImportFault;
use self::sample::ImportedFile;

/// The maximum file size: results are text, and the largest seen (fio's with every latency bin)
/// have a few MB.
pub const LARGEST_BYTES: u64 = 64 << 20;

/// Imports files, all from one program, as one run with this name, by default the program's.
pub fn import(
    name: Option<&str>,
    sources: &[ImportSource<'_>],
) -> Result<ImportedRun, ImportError> {
    let mut files: Vec<(ImportSource<'_>, String, ImportedFile)> = Vec::new();
    for source in sources {
        let sha256 = hex::encode(Sha256::digest(source.contents));
        if let Some((earlier, ..)) = files.iter().find(|(_, known, _)| *known == sha256) {
            let message = format!("it has the same contents as {}", earlier.name);
            let fault = ImportFault::new(message, "a result counts once; name each file once");
            return Err(fault.of(source.name));
        }
        let found = read(source.contents).map_err(|fault| fault.of(source.name))?;
        if let Some((earlier, _, first)) = files.first()
            && first.program != found.program
        {
            let (here, there) = (found.program, first.program);
            let message = format!("it is from {here}, but {} is from {there}", earlier.name);
            let help = "their numbers cannot be compared; import each program's results separately";
            return Err(ImportFault::new(message, help).of(source.name));
        }
        files.push((*source, sha256, found));
    }
    run::assemble(name, files)
}

/// Recognises a format by its content.
fn read(contents: &[u8]) -> Result<ImportedFile, ImportFault> {
    let known = "fio: --output-format=json; bonnie++: its CSV line; hyperfine: \
                 --export-json; Phoronix Test Suite: composite.xml";
    let text = match str::from_utf8(contents) {
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}'),
        _ => {
            return Err(ImportFault::new("it is binary, expected text of a known format", known));
        }
    };
    if text.trim().is_empty() {
        return Err(ImportFault::new("it is empty, expected results of a known format", known));
    }
    // Only what comes before a report of fio's is not part of the object.
    let text = if text.trim_start().starts_with('{') { text.trim_start() } else { text };
    // fio's client writes `<HOST> ...` before its JSON.
    let is_xml = text.trim_start().starts_with('<');
    match printed::fio::object(text) {
        Ok(object) if printed::fio::is_report(&object) => return fio::read(&object),
        Ok(object) if object["results"].is_array() => return hyperfine::read(&object),
        _ if is_xml => return phoronix::read(text.trim_start()),
        Ok(_) => {
            let says = "it is JSON with neither fio's `jobs` nor hyperfine's `results`";
            return Err(ImportFault::new(says, known));
        }
        Err(reason) if text.lines().any(|line| line.trim_start().starts_with('{')) => {
            return Err(ImportFault::new(format!("its JSON cannot be read: {reason}"), known));
        }
        Err(_) => {}
    }
    if text.lines().any(printed::bonnie::is_line) {
        return bonnie::read(text);
    }
    if let Some(format) = printed::fio::other_format(text) {
        return Err(ImportFault::new(
            format!("it is fio's {format} output, expected its JSON"),
            "run fio with --output-format=json: it has more digits, and its units are known",
        ));
    }
    Err(ImportFault::new("its format is unknown", known))
}

/// The fuzzer's entry point: any bytes, no panic.
#[doc(hidden)]
pub fn fuzz(contents: &[u8]) {
    let source = ImportSource { name: "file", label: None, contents };
    if let Ok(run) = import(None, &[source]) {
        assert_eq!(run.schedule.fault(), None);
        assert!(!run.records.is_empty());
    }
}
