use ssdlab_filesystem as filesystem;

use super::*;

#[test]
fn limits_are_rounded_to_a_tenth_of_their_unit() {
    let shown = |bytes| binary(bytes);
    assert_eq!(shown(255), "255 B");
    assert_eq!(shown((1 << 44) - 4096), "16 TiB");
    assert_eq!(shown(4_329_690_886_144), "3.9 TiB");
    assert_eq!(shown(i64::MAX as u128), "8 EiB");
    assert_eq!(shown(u128::MAX), "2^128 B");
}

#[test]
fn a_cell_says_what_was_found_where_it_differs() {
    let ext4 = filesystem::find("ext4").unwrap();
    let of = |found: &str| {
        let found = BTreeMap::from([(LONGEST_NAME.to_owned(), found.to_owned())]);
        features(&[(ext4, found)], Style::default())
    };
    assert!(of("255 bytes").contains("255 B [1] *") && of("255 bytes").contains("* checked"));
    assert!(of("143 bytes").contains("found: 143 bytes *"));
    assert!(!features(&[(ext4, BTreeMap::new())], Style::default()).contains('*'));
}
