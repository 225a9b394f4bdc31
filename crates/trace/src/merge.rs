//! Merges several files into one trace, by time.
//!
//! blktrace writes an ordered file per processor. Their times are from one clock, and one processor
//! may complete what another one issued, so events must be merged before they become requests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::BufRead;

use crate::event::{TraceEvent, TraceStep};
use crate::events::{ClampedTimes, Events, SubmissionOrder};
use crate::pairs::Pairs;
use crate::selection::Selection;
use crate::{Request, TraceError, TraceReader};

/// Merges the files of one trace by the time of submission.
///
/// All must have been recorded with one clock; time 0 is the earliest request. Simultaneous
/// requests come in the order of the readers, which must have the same format and options and be
/// unread.
///
/// The merged trace ends after the first error, so where one of the files is truncated: beyond that
/// a part would be missing.
pub fn merge<R: BufRead>(readers: Vec<TraceReader<R>>) -> Merge<R> {
    let mut files = Vec::with_capacity(readers.len());
    let mut pairs = None;
    for reader in readers {
        files.push(reader.events);
        pairs.get_or_insert(reader.pairs);
    }
    let of_files = MergedEvents {
        heads: vec![None; files.len()],
        is_met: vec![false; files.len()],
        by_time: BinaryHeap::with_capacity(files.len()),
        submissions: SubmissionOrder::default(),
        to_read: (0..files.len()).collect(),
        files,
    };
    Merge { of_files, pairs }
}

/// The requests of several files as one trace; see [`merge()`].
#[derive(Debug)]
pub struct Merge<R> {
    of_files: MergedEvents<R>,
    /// `None` once the trace ended.
    pairs: Option<Pairs>,
}

/// The events of several files by time.
#[derive(Debug)]
struct MergedEvents<R> {
    files: Vec<Events<R>>,
    /// The next event of each file.
    heads: Vec<Option<TraceEvent>>,
    /// Whether the first submission of each file was met, which decides its drive.
    is_met: Vec<bool>,
    /// The time of each of those events, whether it is not a submission, and its file; earliest
    /// first.
    by_time: BinaryHeap<Reverse<(u64, bool, usize)>>,
    /// A file's completions may be out of order, and a late one holds back what follows it.
    submissions: SubmissionOrder,
    /// The files whose next event is still unknown.
    to_read: Vec<usize>,
}

impl<R: BufRead> MergedEvents<R> {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        while let Some(index) = self.to_read.pop() {
            self.heads[index] = self.files[index].next()?;
            if let Some(event) = &self.heads[index] {
                let is_submitted = matches!(event.step, TraceStep::Submitted(_));
                self.by_time.push(Reverse((event.request.submitted_ns, !is_submitted, index)));
                if is_submitted && !self.is_met[index] {
                    self.is_met[index] = true;
                    self.check_drives()?;
                }
            }
        }
        let Some(Reverse((.., index))) = self.by_time.pop() else {
            return self.check_met().map(|()| None);
        };
        self.to_read.push(index);
        let mut next = self.heads[index];
        if let Some(event) = &mut next {
            self.submissions.clamp(event);
        }
        Ok(next)
    }

    /// Checks that the files are of one drive, as far as they were read.
    fn check_drives(&self) -> Result<(), TraceError> {
        self.selection().map(|_| ())
    }

    /// Checks that the files contain selected requests.
    fn check_met(&self) -> Result<(), TraceError> {
        self.selection()?.map_or(Ok(()), |all| all.check_met())
    }

    fn selection(&self) -> Result<Option<Selection>, TraceError> {
        let mut selections = self.files.iter().map(Events::selection);
        let Some(mut all) = selections.next().cloned() else {
            return Ok(None);
        };
        selections.try_for_each(|one| all.join(one))?;
        Ok(Some(all))
    }
}

impl<R: BufRead> Merge<R> {
    /// The times that went backwards so far, within the files or between them.
    pub fn clamped(&self) -> ClampedTimes {
        let files = self.of_files.files.iter().map(Events::clamped);
        files.fold(self.of_files.submissions.clamped, |sum, one| ClampedTimes {
            requests: sum.requests + one.requests,
            furthest_ns: sum.furthest_ns.max(one.furthest_ns),
        })
    }
}

impl<R: BufRead> Iterator for Merge<R> {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.pairs.as_mut()?.next(|| self.of_files.next());
        if !matches!(next, Ok(Some(_))) {
            self.pairs = None;
        }
        next.transpose()
    }
}
