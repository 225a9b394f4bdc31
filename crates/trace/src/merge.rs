//! Merges several files into one trace, by time.
//!
//! blktrace writes an ordered file per processor. Their times are from one clock, so they must be
//! merged before they are made relative.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::BufRead;

use crate::reader::since;
use crate::{Clamped, Reader, Request, TraceError};

/// Merges the files of one trace by the time of submission.
///
/// All must have been recorded with one clock; time 0 is the earliest request. Simultaneous
/// requests come in the order of the readers, which must have the same options and be unread.
///
/// The merged trace ends after the first error, so where one of the files is truncated: beyond that
/// a part would be missing.
#[must_use]
pub fn merge<R: BufRead>(readers: Vec<Reader<R>>) -> Merge<R> {
    Merge {
        heads: vec![None; readers.len()],
        order: BinaryHeap::with_capacity(readers.len()),
        to_read: (0..readers.len()).collect(),
        readers,
        began_ns: None,
        ended: false,
    }
}

/// The requests of several files as one trace; see [`merge()`].
#[derive(Debug)]
pub struct Merge<R> {
    readers: Vec<Reader<R>>,
    /// The next request of each reader.
    heads: Vec<Option<Request>>,
    /// The time and reader of each of those requests, earliest first.
    order: BinaryHeap<Reverse<(u64, usize)>>,
    /// The readers whose next request is still unknown.
    to_read: Vec<usize>,
    began_ns: Option<u64>,
    ended: bool,
}

impl<R: BufRead> Merge<R> {
    /// The times that went backwards so far within the files.
    #[must_use]
    pub fn clamped(&self) -> Clamped {
        self.readers.iter().map(Reader::clamped).fold(Clamped::default(), |sum, one| Clamped {
            requests: sum.requests + one.requests,
            furthest_ns: sum.furthest_ns.max(one.furthest_ns),
        })
    }

    fn advance(&mut self) -> Result<Option<Request>, TraceError> {
        while let Some(index) = self.to_read.pop() {
            self.heads[index] = self.readers[index].next_on_clock()?;
            if let Some(request) = &self.heads[index] {
                self.order.push(Reverse((request.submitted_ns, index)));
            }
        }
        if self.began_ns.is_none() {
            self.check_selections()?;
        }
        let Some(Reverse((submitted_ns, index))) = self.order.pop() else {
            return Ok(None);
        };
        self.to_read.push(index);
        let began_ns = *self.began_ns.get_or_insert(submitted_ns);
        Ok(self.heads[index].map(|request| since(began_ns, request)))
    }

    /// Checks that the files are of one drive and contain selected requests.
    ///
    /// This is decided after the first request of each: it has met its drive, or ended.
    fn check_selections(&self) -> Result<(), TraceError> {
        let mut selections = self.readers.iter().map(Reader::selection);
        let Some(mut all) = selections.next().cloned() else {
            return Ok(());
        };
        selections.try_for_each(|one| all.join(one))?;
        all.check_met()
    }
}

impl<R: BufRead> Iterator for Merge<R> {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance();
        self.ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}
