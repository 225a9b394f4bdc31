use clap::Command;

use super::{OF_COMMANDS, OF_OPTIONS};

fn options(line: &Command) -> Vec<String> {
    let own = line.get_opts().filter_map(|option| option.get_long().map(str::to_owned));
    own.chain(line.get_subcommands().flat_map(options)).collect()
}

#[test]
fn each_command_and_option_that_is_completed_exists() {
    let line = crate::command_line();
    for name in OF_COMMANDS.iter().flat_map(|(names, ..)| *names) {
        assert!(line.find_subcommand(name).is_some(), "there is no command {name}");
    }
    let options = options(&line);
    for (name, _) in OF_OPTIONS {
        assert!(options.iter().any(|option| option == name), "there is no option --{name}");
    }
}
