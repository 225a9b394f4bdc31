//! ssdlab: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ssdlab::cli::main(ssdlab_version::version!())
}
