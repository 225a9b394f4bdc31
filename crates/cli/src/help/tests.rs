use std::collections::BTreeSet;

use clap::{CommandFactory, Parser};

use super::*;
use crate::Cli;

fn visible() -> BTreeSet<String> {
    let command = Cli::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn every_command_is_in_one_group_and_has_examples() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    assert_eq!(grouped.len(), visible().len());
    assert_eq!(grouped.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), visible());
    let explained: BTreeSet<String> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(explained, visible());
}

#[test]
fn examples_are_commands_that_are_understood() {
    for (name, examples) in EXAMPLES {
        assert!(!examples.is_empty(), "{name}");
        for (_, line) in examples {
            let line = line.strip_prefix("sudo ").unwrap_or(line);
            let line = line.strip_prefix("source <(").unwrap_or(line).trim_end_matches(')');
            let words = shlex::split(line).expect("a line that a shell understands");
            assert_eq!(words[1], *name, "{line}");
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
        }
    }
}

#[test]
fn no_line_of_help_is_wider_than_a_terminal() {
    for line in explained(Cli::command()).term_width(80).render_help().to_string().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
