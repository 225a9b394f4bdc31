//! Sweeps: seed ranges, and parallel work whose results arrive in order.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::iter::{ParallelBridge, ParallelIterator};

/// A seed, or an inclusive range of seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds(RangeInclusive<u64>);

impl Seeds {
    /// The number of seeds.
    pub fn count(&self) -> u128 {
        u128::from(self.0.end() - self.0.start()) + 1
    }

    /// Each of them.
    pub fn each(&self) -> RangeInclusive<u64> {
        self.0.clone()
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seed = |text: &str| {
            text.parse::<u64>().map_err(|_| {
                format!("seeds are whole numbers up to {}, or ranges like 1..50", u64::MAX)
            })
        };
        let Some((first, last)) = text.split_once("..") else {
            return seed(text).map(|seed| Self(seed..=seed));
        };
        if first.is_empty() || last.is_empty() {
            return Err("a range of seeds has a first and a last seed, like 1..50".to_owned());
        }
        match (seed(first)?, seed(last)?) {
            (first, last) if first <= last => Ok(Self(first..=last)),
            (first, last) => Err(format!("a range of seeds is ascending, like {last}..{first}")),
        }
    }
}

/// Processes each item on the threads of the pool, and hands over the results in the order of the
/// items, each as soon as all earlier ones are done. The receiver may stop the iteration: then no
/// further work begins.
pub fn in_order<T, R, B>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    take: impl FnMut(R) -> ControlFlow<B> + Send,
) -> ControlFlow<B>
where
    T: Sync,
    R: Send,
    B: Send,
{
    struct Turn<R, F> {
        /// The next item to hand over.
        next: usize,
        /// Results that are ready before their turn.
        early: BTreeMap<usize, R>,
        take: F,
    }
    let turn = Mutex::new(Turn { next: 0, early: BTreeMap::new(), take });
    // Other threads would begin more work until they see that the iteration has ended.
    let has_ended = AtomicBool::new(false);
    // Items begin in order, so that few results wait. (A parallel iterator over a slice would also
    // begin in its middle.)
    items.iter().enumerate().par_bridge().try_for_each(|(at, item)| {
        if has_ended.load(Ordering::Acquire) {
            return ControlFlow::Continue(());
        }
        let done = work(item);
        let mut turn = turn.lock().expect("a thread that panics ends the program");
        turn.early.insert(at, done);
        loop {
            let next = turn.next;
            let Some(done) = turn.early.remove(&next) else { return ControlFlow::Continue(()) };
            // After a stop the turn does not advance, so nothing more is handed over.
            let taken = (turn.take)(done);
            has_ended.store(taken.is_break(), Ordering::Release);
            taken?;
            turn.next += 1;
        }
    })
}

#[cfg(test)]
mod tests;
