//! The files of the source.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, WrapErr};

/// The place of a file.
pub fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

/// Writes a file.
pub fn write(file: &str, text: &str) -> Result<()> {
    fs::write(path(file), text).into_diagnostic().wrap_err_with(|| format!("cannot write {file}"))
}
