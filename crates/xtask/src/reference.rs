//! docs/reference: the pages of the manual made from the tables that the program uses.

mod cell;
mod formats;
mod model_files;
mod plans;
mod properties;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use clap::Command;
use miette::Result;
use serde::Serialize;
use ssdlab_cli::{Exit, command_line, factor_rows, metric_meaning};
use ssdlab_flash::{self as flash, presets};
use ssdlab_plan::metric::{self, Better};

use self::cell::cell;
use super::source;

/// The folder of the pages.
const FOLDER: &str = "docs/reference";

/// The width of help texts in the manual, whatever terminal it is made in.
const WIDTH: usize = 100;

/// Writes the pages.
pub fn write() -> Result<()> {
    pages()
        .into_iter()
        .try_for_each(|(name, page)| source::write(&format!("{FOLDER}/{name}"), &page))
}

/// The pages: file and text.
fn pages() -> [(String, String); 9] {
    [
        ("plans", "Plans, key by key", plans::page()),
        ("factors", "Factors", factors()),
        ("metrics", "Metrics", metrics()),
        ("drives", "Simulated drives", drives()),
        ("drive-files", "Drive files, key by key", model_files::drives()),
        ("host-files", "Host files, key by key", model_files::hosts()),
        ("formats", "JSON formats", formats::page()),
        ("commands", "Commands", commands()),
        ("exit-codes", "Exit codes", exit_codes()),
    ]
    .map(|(name, title, text)| {
        (format!("{name}.md"), format!("# {title}\n\n{}\n", text.trim_end()))
    })
}

fn factors() -> String {
    let mut out =
        "A plan varies factors: `[factors]` gives each its levels. `ssdlab list factors` \
                   prints this table.\n\n| factor | levels |\n|---|---|\n"
            .to_owned();
    for (name, levels) in factor_rows() {
        let _ = writeln!(out, "| `{name}` | {} |", cell(&levels));
    }
    out
}

fn metrics() -> String {
    let mut out = "A claim takes one of these; a ranking, a plan's `metric` and `ssdlab report \
                   --metric` take all but those for claims only. Results of fio and bonnie++ have \
                   metrics of their own, `fio.NAME` and `bonnie++.TEST.NAME`.\n\n\
                   | metric | unit | better | meaning |\n|---|---|---|---|\n"
        .to_owned();
    for metric in metric::all() {
        let better = match metric.better {
            Better::Less => "less",
            Better::More => "more",
            Better::Neither => "",
        };
        let (unit, says) = (metric.unit.symbol(), cell(&metric_meaning(metric)));
        let _ = writeln!(out, "| `{metric}` | {unit} | {better} | {says} |");
    }
    out
}

fn drives() -> String {
    let mut out =
        "The drives that come with the program. `ssdlab drive show NAME` prints one as a \
                   file, to start your own from, and `ssdlab drive check FILE` checks it.\n"
            .to_owned();
    for preset in presets::ALL {
        let drive = preset.specification();
        let values = flash::grounded(preset.text).expect("a test reads every preset's evidence");
        let _ = write!(
            out,
            "\n## {}\n\n{}\n\n| key | value | basis | source |\n|---|---|---|---|\n",
            drive.name, drive.description
        );
        for value in values {
            let (basis, source) = match &value.evidence {
                Some(evidence) => (word(evidence.basis), cell(&evidence.source)),
                None => (String::new(), String::new()),
            };
            let written = cell(&value.value);
            let _ = writeln!(out, "| `{}` | `{written}` | {basis} | {source} |", value.key);
        }
    }
    out
}

fn commands() -> String {
    let mut line = command_line().term_width(WIDTH).disable_help_subcommand(true);
    line.build();
    let mut out = format!("```text\n{}```\n", trimmed(&line.render_long_help().to_string()));
    for command in line.get_subcommands() {
        command_and_parts(&mut out, command, "ssdlab");
    }
    out
}

/// A command's help, then that of the commands below it.
fn command_and_parts(out: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let help = command.clone().term_width(WIDTH).render_long_help().to_string();
    let _ = write!(out, "\n## {name}\n\n```text\n{}```\n", trimmed(&help));
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        command_and_parts(out, part, &name);
    }
}

fn exit_codes() -> String {
    let mut out =
        "Every command ends with one of these.\n\n| code | meaning |\n|---|---|\n".to_owned();
    for exit in Exit::ALL {
        let _ = writeln!(out, "| {} | {} |", exit.code(), exit.says());
    }
    out
}

/// A text without trailing blanks.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A word as written in files.
fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
