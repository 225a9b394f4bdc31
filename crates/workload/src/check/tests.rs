//! A check judges by its exit status, in the directory, knowing what was printed.

use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::DataVerdict;

use super::check;

#[test]
fn a_check_knows_the_directory_and_what_was_printed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("count"), "2\n").unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let script = "read -r count <count; test \"$(wc -l)\" -le \"$count\" || { echo lost; exit 3; }";
    let words = ["sh", "-c", script].map(str::to_owned);
    let said = ["one", "two", "three"].map(str::to_owned);
    let of = |said: &[String]| check(&words, said, folder.path(), false, rules).unwrap();
    assert_eq!(of(&said[..2]), DataVerdict::Accepted);
    assert_eq!(of(&said), DataVerdict::Rejected("ended with exit code 3: lost".to_owned()));
    let silent = ["false".to_owned()];
    let silent = check(&silent, &[], folder.path(), false, rules).unwrap();
    assert_eq!(silent, DataVerdict::Rejected("ended with exit code 1".to_owned()));
    let missing = ["no-such-program".to_owned()];
    assert!(check(&missing, &[], folder.path(), false, rules).is_err(), "it judged nothing");
    let gone = check(&words, &[], &folder.path().join("gone"), false, rules).unwrap();
    assert!(matches!(gone, DataVerdict::Rejected(says) if says.contains("directory is gone")));
}
