//! Performs requests on a drive like a program that keeps a fixed number of them in flight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::command::{Command, Refusal};
use crate::drive::Drive;
use crate::nand::Nand;
use crate::pattern::RequestGenerator;
use crate::units::{LogicalPage, Nanos};

/// How many requests are generated at once, so that the drive can prefetch.
const LOOK_AHEAD: u64 = 32;

/// One performed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayedRequest {
    pub command: Command,
    /// When it was submitted.
    pub submitted: Nanos,
    /// When it was done.
    pub done: Nanos,
}

/// Performs `count` requests, `depth` at a time, from `start` on, and passes each to `each`.
/// Returns when the last of them was done.
pub fn play<N: Nand>(
    drive: &mut Drive<N>,
    requests: &mut RequestGenerator,
    count: u64,
    depth: usize,
    start: Nanos,
    mut each: impl FnMut(&Drive<N>, PlayedRequest),
) -> Result<Nanos, Refusal> {
    let mut under_way = BinaryHeap::with_capacity(depth);
    let mut now = start;
    let mut end = start;
    let mut left = count;
    let (mut batch, mut later) = (Batch::default(), Batch::default());
    later.make(requests, drive, left);
    while left > 0 {
        std::mem::swap(&mut batch, &mut later);
        left -= batch.commands.len() as u64;
        later.make(requests, drive, left);
        drive.expect(&batch.pages, &later.pages);
        for command in &batch.commands {
            if drive.is_timed()
                && under_way.len() == depth
                && let Some(Reverse(done)) = under_way.pop()
            {
                now = now.max(done);
            }
            let done = drive.submit(now, *command)?.at;
            if drive.is_timed() {
                under_way.push(Reverse(done));
            }
            end = end.max(done);
            each(drive, PlayedRequest { command: *command, submitted: now, done });
        }
    }
    Ok(end)
}

/// Requests that are generated but not yet performed.
#[derive(Debug, Default)]
struct Batch {
    commands: Vec<Command>,
    /// The page each begins with.
    pages: Vec<LogicalPage>,
}

impl Batch {
    fn make<N: Nand>(&mut self, requests: &mut RequestGenerator, drive: &Drive<N>, left: u64) {
        self.commands.clear();
        self.pages.clear();
        for _ in 0..left.min(LOOK_AHEAD) {
            let (page, command) = requests.next(drive);
            self.pages.push(page);
            self.commands.push(command);
        }
    }
}
