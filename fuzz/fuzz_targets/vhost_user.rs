//! A hostile front end of a served disk: messages, memory tables, rings and files are the input,
//! over the socket that QEMU uses. The disk has to be served to whoever comes next.
//!
//! It is trusted in two things: that the file of its memory does not shrink, and that what it wants
//! to be called by takes an event without waiting.

#![no_main]

use std::fs::File;
use std::io::Read;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::IoSlice;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use ssdlab_disk::serve::VhostUserDisk;
use ssdlab_disk::{DiskShape, Memory};

const MEMORY_BYTES: u64 = 1 << 16;
const DISK_BYTES: u64 = 1 << 20;

/// The most messages of an input: all replies fit the socket's buffer.
const MESSAGES: usize = 64;

/// Numbers at which something may begin or end.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    16,
    256,
    0x200,
    0x1000,
    MEMORY_BYTES - 1,
    MEMORY_BYTES,
    MEMORY_BYTES + 1,
    1 << 31,
    u32::MAX as u64,
    1 << 63,
    u64::MAX,
];

// Requests of a front end (vhost-user, "Front-end message types").
const GET_FEATURES: u32 = 1;
const SET_FEATURES: u32 = 2;
const SET_OWNER: u32 = 3;
const SET_MEM_TABLE: u32 = 5;
const SET_VRING_NUM: u32 = 8;
const SET_VRING_ADDR: u32 = 9;
const SET_VRING_BASE: u32 = 10;
const SET_VRING_KICK: u32 = 12;
const SET_VRING_CALL: u32 = 13;
const GET_PROTOCOL_FEATURES: u32 = 15;
const SET_PROTOCOL_FEATURES: u32 = 16;
const SET_VRING_ENABLE: u32 = 18;
const GET_CONFIG: u32 = 24;

struct Server {
    disk: VhostUserDisk,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let backend = Box::new(Memory::new(DISK_BYTES));
        let disk = VhostUserDisk::listen(backend, DiskShape::default(), &socket).expect("a socket");
        Server { disk, socket, _folder: folder }
    })
}

/// The input, byte by byte; zeros when it is at its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    fn number(&mut self) -> u64 {
        let choice = self.byte();
        match NUMBERS.get(usize::from(choice)) {
            Some(number) => *number,
            None if choice < 0xC0 => u64::from(self.byte()) << (choice % 16),
            None => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }
}

/// The files that a front end may hand over.
struct Files {
    memory: OwnedFd,
    short: OwnedFd,
    /// What tells the disk of requests: it does.
    kick: OwnedFd,
    /// What tells of answers.
    call: OwnedFd,
    null: File,
}

impl Files {
    fn new() -> Self {
        let file = |bytes| {
            let file = memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("memory");
            ftruncate(&file, bytes).expect("room");
            file
        };
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Self {
            memory: file(MEMORY_BYTES),
            short: file(100),
            kick: eventfd(1, flags).expect("an event"),
            call: eventfd(0, flags).expect("an event"),
            null: File::open("/dev/null").expect("/dev/null"),
        }
    }

    fn pick(&self, choice: u8, usual: BorrowedFd<'_>) -> OwnedFd {
        let file = match choice {
            0xF0..=0xF3 => self.memory.as_fd(),
            0xF4..=0xF7 => self.short.as_fd(),
            0xF8..=0xFB => self.call.as_fd(),
            0xFC..=0xFF => self.null.as_fd(),
            _ => usual,
        };
        file.try_clone_to_owned().expect("a descriptor")
    }
}

/// A message: its request, its body, and the files that come with it.
struct Message {
    request: u32,
    body: Vec<u8>,
    files: Vec<OwnedFd>,
}

