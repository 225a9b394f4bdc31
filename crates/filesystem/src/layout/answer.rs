//! The output of a tool: numbers read from its text, and a layout made of the areas it lists.
//!
//! The text is not trusted: areas that overlap or exceed the device are refused, and so are more
//! areas than any real filesystem has.

use super::{Area, BlockKind, Layout, LayoutFault};

/// The maximum number of areas: an ext4 filesystem of 16 TiB has fewer groups.
const MOST_AREAS: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct ToolOutput<'a> {
    tool: &'static str,
    pub text: &'a str,
}

impl<'a> ToolOutput<'a> {
    /// The answer to the question with this number; empty if it is missing.
    pub fn new(answers: &'a [String], number: usize, tool: &'static str) -> Self {
        Self { tool, text: answers.get(number).map_or("", String::as_str) }
    }

    pub fn fault(&self, expected: impl Into<String>, found: impl Into<String>) -> LayoutFault {
        LayoutFault { tool: self.tool, expected: expected.into(), found: found.into() }
    }

    /// The number after a label, if the label occurs as a whole word.
    pub fn optional(&self, label: &str) -> Option<u64> {
        let whole_word = |at: usize| !self.text[..at].ends_with(|c: char| c.is_alphanumeric());
        let (at, _) = self.text.match_indices(label).find(|(at, _)| whole_word(*at))?;
        leading_number(self.text[at + label.len()..].trim_start())
    }

    /// The number after a label.
    pub fn number(&self, label: &str) -> Result<u64, LayoutFault> {
        self.optional(label).ok_or_else(|| self.missing(label))
    }

    /// The number after a label, which must be a block size: a power of two below 2^32.
    pub fn block_bytes(&self, label: &str) -> Result<u64, LayoutFault> {
        let bytes = self.number(label)?;
        if bytes.is_power_of_two() && bytes < 1 << 32 {
            return Ok(bytes);
        }
        Err(self.fault(format!("a power of two after `{label}`"), bytes.to_string()))
    }

    pub fn missing(&self, label: &str) -> LayoutFault {
        self.fault(format!("a number after `{label}`"), "none")
    }

    /// Makes a layout of areas in any order; empty ones are dropped.
    pub fn layout(
        &self,
        size_bytes: u64,
        block_bytes: u64,
        metadata: BlockKind,
        areas: impl IntoIterator<Item = Area>,
    ) -> Result<Layout, LayoutFault> {
        let areas = areas.into_iter().filter(|area| area.length_bytes > 0);
        let mut areas: Vec<_> = areas.take(MOST_AREAS + 1).collect();
        if areas.len() > MOST_AREAS {
            return Err(self.fault(format!("at most {MOST_AREAS} areas"), "more"));
        }
        areas.sort_unstable();
        if let Some(pair) = areas.windows(2).find(|pair| pair[0].end_bytes() > pair[1].offset_bytes)
        {
            return Err(self.fault("areas that do not overlap", format!("{pair:?}")));
        }
        if let Some(last) = areas.last().filter(|last| last.end_bytes() > size_bytes) {
            return Err(self.fault(format!("areas within {size_bytes} bytes"), format!("{last:?}")));
        }
        areas.dedup_by(|next, area| {
            let continues = area.kind == next.kind && area.end_bytes() == next.offset_bytes;
            area.length_bytes += if continues { next.length_bytes } else { 0 };
            continues
        });
        Ok(Layout::new(areas, block_bytes, metadata))
    }
}

/// The number at the start of a text: decimal, or hexadecimal after `0x`.
pub(super) fn leading_number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    u64::from_str_radix(&digits[..end], radix).ok()
}

/// The first block and the number of blocks in `FIRST-LAST` or `BLOCK`.
pub(super) fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (leading_number(first)?, leading_number(last)?);
    Some((first, last.checked_sub(first)?.checked_add(1)?))
}

#[cfg(test)]
mod tests;
