//! The plan's own check of what a power cut left: a program, which is asked by its exit status.

use std::fs;
use std::path::Path;
use std::process::Command;

use ssdlab_host::processes;
use ssdlab_host::program::{self, ProgramError, Rules};
use ssdlab_operations::cuts::DataVerdict;

use super::command_system::TestedDirectory;

/// Has a program judge the data in a directory. It reads the lines that programs of the workload
/// had printed before the power was cut. It runs in the
/// plan's system of commands, or else in this one. An error says that it could not be asked.
pub fn check(
    words: &[String],
    said: &[String],
    directory: &Path,
    is_in_system: bool,
    rules: Rules<'_>,
) -> Result<DataVerdict, ProgramError> {
    let Some((program, arguments)) = words.split_first() else { return Ok(DataVerdict::Accepted) };
    // It existed before the first phase, and was synced.
    if let Err(error) = fs::read_dir(directory) {
        return Ok(DataVerdict::Rejected(format!("the trial's directory is gone: {error}")));
    }
    let unmounted = |cause| ProgramError::Start { program: program.clone(), cause };
    let tested = is_in_system.then(|| TestedDirectory::mount(directory).map_err(unmounted));
    let tested = tested.transpose()?;
    let command = if let Some(tested) = &tested {
        tested.command(words)
    } else {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory);
        command
    };
    let input: String = said.iter().flat_map(|line| [line, "\n"]).collect();
    let ended = program::run_with_input(command, &input, rules);
    if is_in_system {
        // What it has left running would keep the filesystem from being unmounted.
        processes::kill_marked(rules.marker);
    }
    match ended {
        Ok(_) => Ok(DataVerdict::Accepted),
        Err(ProgramError::Failed { how, output, .. }) => {
            let said = program::tail(&output);
            Ok(DataVerdict::Rejected(if said.is_empty() { how } else { format!("{how}: {said}") }))
        }
        Err(error @ ProgramError::Limit { .. }) => Ok(DataVerdict::Rejected(error.to_string())),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
