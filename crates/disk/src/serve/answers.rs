//! Delivers answers when they are due: never earlier, and as little later as possible.
//!
//! One thread handles them all, in time order, so requests overlap without a thread for each. A
//! sleeping thread wakes some 50 us late, so it sleeps until shortly before and spins for the rest.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hdrhistogram::Histogram;
use ssdlab_flash::Nanos;
use ssdlab_stats::latency::LatencySummary;

use crate::backend::lock;
use crate::serve::clock::MonotonicClock;

/// How long before an answer is due the thread stops sleeping.
const SPIN: Nanos = Nanos(60_000);

/// How late an answer still counts as punctual.
const TOLERANCE: Nanos = Nanos(50_000);

/// The maximum recorded lateness: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// The due time if no answer waits.
const NEVER: u64 = u64::MAX;

type Answer = Box<dyn FnOnce() + Send>;

/// How well the drive's times were kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Punctuality {
    /// Requests that were answered, or are being answered.
    pub answers: u64,
    /// Those answered more than 50 us after they were due.
    pub late: u64,
    pub lateness: LatencySummary,
}

/// Accepted requests, and the answers waiting to be due.
pub struct AnswerQueue {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for AnswerQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerQueue")
            .field("pending", &self.shared.pending())
            .finish_non_exhaustive()
    }
}

struct Shared {
    clock: MonotonicClock,
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// When the first waiting answer is due, for the spinning thread.
    first_due: AtomicU64,
    taken: AtomicU64,
    given: AtomicU64,
    /// When a request was last taken or answered.
    moved_at: AtomicU64,
    kept: Mutex<AnswerTimes>,
}

#[derive(Default)]
struct Waiting {
    /// By due time, then by submission.
    answers: BTreeMap<(Nanos, u64), Answer>,
    submitted: u64,
    is_closed: bool,
}

struct AnswerTimes {
    lateness: Histogram<u64>,
    late: u64,
}

impl AnswerQueue {
    /// Starts the thread.
    pub fn start(clock: MonotonicClock) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            clock,
            waiting: Mutex::default(),
            changed: Condvar::new(),
            first_due: AtomicU64::new(NEVER),
            taken: AtomicU64::new(0),
            given: AtomicU64::new(0),
            moved_at: AtomicU64::new(0),
            kept: Mutex::new(AnswerTimes {
                lateness: Histogram::new_with_max(LONGEST_NS, 3).expect("the bounds are sound"),
                late: 0,
            }),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("answers".to_owned()).spawn(move || shared.run())?
        };
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Counts an accepted request; [`Self::give`] must follow.
    pub fn take(&self) {
        self.shared.moves();
        self.shared.taken.fetch_add(1, Ordering::SeqCst);
    }

    /// Delivers the answer to a request when it is due.
    pub fn give(&self, due: Nanos, answer: impl FnOnce() + Send + 'static) {
        if due <= self.shared.clock.now() {
            self.shared.deliver(due, answer);
        } else {
            self.wait(due, Box::new(answer));
        }
    }

    /// Leaves an answer to the thread.
    fn wait(&self, due: Nanos, answer: Answer) {
        let mut waiting = lock(&self.shared.waiting);
        waiting.submitted += 1;
        let number = waiting.submitted;
        waiting.answers.insert((due, number), answer);
        if due.0 < self.shared.first_due.load(Ordering::SeqCst) {
            self.shared.first_due.store(due.0, Ordering::SeqCst);
            drop(waiting);
            self.shared.changed.notify_one();
        }
    }

    /// The number of requests without an answer.
    pub fn pending(&self) -> u64 {
        self.shared.pending()
    }

    /// Whether requests wait, and for this long none has arrived, been answered or been due.
    pub fn is_stuck(&self, timeout: Duration) -> bool {
        self.is_stuck_at(self.shared.clock.now(), timeout)
    }

    fn is_stuck_at(&self, now: Nanos, timeout: Duration) -> bool {
        let shared = &self.shared;
        let since = shared.moved_at.load(Ordering::SeqCst);
        let due = shared.first_due.load(Ordering::SeqCst);
        let since = Nanos(if due == NEVER { since } else { since.max(due) });
        let quiet = Duration::from_nanos(now.since(since).0);
        shared.pending() > 0 && quiet > timeout
    }

    /// How well the times were kept.
    pub fn punctuality(&self) -> Punctuality {
        let kept = lock(&self.shared.kept);
        Punctuality {
            answers: kept.lateness.len(),
            late: kept.late,
            lateness: LatencySummary::of(&kept.lateness).unwrap_or_default(),
        }
    }
}

impl Drop for AnswerQueue {
    /// Waiting answers are dropped: nobody would receive them.
    fn drop(&mut self) {
        lock(&self.shared.waiting).is_closed = true;
        self.shared.first_due.store(0, Ordering::SeqCst);
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        // The kernel may otherwise add 50 us to a sleep. If this fails, some answers are later.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut waiting = lock(&self.waiting);
        while !waiting.is_closed {
            let Some(due) = waiting.first_due() else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.since(self.clock.now());
            if left > SPIN {
                let sleep = Duration::from_nanos(left.since(SPIN).0);
                let woken = self.changed.wait_timeout(waiting, sleep);
                waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            } else if left > Nanos::ZERO {
                drop(waiting);
                while self.clock.now().0 < self.first_due.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                waiting = lock(&self.waiting);
            } else if let Some(((due, _), answer)) = waiting.answers.pop_first() {
                let next = waiting.first_due().map_or(NEVER, |due| due.0);
                self.first_due.store(next, Ordering::SeqCst);
                drop(waiting);
                self.deliver(due, answer);
                waiting = lock(&self.waiting);
            }
        }
    }

    /// Counts first, so that whoever gets an answer finds it counted. It is pending until
    /// delivered.
    fn deliver(&self, due: Nanos, answer: impl FnOnce()) {
        let lateness = self.clock.now().since(due);
        {
            let mut kept = lock(&self.kept);
            kept.late += u64::from(lateness > TOLERANCE);
            kept.lateness.saturating_record(lateness.0);
        }
        answer();
        self.moves();
        self.given.fetch_add(1, Ordering::SeqCst);
    }

    fn moves(&self) {
        self.moved_at.store(self.clock.now().0, Ordering::SeqCst);
    }

    fn pending(&self) -> u64 {
        // In this order: what is delivered in between was taken before.
        let given = self.given.load(Ordering::SeqCst);
        self.taken.load(Ordering::SeqCst).saturating_sub(given)
    }
}

impl Waiting {
    fn first_due(&self) -> Option<Nanos> {
        self.answers.first_key_value().map(|((due, _), _)| *due)
    }
}

#[cfg(test)]
mod tests;
