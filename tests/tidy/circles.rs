//! Which files of a room use which, and the circles among them.
//!
//! An arrow goes from the file that names an item to the file that defines it. Every path counts
//! that begins at `crate`, `self`, `super` or a child module, in a `use` or in the code, and is
//! followed through imports and re-exports to the definition. So a `mod.rs` that only declares and
//! re-exports its children has no arrows, and naming something through it is an arrow to the child.
//! A name that a file re-exports and also uses itself is an arrow of that file. Code under
//! `#[cfg(test)]` may use anything, and method calls are not followed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter::Peekable;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use super::size::is_test;

/// A module's place below the root of its crate, or a path as written in the code.
type Path = Vec<String>;

/// What a file says about other modules.
#[derive(Default)]
struct Module {
    file: String,
    /// What its `use` declarations bring into scope, by name.
    imports: BTreeMap<String, Path>,
    /// Those of the names that are re-exported.
    reexports: BTreeSet<String>,
    /// Every path that it imports for itself or names in its code, and the module that names it.
    paths: Vec<(Path, Path)>,
}

/// The circles among some files of a crate whose root is in the folder `root`, one of each group of
/// files that reach each other, in words. `sources` are files' names and texts.
pub fn circles(root: &str, sources: &[(String, String)]) -> Vec<String> {
    let arrows = arrows(&modules(root, sources));
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    let mut circles = Vec::new();
    for start in arrows.keys() {
        let Some(circle) = way_back(&arrows, start) else { continue };
        if circle.iter().all(|(from, ..)| !shown.contains(from)) {
            let line = |(from, to, path): &(&str, &str, &str)| format!("{from} -> {to} ({path})");
            circles.push(circle.iter().map(line).collect::<Vec<_>>().join("\n"));
        }
        shown.extend(circle.iter().map(|(from, ..)| from));
    }
    circles
}

/// From each file to those it uses, with a path that proves it.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

fn arrows(modules: &BTreeMap<Path, Module>) -> Arrows {
    let mut arrows = Arrows::new();
    for module in modules.values() {
        let own = arrows.entry(module.file.clone()).or_default();
        for (from, path) in &module.paths {
            let defined = definition(modules, from, path, modules.len());
            if let Some(to) = defined.filter(|to| to.file != module.file) {
                own.entry(to.file.clone()).or_insert_with(|| path.join("::"));
            }
        }
    }
    arrows
}

/// The shortest way from a file back to itself.
fn way_back<'a>(arrows: &'a Arrows, start: &'a str) -> Option<Vec<(&'a str, &'a str, &'a str)>> {
    let mut reached: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut next = VecDeque::from([start]);
    while let Some(from) = next.pop_front() {
        for (to, path) in arrows.get(from).into_iter().flatten() {
            if !reached.contains_key(to.as_str()) {
                reached.insert(to, (from, path));
                next.push_back(to);
            }
        }
    }
    let mut way = Vec::new();
    let mut to = start;
    while way.is_empty() || to != start {
        let (from, path) = *reached.get(to)?;
        way.push((from, to, path));
        to = from;
    }
    way.reverse();
    Some(way)
}

/// The module that defines what a path names; `None` if it is outside of these modules.
fn definition<'a>(
    modules: &'a BTreeMap<Path, Module>,
    from: &Path,
    path: &[String],
    most_steps: usize,
) -> Option<&'a Module> {
    let mut at = from.clone();
    let mut rest = path;
    while let Some((first, others)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "super" => drop(at.pop()),
            "self" => {}
            _ => break,
        }
        rest = others;
    }
    let begins_here = rest.len() < path.len();
    while let Some((first, others)) = rest.split_first() {
        let child: Path = at.iter().chain([first]).cloned().collect();
        if !modules.contains_key(&child) {
            break;
        }
        (at, rest) = (child, others);
    }
    if !begins_here && at == *from {
        return None;
    }
    // An inline module belongs to its file.
    let module = loop {
        match modules.get(&at) {
            Some(module) => break module,
            None => drop(at.pop()?),
        }
    };
    let imported = rest.first().and_then(|name| module.imports.get(name));
    match imported {
        Some(imported) if most_steps > 0 => {
            let path: Path = imported.iter().chain(&rest[1..]).cloned().collect();
            definition(modules, &at, &path, most_steps - 1)
        }
        _ => Some(module),
    }
}

