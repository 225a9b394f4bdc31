use super::*;
use std::io::Write;

#[test]
fn a_write_is_counted_to_the_byte_and_to_its_thread() {
    let mut file = tempfile::tempfile().unwrap();
    let before = used().wchar_bytes.unwrap();
    file.write_all(&[7; 12_345]).unwrap();
    assert_eq!(used().wchar_bytes.unwrap() - before, 12_345);
    let calls = used().write_calls.unwrap();
    file.write_all(&[7; 1]).unwrap();
    assert_eq!(used().write_calls.unwrap() - calls, 1);
    let other = std::thread::spawn(move || {
        file.write_all(&[7; 99]).unwrap();
        used()
    });
    assert_eq!(other.join().unwrap().wchar_bytes, Some(99));
    assert_eq!(used().wchar_bytes.unwrap() - before, 12_346);
}
