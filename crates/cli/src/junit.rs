//! The result of `ssdlab crashtest` as `JUnit` XML, which CI systems show as tests.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use ssdlab_report::{CrashReport, Style, crash_screen};

use super::output::{self, OutputError};

/// Writes a test case for each filesystem; one with a finding has failed.
pub fn write(file: &Path, report: &CrashReport, took: Duration) -> Result<(), OutputError> {
    let text = text(report, took);
    output::save(file, |out| out.write_all(text.as_bytes()))
}

fn text(report: &CrashReport, took: Duration) -> String {
    let failed = report.rows.iter().filter(|row| row.found.count > 0).count();
    let (tests, errors) = (report.rows.len() + report.failures.len(), report.failures.len());
    let screen = escaped(&crash_screen(report, Style::default()));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ssdlab crashtest\" \
         tests=\"{tests}\" failures=\"{failed}\" errors=\"{errors}\" time=\"{:.3}\">\n",
        took.as_secs_f64()
    );
    // Writing to a string cannot fail.
    for row in &report.rows {
        let name = escaped(&row.filesystem);
        let _ = write!(out, "  <testcase classname=\"crashtest\" name=\"{name}\">");
        if row.found.count > 0 {
            let said = format!("{} of {} power cuts", row.found.count, row.found.of);
            let _ = write!(out, "<failure message=\"{said}\">{screen}</failure>");
        }
        out.push_str("</testcase>\n");
    }
    for (filesystem, why) in &report.failures {
        let (name, why) = (escaped(filesystem), escaped(why));
        let _ = writeln!(
            out,
            "  <testcase classname=\"crashtest\" name=\"{name}, trial\"><error \
             message=\"not tested\">{why}</error></testcase>"
        );
    }
    out.push_str("</testsuite>\n");
    out
}

/// A text in XML 1.0, which has no control characters but tabs and line ends.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
