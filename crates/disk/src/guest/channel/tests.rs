use super::*;

#[test]
fn a_message_in_pieces_is_heard_once_it_is_whole() {
    let message = "x".repeat(10_000);
    let framed = framed(&message);
    let mut heard = Vec::new();
    let mut channel = HostChannel::new(&7, |now, message: String| heard.push((now, message)));
    for (index, piece) in framed.chunks(BLOCK_BYTES).enumerate() {
        channel.write(Nanos(1), (index * BLOCK_BYTES) as u64, piece).unwrap();
    }
    // A piece from nowhere is no message.
    channel.write(Nanos(2), 1 << 20, &framed).unwrap();
    drop(channel);
    assert_eq!(heard, [(Nanos(1), message)]);
}

#[test]
fn a_job_is_read_as_it_was_written() {
    let job = "a job ".repeat(2_000);
    let mut channel = HostChannel::new(&job, |_, ()| ());
    // The folder for temporary files may have no direct I/O, as on tmpfs before Linux 6.6.
    let test = std::env::current_exe().unwrap();
    let file = tempfile::NamedTempFile::new_in(test.parent().unwrap()).unwrap();
    let mut bytes = vec![0; 64 << 10];
    channel.read(Nanos(0), 0, &mut bytes).unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    assert_eq!(GuestChannel::open(file.path()).unwrap().job::<String>().unwrap(), job);
}
