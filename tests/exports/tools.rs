//! The programs that read exports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Whether a program can be found.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

/// The Python that `scripts/install-python` installs in the build folder.
pub fn python() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("python/bin/python3")
}

/// A state and temporary folder without undo journals: a report would mention those of killed runs.
pub const STATE: &str = env!("CARGO_TARGET_TMPDIR");

/// This program, with arguments.
pub fn ssdlab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command.args(arguments).env("XDG_STATE_HOME", STATE).env("TMPDIR", STATE);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Exports a run into a file of a folder, which is named by its format.
pub fn export(run: &Path, format: &str, folder: &Path) -> PathBuf {
    let out = folder.join(format!("run.{format}"));
    let [run, file] = [run, &out].map(|path| path.to_str().unwrap());
    done(&ssdlab(&["report", run, "--format", format, "--out", file]));
    out
}

/// A sheet of a spreadsheet, converted to CSV by `LibreOffice` in full precision.
pub fn sheet(ods: &Path, name: &str) -> Vec<csv::StringRecord> {
    let folder = TempDir::new().unwrap();
    let all = folder.path().display();
    // Comma, quote, UTF-8, from line 1; quoted only if necessary, contents not as shown; every
    // sheet (LibreOffice Help, "Filter Options for CSV Files").
    let filter = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1";
    // Numbers with a decimal point, whatever the user's locale.
    let mut command = Command::new("soffice");
    command.env("LC_ALL", "C.UTF-8");
    command.args([&format!("-env:UserInstallation=file://{all}/profile"), "--headless"]);
    command.args(["--convert-to", filter, "--outdir", &all.to_string()]).arg(ods);
    done(&command.output().unwrap());
    read_csv(&folder.path().join(format!("run-{name}.csv")))
}

/// Runs a script in a folder; returns what it printed.
pub fn run_python(script: &str, folder: &Path) -> String {
    let mut command = Command::new(python());
    done(&command.args(["-I", "-c", script]).current_dir(folder).output().unwrap())
}

/// Runs a command line of the documentation in a folder.
pub fn run_shell(line: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_ssdlab")).parent().unwrap().display();
    let line = format!("PATH='{program}':$PATH\n{line}");
    done(&Command::new("sh").args(["-ec", &line]).current_dir(folder).output().unwrap())
}

/// The rows of a CSV file, including the header.
pub fn read_csv(path: &Path) -> Vec<csv::StringRecord> {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_slice());
    reader.into_records().map(Result::unwrap).collect()
}

/// The output of a program, which must have succeeded.
pub fn done(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}
