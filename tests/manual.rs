//! The manual: its links have targets, and its commands do what it says.
//!
//! Every block of `console` is run, page by page, each page in its own folder, unless its first
//! line says what it needs: `console hardware`, `console root`, `console minutes`. What is not run
//! must at least be known. A block `console virtual` needs a lab kernel. A command must succeed and
//! print what follows it in the block, if anything; a line `...` stands for any number of lines. A
//! block with `file=NAME` is that file.

#[path = "common/mod.rs"]
mod common;
#[path = "manual/known.rs"]
mod known;
#[path = "manual/links.rs"]
mod links;
#[path = "manual/page.rs"]
mod page;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Arguments;
use ssdlab_kernel as kernel;

use self::common::{shown, trial};
use self::page::{Block, Needs, Page};

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        trial("links_lead_somewhere", links::lead_somewhere),
        trial("commands_that_no_test_runs_are_known", known::are_known),
        trial("the_page_of_databases_is_what_its_script_writes", databases),
    ];
    let lacking = kernel::find(None).err();
    for page in Page::all() {
        let is_ignored = page.needs_kernel() && lacking.is_some();
        if page.commands().next().is_some() {
            let name = format!("commands_of_{}", page.name());
            let test = trial(&name, move || commands_do_what_it_says(&page));
            let kind = if is_ignored { "needs a lab kernel: make kernel" } else { "" };
            trials.push(test.with_kind(kind).with_ignored_flag(is_ignored));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn databases() {
    let script = root().join("scripts/databases");
    let output = Command::new("python3").arg(script).args(["page", "--print"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let page = fs::read_to_string(root().join("docs/databases.md")).unwrap();
    assert!(String::from_utf8_lossy(&output.stdout) == page, "run scripts/databases page");
}

fn commands_do_what_it_says(page: &Page) {
    let place = tempfile::tempdir().unwrap();
    for block in &page.blocks {
        match block {
            Block::File { name, text } => fs::write(place.path().join(name), text).unwrap(),
            Block::Commands { needs: Needs::Nothing | Needs::Kernel, commands } => {
                for (command, expected) in commands {
                    let printed = run(command, place.path());
                    assert!(
                        page::is_alike(&printed, expected),
                        "{}: `{command}` prints\n{printed}\nand not\n{expected}",
                        page.path
                    );
                }
            }
            Block::Commands { .. } => {}
        }
    }
}

/// What a command prints to both streams, in its folder, with results and state below it.
fn run(command: &str, place: &Path) -> String {
    let programs = Path::new(SSDLAB).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-ec", &format!("exec 2>&1; {command}")])
        .current_dir(place)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("XDG_DATA_HOME", place.join(".data"))
        .env("XDG_STATE_HOME", place.join(".state"))
        .env("TMPDIR", place)
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "`{command}`: {}", shown(&output));
    String::from_utf8(output.stdout).unwrap()
}
