//! The report in a real browser: Debian's chromium, headless, driven by `report.mjs`.
//!
//! It needs chromium, node and the packages of `package.json`. Without them, tests are ignored with
//! that reason; in continuous integration (`CI=true`) they fail. Screenshots of the pages are kept
//! in `target/browser`, for inspection.

#[path = "../records/mod.rs"]
mod records;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use ssdlab_advice::{self as advice, Analysis};
use ssdlab_host::program;
use ssdlab_plan::{Schedule, shipped};
use ssdlab_report::{charts, html};
use ssdlab_results::{Ending, Record};

use self::records::{HOSTILE, chain, hostile, post_1, schedule};

/// A page to be tested, and how.
struct Page {
    name: &'static str,
    html: String,
    expected: Value,
    cases: &'static [&'static str],
}

/// What the tests need besides this program.
struct Browser {
    chromium: PathBuf,
    node: PathBuf,
}

fn main() {
    let arguments = Arguments::from_args();
    let browser = find();
    let reason = browser.as_ref().err().cloned().unwrap_or_default();
    assert!(
        reason.is_empty() || std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "the report cannot be looked at: {reason}"
    );
    let trials = [discard(), steps(), large(), attack()].into_iter().flat_map(|page| {
        let file = written(&page);
        let (browser, reason) = (&browser, &reason);
        page.cases.iter().map(move |case| {
            let look = look(browser.as_ref().ok(), case, &file, &page.expected);
            Trial::test(format!("{}_{case}", page.name), look)
                .with_kind(reason)
                .with_ignored_flag(!reason.is_empty())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// The programs, or which of them is missing.
fn find() -> Result<Browser, String> {
    let found = |name: &str| program::find(name, name).map_err(|_| format!("needs {name}"));
    let (chromium, node) = (found("chromium")?, found("node")?);
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/node_modules");
    if packages.is_dir() {
        Ok(Browser { chromium, node })
    } else {
        Err("needs `npm ci` in tests/browser".to_owned())
    }
}

/// Writes a page to the folder of its screenshots.
fn written(page: &Page) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("browser");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(page.name).with_extension("html");
    fs::write(&file, &page.html).unwrap();
    file
}

fn look(
    browser: Option<&Browser>,
    case: &'static str,
    file: &Path,
    expected: &Value,
) -> impl FnOnce() -> Result<(), Failed> + Send + 'static {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/report.mjs");
    let command = browser.map(|browser| {
        let mut command = Command::new(&browser.node);
        command.arg(script).arg(&browser.chromium).arg(case).arg(file).arg(expected.to_string());
        command
    });
    move || {
        let looked = command.expect("ignored without a browser").output()?;
        if looked.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&looked.stderr).into_owned().into())
    }
}

fn analysed(schedule: &Schedule, records: &[Record]) -> Analysis {
    advice::analyse("run", schedule, records, Ending::AllBlocks)
}

/// A run without steps: two claims of six differ.
fn discard() -> Page {
    let schedule = schedule("discard", 8);
    let analysis = analysed(&schedule, &post_1(&schedule));
    let plan = shipped::find("discard").unwrap().text;
    Page {
        name: "discard",
        html: html(&schedule, &analysis, plan),
        expected: json!({
            "question": schedule.question,
            "answer": "^Yes. With discard it takes ",
            "sections": [
                "claims", "charts", "treatments", "samples", "caveats", "method", "environment",
                "again",
            ],
            "charts": ids(&schedule, &analysis),
            "marks": marks(&analysis),
            "command": "ssdlab run discard --lab image --runs 8",
            "filter": "FSTRIM",
            "left": 1,
            "columns": [
                { "head": "discard", "isNumeric": false },
                { "head": "sync_deleted", "isNumeric": true },
            ],
        }),
        cases: &[
            "opens",
            "sorts",
            "filters",
            "colours",
            "phone",
            "prints",
            "accessible",
            "copies",
            "unscripted",
        ],
    }
}

/// A run with steps, rankings, features and a treatment that cannot run.
fn steps() -> Page {
    let (schedule, records) = chain();
    let analysis = analysed(&schedule, &records);
    Page {
        name: "steps",
        html: html(&schedule, &analysis, "name = \"chain\"\n"),
        expected: json!({
            "question": schedule.question,
            "answer": "^By the rate of operations over 2 phases xfs, bfq is the best",
            "sections": [
                "claims", "rankings", "charts", "treatments", "features", "samples", "caveats",
                "method", "environment", "again",
            ],
            "charts": ids(&schedule, &analysis),
            "marks": marks(&analysis),
            "filter": "bfq btrfs",
            "left": 1,
            "columns": [
                { "head": "filesystem", "isNumeric": false },
                { "head": "unpack", "isNumeric": true },
                { "head": "all phases", "isNumeric": true },
            ],
        }),
        cases: &["opens", "sorts", "filters", "colours", "phone", "prints", "accessible"],
    }
}

/// A page with as many trials as can reasonably be mailed.
fn large() -> Page {
    let schedule = schedule("discard", 167);
    let analysis = analysed(&schedule, &post_1(&schedule));
    Page {
        name: "large",
        html: html(&schedule, &analysis, ""),
        expected: Value::Null,
        cases: &["phone", "prints"],
    }
}

/// A run in which every text tries to be a script.
fn attack() -> Page {
    let (schedule, records) = hostile();
    let analysis = advice::analyse(HOSTILE, &schedule, &records, Ending::AllBlocks);
    Page {
        name: "hostile",
        html: html(&schedule, &analysis, HOSTILE),
        expected: json!({ "says": [HOSTILE] }),
        cases: &["hostile", "phone", "prints", "accessible"],
    }
}

/// How many marks the charts of each kind have: a dot per sample, a disc per effect.
fn marks(analysis: &Analysis) -> Value {
    let metric = analysis.metric;
    let summaries = analysis.treatments.iter().flat_map(|treatment| &treatment.summary);
    let samples: usize =
        summaries.filter_map(|phase| phase.metrics.get(&metric)).map(|found| found.n).sum();
    let effects = analysis.effects.iter().filter(|effect| effect.metric == metric).count();
    assert!(samples > 0 && effects > 0);
    json!({ "samples": samples, "effects": effects })
}

/// The identifiers of all charts.
fn ids(schedule: &Schedule, analysis: &Analysis) -> Vec<String> {
    charts(schedule, analysis).into_iter().map(|chart| format!("chart-{}", chart.id)).collect()
}
