//! Tracks which recipe wrote each range of a file, through everything that changes contents.

use std::collections::BTreeMap;
use std::ops::Range;

use rustix::io::Errno;
use ssdlab_operations::Allocation;

use super::content::{Content, FileContents};

/// The written ranges of a file; all others are zeros.
#[derive(Debug, Default)]
pub struct Ranges(BTreeMap<u64, Piece>);

/// A range starting at its key, written with a recipe.
#[derive(Debug, Clone, Copy)]
struct Piece {
    end: u64,
    content: Content,
    /// The recipe's offset at the start of the range: it differs from the range's own after ranges
    /// were removed or inserted before it.
    origin: u64,
}

impl Ranges {
    pub fn write(&mut self, range: Range<u64>, content: Content) {
        self.clear(range.clone());
        let (mut start, mut piece) =
            (range.start, Piece { end: range.end, content, origin: range.start });
        // Adjacent writes with one recipe are merged.
        let before = self.0.range(..start).next_back().map(|(start, before)| (*start, *before));
        if let Some((first, before)) = before
            && before.end == start
            && before.content == content
            && before.origin + (start - first) == piece.origin
        {
            (start, piece.origin) = (first, before.origin);
        }
        if let Some(after) = self.0.get(&piece.end).copied()
            && after.content == content
            && after.origin == piece.origin + (piece.end - start)
        {
            self.0.remove(&piece.end);
            piece.end = after.end;
        }
        self.0.insert(start, piece);
    }

    /// Zeroes a range.
    pub fn clear(&mut self, range: Range<u64>) {
        self.cut(range.start);
        self.cut(range.end);
        while let Some((&start, _)) = self.0.range(range.clone()).next() {
            self.0.remove(&start);
        }
    }

    /// Applies fallocate(2).
    pub fn allocate(&mut self, allocation: Allocation, offset: u64, length: u64) {
        let end = offset.saturating_add(length);
        match allocation {
            Allocation::Extend | Allocation::KeepSize => {}
            Allocation::PunchHole | Allocation::ZeroRange | Allocation::ZeroRangeKeepSize => {
                self.clear(offset..end);
            }
            Allocation::CollapseRange => {
                self.clear(offset..end);
                self.shift(end, |at| at - length);
            }
            Allocation::InsertRange => {
                self.cut(offset);
                self.shift(offset, |at| at.saturating_add(length));
            }
        }
    }

    /// The bytes of the file from `offset` on.
    pub fn fill(
        &self,
        contents: &FileContents,
        offset: u64,
        chunk: &mut [u8],
    ) -> Result<(), Errno> {
        chunk.fill(0);
        let end = offset + chunk.len() as u64;
        let place = |at: u64| usize::try_from(at - offset).expect("it is in the chunk");
        let first = self.0.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (&start, piece) in self.0.range(first..end) {
            let (from, to) = (start.max(offset), piece.end.min(end));
            if from < to {
                let part = &mut chunk[place(from)..place(to)];
                contents.fill(piece.content, piece.origin + (from - start), part)?;
            }
        }
        Ok(())
    }

    /// Splits the piece across this offset, if any.
    fn cut(&mut self, at: u64) {
        if let Some((&start, piece)) = self.0.range_mut(..at).next_back()
            && piece.end > at
        {
            let rest = Piece { origin: piece.origin + (at - start), ..*piece };
            piece.end = at;
            self.0.insert(at, rest);
        }
    }

    /// Moves the pieces from this offset on.
    fn shift(&mut self, from: u64, moved: impl Fn(u64) -> u64) {
        for (start, piece) in self.0.split_off(&from) {
            self.0.insert(moved(start), Piece { end: moved(piece.end), ..piece });
        }
    }
}

#[cfg(test)]
mod tests;
