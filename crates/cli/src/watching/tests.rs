use super::*;

#[test]
fn a_port_alone_is_one_that_others_cannot_reach() {
    for text in ["8000", ":8000", "localhost:8000", "127.0.0.1:8000"] {
        assert_eq!(address(text).unwrap().to_string(), "127.0.0.1:8000", "{text}");
    }
    assert_eq!(address("[::]:80").unwrap().to_string(), "[::]:80");
    for text in ["", ":", "host", "example.org:80", "127.0.0.1", "1.2.3.4:99999", "-1"] {
        assert!(address(text).is_err(), "{text}");
    }
}
