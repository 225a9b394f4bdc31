//! `ssdlab guest`: the life of a guest of the virtual lab, as its first process.

use clap::Args;
use miette::Report;

use super::exit::{Exit, Wrong};
use crate::conductor;

/// Arguments of `ssdlab guest`.
#[derive(Debug, Args)]
pub struct Guest {
    /// What the kernel appends to its command line; it means nothing here.
    #[arg(trailing_var_arg = true)]
    appended: Vec<String>,
}

impl Guest {
    /// Performs the guest's job and powers the guest off.
    pub fn run() -> Result<Exit, Report> {
        if std::process::id() != 1 {
            return Err(Wrong::report(
                "this is no guest of the virtual lab",
                "`ssdlab run --lab virtual` makes guests; nobody else has to",
            ));
        }
        Err(Report::msg(conductor::guest()))
    }
}
