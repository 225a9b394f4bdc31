//! A page of the manual: its headings, links, files and commands.

use std::fs;
use std::path::Path;

use super::root;

/// A page.
pub struct Page {
    /// Its path below `docs`.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its blocks for the test, in order.
    pub blocks: Vec<Block>,
}

/// A block of code.
pub enum Block {
    /// A file that later commands read.
    File {
        /// Its name.
        name: String,
        /// Its contents.
        text: String,
    },
    /// Commands.
    Commands {
        /// What they need.
        needs: Needs,
        /// Each with its expected output.
        commands: Vec<(String, String)>,
    },
}

/// What commands need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing but the program.
    Nothing,
    /// A lab kernel.
    Kernel,
    /// What a test does not have: a drive, root, a cluster, minutes.
    More,
}

impl Page {
    /// Every page.
    pub fn all() -> Vec<Self> {
        let mut pages = Vec::new();
        let mut folders = vec![root().join("docs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "md") {
                    pages.push(Self::read(&path));
                }
            }
        }
        pages.sort_by(|a, b| a.path.cmp(&b.path));
        pages
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let blocks = blocks(&text).filter_map(|(info, text)| Block::of(info, text)).collect();
        let path = path.strip_prefix(root().join("docs")).unwrap().display().to_string();
        Self { path, text, blocks }
    }

    /// A name for its test.
    pub fn name(&self) -> String {
        self.path.trim_end_matches(".md").replace(['/', '-'], "_")
    }

    /// The commands that are run.
    pub fn commands(&self) -> impl Iterator<Item = &(String, String)> {
        let run = self.blocks.iter().filter_map(|block| match block {
            Block::Commands { needs: Needs::Nothing | Needs::Kernel, commands } => Some(commands),
            _ => None,
        });
        run.flatten()
    }

    /// Whether any command needs a lab kernel.
    pub fn needs_kernel(&self) -> bool {
        let is_virtual =
            |block: &Block| matches!(block, Block::Commands { needs: Needs::Kernel, .. });
        self.blocks.iter().any(is_virtual)
    }

    /// The text outside blocks of code.
    pub fn prose(&self) -> String {
        let mut is_code = false;
        let mut is_prose = |line: &&str| {
            let is_fence = line.starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        };
        self.text.lines().filter(|line| is_prose(line)).flat_map(|line| [line, "\n"]).collect()
    }
}

impl Block {
    fn of(info: &str, text: String) -> Option<Self> {
        let mut words = info.split_whitespace();
        let language = words.next().unwrap_or("");
        let word = words.next();
        if let Some(name) = word.and_then(|word| word.strip_prefix("file=")) {
            return Some(Self::File { name: name.to_owned(), text });
        }
        if language != "console" {
            assert!(!text.contains("\n$ ") && !text.starts_with("$ "), "`console`: {text}");
            return None;
        }
        let needs = match word {
            None => Needs::Nothing,
            Some("virtual") => Needs::Kernel,
            Some("hardware" | "root" | "minutes") => Needs::More,
            Some(other) => panic!("a block of code needs `{other}`, which no test knows"),
        };
        Some(Self::Commands { needs, commands: commands(&text) })
    }
}

/// The blocks of code of a page: what their first line says, and their text.
fn blocks(page: &str) -> impl Iterator<Item = (&str, String)> {
    let mut lines = page.lines();
    std::iter::from_fn(move || {
        let info = lines.by_ref().find_map(|line| line.strip_prefix("```"))?;
        let text = lines.by_ref().take_while(|line| *line != "```");
        Some((info, text.flat_map(|line| [line, "\n"]).collect()))
    })
}

/// Lines that begin with `$ ` are commands, the lines after them their output.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut is_continued = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else if let Some((command, _)) = commands.last_mut().filter(|_| is_continued) {
            command.push('\n');
            command.push_str(line);
        } else if let Some((_, printed)) = commands.last_mut() {
            printed.push_str(line);
            printed.push('\n');
        } else {
            panic!("a block of `console` begins with `$ `: {text}");
        }
        is_continued = line.ends_with('\\');
    }
    commands
}

/// Whether output is as expected, where `...` matches any lines, and an empty expectation matches
/// any output.
pub fn is_alike(printed: &str, expected: &str) -> bool {
    if expected.is_empty() {
        return true;
    }
    let chunks: Vec<String> = expected
        .split_inclusive('\n')
        .collect::<Vec<_>>()
        .split(|line| *line == "...\n")
        .map(<[&str]>::concat)
        .collect();
    let Some(mut rest) = printed.strip_prefix(chunks[0].as_str()) else { return false };
    for chunk in &chunks[1..] {
        let Some((_, after)) = rest.split_once(chunk.as_str()) else { return false };
        rest = after;
    }
    expected.ends_with("...\n") || rest.is_empty()
}
