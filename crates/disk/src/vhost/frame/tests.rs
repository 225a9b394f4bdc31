use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::*;

fn pair() -> (Socket, UnixStream) {
    let (here, there) = UnixStream::pair().unwrap();
    (Socket::new(here, "disk test").unwrap(), there)
}

#[test]
fn a_message_arrives_as_it_was_sent() {
    let (here, there) = pair();
    let there = Socket::new(there, "device").unwrap();
    send_frame(&there, 35, Purpose::Acknowledge, &[1, 2, 3]).unwrap();
    let frame = receive_frame(&here).unwrap().unwrap();
    assert_eq!((frame.request, frame.purpose), (35, Purpose::Acknowledge));
    assert_eq!((frame.body, frame.descriptors.len()), (vec![1, 2, 3], 0));
    drop(there);
    assert!(receive_frame(&here).unwrap().is_none());
}

#[test]
fn file_descriptors_come_with_their_message() {
    let (here, there) = pair();
    let header = [21_u32, 9, 0].map(u32::to_le_bytes).concat();
    let other = Socket::new(there, "device").unwrap();
    other.send(&header, &[here.as_fd()]).unwrap();
    assert_eq!(receive_frame(&here).unwrap().unwrap().descriptors.len(), 1);
}

#[test]
fn what_is_no_message_is_an_error() {
    let wrong = [
        [3_u32, 0, 0].map(u32::to_le_bytes).concat(),
        [3_u32, 1 | 1 << 5, 0].map(u32::to_le_bytes).concat(),
        [3_u32, 1, 1 << 20].map(u32::to_le_bytes).concat(),
        [3_u32, 1, 8].map(u32::to_le_bytes).concat(),
        vec![3, 0, 0],
    ];
    for bytes in wrong {
        let (here, mut there) = pair();
        there.write_all(&bytes).unwrap();
        drop(there);
        assert!(receive_frame(&here).is_err(), "{bytes:?}");
    }
}
