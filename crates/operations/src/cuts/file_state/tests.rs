//! Every kind of damage is distinguished from every other.

use super::{Damage, FileState};
use crate::cuts::contents::{RECORD_BYTES, logged, replaced};

fn fault(bytes: &[u8]) -> Option<Damage> {
    FileState::of_replaced(3, bytes).fault
}

#[test]
fn a_replaced_file_is_whole_or_says_what_is_wrong() {
    let whole = replaced(3, 7);
    assert_eq!(FileState::of_replaced(3, &whole), FileState::whole(7));
    assert_eq!(fault(&[]), Some(Damage::Empty));
    assert_eq!(fault(&whole[..4096]), Some(Damage::Torn));
    assert_eq!(fault(&[0; 4096]), Some(Damage::Zeros));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        fault(&bytes)
    };
    assert_eq!(with(&|bytes| bytes[4096..8192].fill(0)), Some(Damage::Zeros));
    assert_eq!(with(&|bytes| bytes[5000] ^= 1), Some(Damage::Garbage));
    assert_eq!(with(&|bytes| bytes.push(0)), Some(Damage::Garbage));
    assert_eq!(fault(&replaced(4, 7)), Some(Damage::Garbage), "the contents of another file");
    let mixed = [&replaced(3, 7)[..4096], &replaced(3, 6)[4096..]].concat();
    assert_eq!(fault(&mixed), Some(Damage::Garbage));
}

#[test]
fn a_log_has_whole_records_and_perhaps_something_behind_them() {
    let records = |count: u32| -> Vec<u8> {
        (0..count).flat_map(|number| logged(number, RECORD_BYTES)).collect()
    };
    let found = |bytes: &[u8]| {
        let found = FileState::of_log(bytes, RECORD_BYTES);
        (found.version.unwrap(), found.fault)
    };
    assert_eq!(found(&[]), (0, None));
    assert_eq!(found(&records(9)), (9, None));
    assert_eq!(found(&records(9)[..4096]), (8, Some(Damage::Torn)));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = records(9);
        change(&mut bytes);
        found(&bytes)
    };
    assert_eq!(with(&|bytes| bytes[4096..].fill(0)), (8, Some(Damage::Zeros)));
    assert_eq!(with(&|bytes| bytes[..RECORD_BYTES].fill(0)), (0, Some(Damage::Zeros)));
    assert_eq!(with(&|bytes| bytes.extend([0; 3])), (9, Some(Damage::Zeros)));
    assert_eq!(with(&|bytes| bytes[600] ^= 1), (1, Some(Damage::Garbage)));
}

#[test]
fn a_log_of_records_of_100_bytes_is_counted_in_these() {
    let bytes: Vec<u8> = (0..9).flat_map(|number| logged(number, 100)).collect();
    assert_eq!(bytes.len(), 900);
    assert_eq!(FileState::of_log(&bytes, 100), FileState::whole(9));
    let torn = FileState::of_log(&bytes[..850], 100);
    assert_eq!((torn.version, torn.fault), (Some(8), Some(Damage::Torn)));
    assert_eq!(FileState::of_log(&bytes, RECORD_BYTES).version, Some(0));
}