fn modules(root: &str, sources: &[(String, String)]) -> BTreeMap<Path, Module> {
    let read = |(file, text): &(String, String)| {
        let place = file.strip_prefix(root).expect("a file below the root of its crate");
        let place = place.trim_matches('/').trim_end_matches(".rs");
        let mut place: Path = place.split('/').map(str::to_owned).collect();
        if ["mod", "lib", "main"].contains(&place[place.len() - 1].as_str()) {
            place.pop();
        }
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut module = Module { file: file.clone(), ..Module::default() };
        let mut named = Vec::new();
        module.read(&place, tokens, &mut named);
        let Module { imports, reexports, .. } = &module;
        let of_itself = named.iter().filter(|name| reexports.contains(*name));
        let used: Vec<_> = of_itself.map(|name| (place.clone(), imports[name].clone())).collect();
        module.paths.extend(used);
        (place, module)
    };
    // Modules that only tests have are declared in tests.
    sources.iter().filter(|(file, _)| !is_test(file)).map(read).collect()
}

impl Module {
    /// Reads the paths of a file or a part of it; `named` gets every name that stands alone or
    /// begins a path.
    fn read(&mut self, place: &Path, tokens: TokenStream, named: &mut Vec<String>) {
        let mut tokens = tokens.into_iter().peekable();
        let (mut is_public, mut is_after_dot) = (false, false);
        while let Some(token) = tokens.next() {
            let was_public = is_public;
            is_public = false;
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let attribute = tokens.next_if(is_group(Delimiter::Bracket));
                    let text = attribute.map(|attribute| attribute.to_string());
                    if text.is_some_and(|text| text.replace(' ', "") == "[cfg(test)]") {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Ident(word) if word == "pub" => {
                    is_public = true;
                    // `pub(super)` names nothing.
                    tokens.next_if(is_group(Delimiter::Parenthesis));
                }
                TokenTree::Ident(word) if word == "use" => {
                    let mut imported = Vec::new();
                    let end = |token: &TokenTree| token.to_string() != ";";
                    use_tree(&mut until(&mut tokens, end), &Path::new(), &mut imported);
                    for (name, path) in imported {
                        if was_public {
                            self.reexports.insert(name.clone());
                        } else {
                            self.paths.push((place.clone(), path.clone()));
                        }
                        self.imports.insert(name, path);
                    }
                }
                TokenTree::Ident(word) if word == "mod" => {
                    let name = tokens.next().map(|name| name.to_string()).unwrap_or_default();
                    if let Some(TokenTree::Group(body)) = tokens.next_if(is_group(Delimiter::Brace))
                    {
                        let place: Path = place.iter().cloned().chain([name]).collect();
                        self.read(&place, body.stream(), named);
                    }
                }
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while tokens.next_if(is_double_colon).is_some() {
                        tokens.next();
                        let Some(word) = tokens.next_if(|next| matches!(next, TokenTree::Ident(_)))
                        else {
                            break;
                        };
                        path.push(word.to_string());
                    }
                    if !is_after_dot {
                        named.push(path[0].clone());
                    }
                    if path.len() > 1 {
                        self.paths.push((place.clone(), path));
                    }
                }
                TokenTree::Group(group) => self.read(place, group.stream(), named),
                TokenTree::Punct(punct) => {
                    is_after_dot = punct.as_char() == '.';
                    continue;
                }
                TokenTree::Literal(_) => {}
            }
            is_after_dot = false;
        }
    }
}

fn is_group(delimiter: Delimiter) -> impl Fn(&TokenTree) -> bool {
    move |token| matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

/// Whether a token is the first half of `::`, not the colon after the name of a field.
fn is_double_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct)
        if punct.as_char() == ':' && punct.spacing() == Spacing::Joint)
}

fn until<I: Iterator<Item = TokenTree>>(
    tokens: &mut Peekable<I>,
    goes_on: impl Fn(&TokenTree) -> bool,
) -> Peekable<std::vec::IntoIter<TokenTree>> {
    let taken: Vec<TokenTree> = std::iter::from_fn(|| tokens.next_if(&goes_on)).collect();
    tokens.next();
    taken.into_iter().peekable()
}