/// What a front end says, well or not.
fn message(input: &mut Input<'_>, files: &Files) -> Message {
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let choice = input.byte();
    let (request, body, handed): (u32, Vec<u8>, Vec<OwnedFd>) = match choice % 16 {
        0 => (SET_OWNER, Vec::new(), Vec::new()),
        1 => (GET_FEATURES, Vec::new(), Vec::new()),
        2 => (SET_FEATURES, numbers(&[input.number()]), Vec::new()),
        3 => (GET_PROTOCOL_FEATURES, Vec::new(), Vec::new()),
        4 => (SET_PROTOCOL_FEATURES, numbers(&[input.number()]), Vec::new()),
        5 => return table(input, files),
        6..=9 => {
            let known = [SET_VRING_NUM, SET_VRING_BASE, SET_VRING_ENABLE, 11];
            let request = known[usize::from(choice % 16 - 6)];
            let body = [u32::from(input.byte() / 0x80), input.number() as u32];
            (request, body.iter().flat_map(|n| n.to_le_bytes()).collect(), Vec::new())
        }
        10 => {
            let rest = [0; 4].map(|_| input.number());
            (SET_VRING_ADDR, numbers(&[[0].as_slice(), &rest].concat()), Vec::new())
        }
        11 => ring_file(SET_VRING_KICK, input, files, files.kick.as_fd()),
        12 => ring_file(SET_VRING_CALL, input, files, files.call.as_fd()),
        13 => {
            let size = input.byte();
            let head = [u32::from(input.byte()), u32::from(size), 0].map(u32::to_le_bytes).concat();
            (GET_CONFIG, [head, vec![0; usize::from(size)]].concat(), Vec::new())
        }
        _ => {
            let request = u32::from(input.byte() % 50);
            let size = usize::from(input.byte());
            let body = input.bytes(size);
            let handed = (0..input.byte() % 3)
                .map(|_| files.pick(input.byte(), files.memory.as_fd()))
                .collect();
            (request, body, handed)
        }
    };
    Message { request, body, files: handed }
}

/// A file for a ring, or none, of which the body tells.
fn ring_file(
    request: u32,
    input: &mut Input<'_>,
    files: &Files,
    usual: BorrowedFd<'_>,
) -> (u32, Vec<u8>, Vec<OwnedFd>) {
    let (index, has_none) = (u64::from(input.byte() & 1), input.byte() >= 0xC0);
    let file = (!has_none).then(|| files.pick(input.byte(), usual));
    let body = index | u64::from(has_none) << 8;
    (request, body.to_le_bytes().to_vec(), file.into_iter().collect())
}

/// A table of memory.
fn table(input: &mut Input<'_>, files: &Files) -> Message {
    let count = input.byte() % 10;
    let mut body = [u32::from(count), 0].map(u32::to_le_bytes).concat();
    let mut handed = Vec::new();
    for _ in 0..count {
        let is_usual = input.byte() < 0xC0;
        let usual = [0, MEMORY_BYTES, 0, 0];
        let region = usual.map(|number| if is_usual { number } else { input.number() });
        body.extend(region.iter().flat_map(|number| number.to_le_bytes()));
        handed.push(files.pick(input.byte(), files.memory.as_fd()));
    }
    Message { request: SET_MEM_TABLE, body, files: handed }
}

/// Sends a message. Returns whether somebody takes it.
fn send(stream: &UnixStream, message: &Message, flags: u32) -> bool {
    let size = message.body.len() as u32;
    let head = [message.request, flags, size].map(u32::to_le_bytes).concat();
    let files: Vec<BorrowedFd<'_>> = message.files.iter().map(AsFd::as_fd).collect();
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(16))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)), "there is room");
    }
    let parts = [IoSlice::new(&head), IoSlice::new(&message.body)];
    sendmsg(stream, &parts, &mut control, SendFlags::NOSIGNAL).is_ok()
}

fuzz_target!(|bytes: &[u8]| {
    let server = server();
    let files = Files::new();
    // The second half is what lies in memory: descriptors, rings, requests.
    let (says, holds) = bytes.split_at(bytes.len() / 2);
    let held = holds.len().min(MEMORY_BYTES as usize);
    let memory = File::from(files.memory.try_clone().expect("a descriptor"));
    memory.write_all_at(&holds[..held], 0).expect("it fits");

    let mut stream = UnixStream::connect(&server.socket).expect("the disk is served");
    let (mut input, mut has_kicked) = (Input(says), false);
    for _ in 0..MESSAGES {
        if input.0.is_empty() {
            break;
        }
        // Version 1, mostly; with a wish for a reply, or anything.
        let flags = match input.byte() {
            0..0x80 => 1,
            0x80..0xF0 => 9,
            other => u32::from(other & 0xF),
        };
        let message = message(&mut input, &files);
        has_kicked |= message.request == SET_VRING_KICK;
        if !send(&stream, &message, flags) {
            break;
        }
    }
    if has_kicked {
        // Some requests have answers; others take as long as this.
        let wait = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
        let _ = poll(&mut [PollFd::new(&files.call, PollFlags::IN)], Some(&wait));
    }
    let _ = stream.shutdown(Shutdown::Write);
    // All that was sent is dealt with.
    let _ = stream.read_to_end(&mut Vec::new());
    assert!(!server.disk.has_ended(), "it is served to nobody any more");
    let _ = server.disk.departures();
});
