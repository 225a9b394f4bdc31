//! How large the product is, and the public types whose names are not unique.

use std::collections::{BTreeMap, BTreeSet};

/// What grows unless somebody looks.
#[derive(Debug, PartialEq, Eq)]
pub struct Size {
    pub crates: usize,
    pub files: usize,
    pub lines: usize,
}

/// The size of files, given as their names and texts. Tests do not count.
pub fn size(sources: &[(String, String)]) -> Size {
    let product = || sources.iter().filter(|(path, _)| !is_test(path));
    let room = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    Size {
        crates: product().map(|(path, _)| room(path)).collect::<BTreeSet<_>>().len(),
        files: product().count(),
        lines: product().map(|(_, text)| text.lines().count()).sum(),
    }
}

/// The types that more than one file makes visible to others under the same name, with the files.
pub fn ambiguous_types(sources: &[(String, String)]) -> Vec<String> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| !is_test(path)) {
        for name in text.lines().filter_map(public_type) {
            files.entry(name).or_default().insert(path);
        }
    }
    files.retain(|_, files| files.len() > 1);
    let line = |(name, files): (&str, BTreeSet<&str>)| {
        format!("{name}: {}", files.into_iter().collect::<Vec<_>>().join(", "))
    };
    files.into_iter().map(line).collect()
}

/// Whether only tests and benchmarks have a file.
pub fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/benches/")
}

/// The type that a line declares, if other files can see it.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(restricted) => restricted.split_once(')')?.1,
        None => rest,
    };
    let mut words = rest.strip_prefix(' ')?.split(|c: char| !c.is_alphanumeric() && c != '_');
    let kind = words.next()?;
    let name = words.next().filter(|name| !name.is_empty())?;
    ["struct", "enum", "trait", "type", "union"].contains(&kind).then_some(name)
}

#[test]
fn types_are_ambiguous_across_files_only() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let sources = [
        file("crates/a/src/lib.rs", "pub struct Twice;\npub(super) enum Once {}\nstruct Private;"),
        file("crates/b/src/lib.rs", "    pub(crate) type Twice = u8;\npub fn Once() {}"),
        file("crates/b/src/private.rs", "struct Private;\npub struct Generic<T>(T);"),
        file("crates/b/src/tests.rs", "pub struct Generic;"),
    ];
    assert_eq!(ambiguous_types(&sources), ["Twice: crates/a/src/lib.rs, crates/b/src/lib.rs"]);
    assert_eq!(size(&sources), Size { crates: 2, files: 3, lines: 7 });
}
