//! The reference of JSON formats: the purpose of each, and the keys of its outermost object.

use std::fmt::Write;

use clap::ValueEnum;
use ssdlab_cli::JsonFormat;

use super::cell::cell;
use super::properties::properties;

/// The text of the page.
pub fn page() -> String {
    let mut out =
        "`ssdlab schema NAME` prints a format's JSON schema, with every key below these. \
                   A number in `schema` is a format's version: it changes when a key goes or \
                   changes its meaning, and stays when one is added. Units end names: `_ns`, \
                   `_bytes`.\n"
            .to_owned();
    for format in JsonFormat::value_variants() {
        let value = format.to_possible_value().expect("no format is hidden");
        let says = value.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = write!(out, "\n## {}\n\n{says}\n\n", value.get_name());
        if *format == JsonFormat::Plan {
            out.push_str("[Plans, key by key](plans.md)\n");
            continue;
        }
        out.push_str("| key | meaning |\n|---|---|\n");
        let schema = format.schema().to_value();
        for key in properties(&schema) {
            let _ = writeln!(out, "| `{}` | {} |", key.name, cell(&key.says));
        }
    }
    out
}
