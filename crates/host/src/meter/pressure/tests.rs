//! Tests of what the kernel's texts are read as.

use super::*;

#[test]
fn totals_are_read() {
    let text = "some avg10=6.88 avg60=4.65 avg300=2.32 total=663905819\n\
                full avg10=0.00 avg60=0.00 avg300=0.00 total=45603479\n";
    let expected = IoPressure { some_us: 663_905_819, full_us: 45_603_479 };
    assert_eq!(parse_io(text), Some(expected));
    assert_eq!(parse_io("some avg10=0.00"), None);
    assert_eq!(parse_dirtied("nr_dirty 4\nnr_dirtied 61471082\n"), Some(61_471_082));
}
