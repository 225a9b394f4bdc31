//! Tests of how ratings are written.

use ssdlab_plan::Bytes;

use super::{iops, terabytes};

#[test]
fn iops_are_numbers_thousands_or_millions() {
    assert_eq!(iops("98k/88K"), Ok((98_000, 88_000)));
    assert_eq!(iops("1.2M / 900000"), Ok((1_200_000, 900_000)));
    for wrong in ["98k", "98k/", "/88k", "0/1", "-1/1", "98kB/88kB", "1e12/1", "nan/1"] {
        assert!(iops(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn endurance_is_in_terabytes() {
    assert_eq!(terabytes("300"), Ok(Bytes(300_000_000_000_000)));
    assert_eq!(terabytes("0.5"), Ok(Bytes(500_000_000_000)));
    for wrong in ["0", "-3", "300 TB", "1e9", "inf"] {
        assert!(terabytes(wrong).is_err(), "{wrong}");
    }
}
