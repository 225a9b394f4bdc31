//! The program that suites of minutes run.

use std::env;
use std::sync::LazyLock;

/// `$SSDLAB_TEST_PROGRAM`, which `make test` sets to the release build, whose guests take two
/// thirds of the time; without it, what Cargo has built for tests.
pub fn ssdlab() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let built = env!("CARGO_BIN_EXE_ssdlab");
        env::var("SSDLAB_TEST_PROGRAM").unwrap_or_else(|_| built.to_owned())
    });
    &PROGRAM
}
