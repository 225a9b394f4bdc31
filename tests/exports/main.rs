//! Exports read back by other programs: the same numbers, whatever the text beside them.
//!
//! Some of it takes `LibreOffice` and a Python with `DuckDB` and pandas. A test that cannot run is
//! reported as ignored, with its reason; in continuous integration it fails.

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
        let run = move || match reason {
            Some(reason) => Err(Failed::from(reason)),
            None => caught(case.run),
        };
        Trial::test(case.name, run).with_kind(kind).with_ignored_flag(is_ignored)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// A panic is a failed assertion; the next test runs all the same.
fn caught(run: fn()) -> Result<(), Failed> {
    std::panic::catch_unwind(run).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Failed::from(text.unwrap_or_else(|| "it panicked".to_owned()))
    })
}
