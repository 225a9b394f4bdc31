//! The links of the manual and of the documents beside it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::page::Page;
use super::root;

/// Every link within the repository leads to a file, and to a heading if it names one; every page
/// is in the table of contents.
pub fn lead_somewhere() {
    let mut wrong = Vec::new();
    let pages = Page::all();
    let summary = pages.iter().find(|page| page.path == "SUMMARY.md").unwrap();
    let listed: BTreeSet<&str> = targets(&summary.text).collect();
    for page in &pages {
        let is_listed = page.path == "SUMMARY.md" || listed.contains(page.path.as_str());
        if !is_listed {
            wrong.push(format!("docs/{} is not in docs/SUMMARY.md", page.path));
        }
        check(&root().join("docs").join(&page.path), &page.prose(), true, &mut wrong);
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let path = root().join(name);
        check(&path, &fs::read_to_string(&path).unwrap(), false, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn check(file: &Path, text: &str, is_in_manual: bool, wrong: &mut Vec<String>) {
    for target in targets(text).filter(|target| !target.contains("://")) {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let to = if path.is_empty() { file.to_owned() } else { file.parent().unwrap().join(path) };
        let Ok(to) = to.canonicalize() else {
            wrong.push(format!("{}: {target}: there is no such file", file.display()));
            continue;
        };
        if is_in_manual && !to.starts_with(root().join("docs").canonicalize().unwrap()) {
            wrong.push(format!("{}: {target}: it is not in the manual", file.display()));
        }
        let is_page = to.extension().is_some_and(|ending| ending == "md");
        if is_page && !anchor.is_empty() {
            let text = fs::read_to_string(&to).unwrap();
            if !anchors(&text).any(|known| known == anchor) {
                wrong.push(format!("{}: {target}: there is no such heading", file.display()));
            }
        }
    }
}

/// What `[...](HERE)` links to.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchors that mdBook and others generate for headings.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|heading| {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " _-".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}
