use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use super::*;

fn pair() -> (GuestSocket, UnixStream) {
    let (here, there) = UnixStream::pair().unwrap();
    (GuestSocket::new(here, "disk test").unwrap(), there)
}

#[test]
fn a_message_arrives_with_its_file_descriptors_and_is_answered_if_it_asks_for_that() {
    let (here, there) = pair();
    let there = GuestSocket::new(there, "device").unwrap();
    for flags in [1_u32, 9] {
        let message = [[35, flags, 3].map(u32::to_le_bytes).concat(), vec![1, 2, 3]].concat();
        there.send(&message, &[here.as_fd()]).unwrap();
        let handled = answer_next(&here, |frame| {
            assert_eq!((frame.request, frame.descriptors.len()), (35, 1));
            assert_eq!(frame.body, [1, 2, 3]);
            Ok(VhostReply::Acknowledge(7))
        });
        assert_eq!(handled.unwrap(), SocketRead::All);
    }
    let mut acknowledged = [0; 20];
    there.fill(&mut acknowledged, &mut Vec::new()).unwrap();
    assert_eq!(acknowledged[..], [35_u32, 5, 8, 7, 0].map(u32::to_le_bytes).concat());
    drop(there);
    assert_eq!(answer_next(&here, |_| unreachable!()).unwrap(), SocketRead::End);
}

#[test]
fn what_is_no_message_is_an_error() {
    let wrong = [
        [3_u32, 0, 0].map(u32::to_le_bytes).concat(),
        [3_u32, 5, 0].map(u32::to_le_bytes).concat(),
        [3_u32, 1 | 1 << 5, 0].map(u32::to_le_bytes).concat(),
        [3_u32, 1, 1 << 20].map(u32::to_le_bytes).concat(),
        [3_u32, 1, 8].map(u32::to_le_bytes).concat(),
        vec![3, 0, 0],
    ];
    for bytes in wrong {
        let (here, mut there) = pair();
        there.write_all(&bytes).unwrap();
        drop(there);
        assert!(answer_next(&here, |_| Ok(VhostReply::Acknowledge(0))).is_err(), "{bytes:?}");
    }
}
