//! Defines how a line is split into fields, and fields are read as numbers.

use crate::Request;
use crate::error::Fault;

/// The size of a sector everywhere in the Linux block layer, including blktrace and blkparse.
pub const SECTOR_BYTES: u64 = 512;

/// The whitespace-separated words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A decimal number without sign.
pub fn number(field: &[u8]) -> Option<u64> {
    let digits = str::from_utf8(field).ok()?;
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

/// The next field as a number times `unit`.
pub fn multiple<'a>(
    what: &'static str,
    expected: &'static str,
    unit: u64,
    fields: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<u64, Fault> {
    let field = fields.next().unwrap_or_default();
    let value = number(field).and_then(|value| value.checked_mul(unit));
    value.ok_or_else(|| Fault::new(what, expected, field))
}

/// The offset of a sector in bytes; an error if it overflows.
pub fn bytes_before(sector: u64) -> Result<u64, Fault> {
    sector
        .checked_mul(SECTOR_BYTES)
        .ok_or_else(|| Fault::number("the sector", "below 2^55", sector))
}

/// The request; an error if its end overflows.
pub fn bounded(request: Request) -> Result<Request, Fault> {
    if request.offset_bytes.checked_add(request.length_bytes).is_none() {
        let expected = "one whose sum with the length is below 2^64";
        return Err(Fault::number("the offset", expected, request.offset_bytes));
    }
    Ok(request)
}