/// An item ends with its braces or a semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    let is_end = |token: &TokenTree| is_group(Delimiter::Brace)(token) || token.to_string() == ";";
    tokens.find(is_end);
}

/// The names that a part of a `use` declaration brings into scope.
fn use_tree<I: Iterator<Item = TokenTree>>(
    tokens: &mut Peekable<I>,
    prefix: &Path,
    imported: &mut Vec<(String, Path)>,
) {
    while tokens.peek().is_some() {
        let mut path = prefix.clone();
        let mut name = None;
        for token in until(tokens, |token| token.to_string() != ",") {
            match token {
                TokenTree::Group(group) => {
                    use_tree(&mut group.stream().into_iter().peekable(), &path, imported);
                    path.clear();
                }
                TokenTree::Ident(word) if word == "as" => name = Some(String::new()),
                TokenTree::Ident(word) if name.is_some() => name = Some(word.to_string()),
                // `{self}` is the module itself.
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".to_owned()),
                _ => {}
            }
        }
        if let Some(last) = path.last() {
            imported.push((name.unwrap_or_else(|| last.clone()), path));
        }
    }
}

fn of(files: &[(&str, &str)]) -> Vec<String> {
    let named = |(file, text): &(&str, &str)| (format!("src/room/{file}"), (*text).to_owned());
    circles("src", &files.iter().map(named).collect::<Vec<_>>())
}

#[test]
fn a_circle_is_shown_with_the_paths_that_make_it() {
    let files = [
        ("mod.rs", "mod a; mod b; mod c; pub use c::C;"),
        ("a.rs", "use super::b::{self, B}; fn a() { b::run() }"),
        ("b.rs", "pub(super) struct B(crate::room::C);"),
        ("c.rs", "pub struct C; fn c() { super::a::a() }"),
    ];
    let expected = "src/room/a.rs -> src/room/b.rs (super::b)\n\
                    src/room/b.rs -> src/room/c.rs (crate::room::C)\n\
                    src/room/c.rs -> src/room/a.rs (super::a::a)";
    assert_eq!(of(&files), [expected]);
    assert!(of(&files[..3]).is_empty());
}

#[test]
fn what_a_room_only_declares_and_what_tests_use_are_no_arrows() {
    let a = "use super::B;\n/// As [`super::b`].\n#[cfg(test)]\nmod tests { use super::super::b; }";
    let b = "#[cfg(test)]\nuse super::a::A;\nfn b() { \"super::a::A\"; }";
    assert!(of(&[("mod.rs", "mod a; mod b; pub use b::B;"), ("a.rs", a), ("b.rs", b)]).is_empty());
}

#[test]
fn code_of_a_room_itself_is_above_or_below_its_files() {
    let above = ("mod.rs", "mod a; pub use a::A; fn run() -> A { A }");
    assert!(of(&[above, ("a.rs", "pub struct A;")]).is_empty());
    let circle = of(&[above, ("a.rs", "pub struct A; fn a() { super::run(); }")]);
    assert_eq!(circle.len(), 1);
    assert!(circle[0].contains("src/room/mod.rs -> src/room/a.rs (a::A)"), "{}", circle[0]);
    let below = ("mod.rs", "mod a; pub use a::A; pub const MOST: u32 = 1;");
    assert!(of(&[below, ("a.rs", "use super::MOST; pub struct A;")]).is_empty());
    let with_a_field = ("mod.rs", "mod a; pub struct B { a: u32 }");
    assert!(of(&[with_a_field, ("a.rs", "use super::B;")]).is_empty());
}

#[test]
fn modules_within_a_file_and_renamed_imports_are_followed() {
    let room = "mod a; mod b; use b::B as Other;";
    let a = "mod inner { use super::super::Other; fn f() { super::f() } }";
    let circle = of(&[("mod.rs", room), ("a.rs", a), ("b.rs", "use super::a::f; struct B;")]);
    assert_eq!(circle.len(), 1, "{circle:?}");
    assert!(circle[0].starts_with("src/room/a.rs -> src/room/b.rs (super::super::Other)"));
}
