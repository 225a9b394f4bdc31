//! ssdlab: parse, run, exit code.

use std::process::ExitCode;

use git_version::git_version;

fn main() -> ExitCode {
    // Outside a git repository, as in a tarball, there is no commit to name.
    ssdlab_cli::main(git_version!(
        args = ["--always", "--dirty"],
        prefix = concat!(env!("CARGO_PKG_VERSION"), " "),
        fallback = concat!(env!("CARGO_PKG_VERSION"), " (no commit)")
    ))
}
