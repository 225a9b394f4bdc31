//! Exports read back by other programs: the same numbers, whatever the text beside them.
//!
//! Some tests need `LibreOffice` and a Python with `DuckDB` and pandas. A test that cannot run is
//! reported as ignored, with its reason; in continuous integration it fails.

#[path = "../common/mod.rs"]
mod common;
mod fixture;
mod hostile;
mod refusals;
mod round_trips;
mod tools;

use libtest_mimic::{Arguments, Failed, Trial};

/// A test and what it needs.
struct Case {
    name: &'static str,
    needs: Needs,
    run: fn(),
}

/// What a test needs.
enum Needs {
    /// Nothing but this program.
    Nothing,
    /// A program of the distribution.
    Program(&'static str),
    /// The Python of `scripts/install-python`.
    Python,
}

impl Needs {
    /// Why a test cannot run.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Program(name) if !tools::has(name) => Some(format!("needs {name}")),
            Self::Python if !tools::python().exists() => {
                Some("needs scripts/install-python".to_owned())
            }
            _ => None,
        }
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let cases = [round_trips::cases(), hostile::cases(), refusals::cases()];
    let trials = cases.into_iter().flatten().map(|case| {
        let reason = case.needs.reason();
        let is_ignored = reason.is_some() && !is_ci;
        let kind = reason.clone().unwrap_or_default();
        let trial = match reason {
            Some(reason) => Trial::test(case.name, || Err(Failed::from(reason))),
            None => common::trial(case.name, case.run),
        };
        trial.with_kind(kind).with_ignored_flag(is_ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
