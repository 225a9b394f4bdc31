use super::*;

#[test]
fn a_message_in_pieces_is_heard_once_it_is_whole() {
    let message = Message::Done(serde_json::json!({ "text": "x".repeat(10_000) }));
    let framed = framed(&message);
    let mut heard = Vec::new();
    let mut channel = Channel::new(&7, |now, message| heard.push((now, message)));
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
    let mut channel = Channel::new(&job, |_, _| ());
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut bytes = vec![0; 64 << 10];
    channel.read(Nanos(0), 0, &mut bytes).unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    match Line::open(file.path()) {
        Ok(line) => assert_eq!(line.job::<String>().unwrap(), job),
        // A filesystem without direct I/O.
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::InvalidInput),
    }
}
