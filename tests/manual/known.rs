//! Commands that no test runs: the program knows their words and options, and the Makefile its
//! targets.

use std::fs;
use std::process::{Command, Stdio};

use super::common::shown;
use super::page::{Block, Needs, Page};
use super::{SSDLAB, root};

/// What a shell would do more than run one program.
const SHELL: [char; 7] = ['|', ';', '&', '<', '>', '`', '$'];

/// With `--help` at its end the program parses a command's words and options, and does nothing; it
/// does not look for missing or conflicting ones, or for plans.
pub fn are_known() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let mut known = 0;
    for page in Page::all() {
        for command in unrun(&page) {
            let command = command.strip_prefix("sudo ").unwrap_or(&command);
            let (command, _) = command.split_once(" # ").unwrap_or((command, ""));
            let words = command.split_whitespace().skip(1);
            if command.starts_with("make ") {
                for target in words.filter(|word| !word.contains('=')) {
                    let rule = format!("\n{target}:");
                    assert!(makefile.contains(&rule), "{}: no target {target}", page.path);
                    known += 1;
                }
            }
            // Behind ` -- ` is another program's command.
            let is_ours = command.starts_with("ssdlab ") && !command.contains(" -- ");
            if !is_ours || command.contains(SHELL) {
                continue;
            }
            let program = format!("exec '{SSDLAB}' {} --help", &command["ssdlab ".len()..]);
            let mut shell = Command::new("sh");
            shell.args(["-c", &program]).env("NO_COLOR", "1").stdin(Stdio::null());
            let output = shell.output().unwrap();
            let is_help = shown(&output).contains("Usage: ssdlab");
            assert!(
                output.status.success() && is_help,
                "{}: {command}: {}",
                page.path,
                shown(&output)
            );
            known += 1;
        }
    }
    assert!(known > 40, "{known}");
}

/// The commands of a page that need what a test does not have.
fn unrun(page: &Page) -> impl Iterator<Item = String> {
    let unrun = page.blocks.iter().filter_map(|block| match block {
        Block::Commands { needs: Needs::More, commands } => Some(commands),
        _ => None,
    });
    unrun.flatten().map(|(command, _)| command.replace("\\\n", " "))
}
