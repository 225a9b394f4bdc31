use super::*;

#[test]
fn an_id_is_digits() {
    assert_eq!(JobId::read("4711").unwrap().to_string(), "4711");
    for other in ["", "+7", "-7", " 7", "7\n", "07", "7;id", "$(id)", "7_0", "4294967296", "٧"] {
        assert_eq!(JobId::read(other), None, "{other:?}");
    }
}
