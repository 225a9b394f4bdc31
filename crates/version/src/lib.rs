//! The program's version, with the commit it is built from.
//!
//! A build script that asked git would cause its package, and all that depend on it, to be
//! recompiled after every commit. With a macro only the file that names the version is recompiled.

use std::path::Path;
use std::process::Command;

use proc_macro::TokenStream;

/// The version of the package that expands this, and the commit it is built from: a string.
/// Outside a git repository, as in a tarball, the commit is `(no commit)`.
#[proc_macro]
pub fn version(_: TokenStream) -> TokenStream {
    let commit = git(&["describe", "--always", "--dirty"]);
    let commit = commit.unwrap_or_else(|| "(no commit)".to_owned());
    // The compiler expands this again when the file changes, as it does with every commit.
    let moves = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])
        .filter(|path| Path::new(path).is_file())
        .map(|path| format!("const _: &[u8] = include_bytes!({path:?});"))
        .unwrap_or_default();
    let version = format!("concat!(env!(\"CARGO_PKG_VERSION\"), {:?})", format!(" {commit}"));
    format!("{{ {moves} {version} }}").parse().expect("a block of Rust")
}

/// The output of git; none if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim_end().to_owned())
}
