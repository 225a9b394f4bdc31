use std::collections::BTreeSet;
use std::iter;

use clap::{CommandFactory, Parser};
use ssdlab_flash::presets;
use ssdlab_plan::{metric, shipped, shipped_host};

use super::*;
use crate::{Cli, command_line};

fn commands() -> BTreeSet<String> {
    Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn every_command_is_in_one_group_and_has_examples() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    assert_eq!(grouped.len(), commands().len());
    assert_eq!(grouped.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), commands());
    let paths = Cli::command().get_subcommands().flat_map(paths).collect::<BTreeSet<_>>();
    let explained: BTreeSet<String> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(explained, paths);
}

/// NEWCOMER.md: clap's hint was to write `-- -1`.
#[test]
fn a_negative_number_is_a_value_that_is_out_of_range() {
    let line = command_line();
    for arguments in [["run", "discard", "--runs", "-1"], ["check", "discard", "--seed", "-3"]] {
        let words = iter::once("ssdlab").chain(arguments);
        let error = line.clone().try_get_matches_from(words).unwrap_err().to_string();
        assert!(error.contains("invalid value '-"), "{error}");
        assert!(!error.contains("-- -"), "{error}");
    }
}

/// A command and those below it, by all their words.
fn paths(command: &Command) -> Vec<String> {
    let name = command.get_name().to_owned();
    let below = command.get_subcommands().flat_map(paths).map(|path| format!("{name} {path}"));
    let below: Vec<String> = below.collect();
    iter::once(name.clone()).chain(below).collect()
}

/// The words of an example, without what a shell does with them.
fn words(line: &str) -> Vec<String> {
    let line = line.strip_prefix("sudo ").unwrap_or(line);
    let line = line.strip_prefix("git bisect run ").unwrap_or(line);
    let line = line.strip_prefix("source <(").unwrap_or(line).trim_end_matches(')');
    shlex::split(line).expect("a line that a shell understands")
}

#[test]
fn examples_are_commands_that_are_understood() {
    for (name, examples) in EXAMPLES {
        assert!(!examples.is_empty(), "{name}");
        for (_, line) in examples {
            let words = words(line);
            let path = name.split(' ');
            assert!(path.zip(&words[1..]).all(|(one, other)| one == other), "{line}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
        }
    }
}

/// Files of one's own (`.toml`) and options need not exist.
#[test]
fn examples_name_plans_drives_hosts_and_metrics_that_exist() {
    let mut checked = 0;
    for (name, examples) in EXAMPLES {
        for (_, line) in examples {
            for pair in words(line).windows(2) {
                let (before, word) = (pair[0].as_str(), pair[1].as_str());
                if ssdlab_plan::names_file(word) || word.starts_with('-') {
                    continue;
                }
                let is_known = match (name, before) {
                    (_, "--metric") => metric::find(word).is_some(),
                    (_, "--drive") => presets::find(word).is_some(),
                    ("drive" | "drive show" | "drive check", "show" | "check") => {
                        presets::find(word).is_some()
                    }
                    ("host" | "host show", "show") => shipped_host(word).is_some(),
                    (_, "run" | "check" | "judge") => shipped::find(word).is_some(),
                    _ => continue,
                };
                assert!(is_known, "`{word}` in {line}");
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn no_line_of_help_is_wider_than_a_terminal() {
    for line in command_line().term_width(80).render_help().to_string().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
