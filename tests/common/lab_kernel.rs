//! The lab kernel of tests that need one.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::program::ssdlab;

/// The lab kernel, `$SSDLAB_TEST_KERNEL` or that of `ssdlab kernel build`; or why there is none.
pub fn kernel() -> &'static Result<PathBuf, String> {
    static KERNEL: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    KERNEL.get_or_init(|| {
        if let Some(named) = env::var_os("SSDLAB_TEST_KERNEL") {
            return Ok(fs::canonicalize(named).expect("SSDLAB_TEST_KERNEL names a file"));
        }
        let info = Command::new(ssdlab()).args(["kernel", "info"]).output().unwrap();
        let text = String::from_utf8_lossy(&info.stdout).into_owned();
        let path = text.lines().find_map(|line| line.strip_prefix("kernel ")).map(str::trim);
        match path {
            Some(path) if info.status.success() => Ok(path.into()),
            _ => Err("needs a lab kernel: `ssdlab kernel build` or SSDLAB_TEST_KERNEL".to_owned()),
        }
    })
}
