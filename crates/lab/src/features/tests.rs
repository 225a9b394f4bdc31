use super::*;

#[test]
fn the_most_is_found_whatever_was_stated() {
    for stated in [0, 254, 255, 256, 4095, u64::MAX] {
        assert_eq!(most(stated, LONGEST_PATH, |bytes| bytes <= 255), 255);
    }
    let mut asked = 0;
    most(255, LONGEST_PATH, |bytes| {
        asked += 1;
        bytes <= 255
    });
    assert_eq!(asked, 2);
}
