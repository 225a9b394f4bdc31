//! Tests of what is refused before anything runs.

use super::*;

/// A drive and the evidence for one of its values.
fn drive(range: &str) -> Plausible {
    let text = format!(
        "name = \"x\"\ncapacity = \"64 MiB\"\nspare_factor = 0.1\npages_per_block = 32\n\
         mapping = \"page\"\ncollection = \"greedy\"\n\
         [evidence.spare_factor]\nbasis = \"assumed\"\nsource = \"x\"\n{range}"
    );
    Plausible::of(&text).unwrap_or_else(|error| panic!("{error}; {}", error.help))
}

#[test]
fn plausible_drives_that_would_all_be_one_are_refused() {
    let is_refused = |of: &Plausible| check_uncertain("x.toml", of, 9).is_err();
    assert!(is_refused(&drive("")));
    assert!(!is_refused(&drive("range = [0.05, 0.2]")));
    let refused = check_uncertain("x.toml", &drive(""), 9).unwrap_err();
    let help = refused.help().map(|help| help.to_string()).unwrap_or_default();
    assert!(help.contains("--plausible 0"), "{help}");
}
