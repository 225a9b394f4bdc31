//! ssdlab: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ssdlab_cli::main(ssdlab_version::version!())
}
