//! `ssdlab guest`: the init process of a guest of the virtual lab.

use clap::Args;
use miette::Report;
use ssdlab_conductor as conductor;

use super::exit::{Exit, UsageError};

/// Arguments of `ssdlab guest`.
#[derive(Debug, Args)]
pub struct GuestCommand {
    /// Arguments that the kernel passes on from its command line; ignored.
    #[arg(trailing_var_arg = true)]
    appended: Vec<String>,
}

impl GuestCommand {
    /// Performs the guest's job and powers the guest off.
    pub fn run() -> Result<Exit, Report> {
        if std::process::id() != 1 {
            return Err(UsageError::report(
                "this is not a guest of the virtual lab",
                "only `ssdlab run --lab virtual` starts guests",
            ));
        }
        Err(Report::msg(conductor::guest()))
    }
}
