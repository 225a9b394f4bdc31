//! Defines how a line is split into fields, and fields are read as numbers.

use memchr::memchr;

use crate::Request;
use crate::error::TraceFault;

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

/// A field as a number times `unit`.
pub fn scaled(
    what: &'static str,
    expected: &'static str,
    unit: u64,
    field: &[u8],
) -> Result<u64, TraceFault> {
    let value = number(field).and_then(|value| value.checked_mul(unit));
    value.ok_or_else(|| TraceFault::new(what, expected, field))
}

/// The next field as a number times `unit`.
pub fn multiple<'a>(
    what: &'static str,
    expected: &'static str,
    unit: u64,
    fields: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<u64, TraceFault> {
    scaled(what, expected, unit, fields.next().unwrap_or_default())
}

/// The fields of a line with `N` comma-separated ones.
pub fn columns<const N: usize>(line: &[u8]) -> Result<[&[u8]; N], TraceFault> {
    let mut fields = line.split(|byte| *byte == b',');
    let found = [(); N].map(|()| fields.next().map(<[u8]>::trim_ascii));
    if found.iter().all(Option::is_some) && fields.next().is_none() {
        return Ok(found.map(Option::unwrap_or_default));
    }
    Err(TraceFault::new("the line", "as many comma-separated fields as the format has", line))
}

/// The first line of a trace, without its end.
pub fn first_line(first_bytes: &[u8]) -> &[u8] {
    first_bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// What comes before the last word of a text, and that word.
pub fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_end();
    text.split_at(text.iter().rposition(u8::is_ascii_whitespace).map_or(0, |space| space + 1))
}

/// The number of a device that is written as `major,minor`.
pub fn device(word: &[u8]) -> Option<u64> {
    let comma = memchr(b',', word)?;
    let (major, minor) = (number(&word[..comma])?, number(&word[comma + 1..])?);
    Some((major << 32) | minor)
}

/// A time in seconds with at most nine decimal places, in nanoseconds.
pub fn seconds(word: &[u8]) -> Option<u64> {
    let point = memchr(b'.', word)?;
    let (seconds, decimals) = (&word[..point], &word[point + 1..]);
    let places = u32::try_from(decimals.len()).ok().filter(|places| *places <= 9)?;
    let nanoseconds = number(decimals)? * 10_u64.pow(9 - places);
    number(seconds)?.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

/// The offset of a sector in bytes; an error if it overflows.
pub fn bytes_before(sector: u64) -> Result<u64, TraceFault> {
    sector
        .checked_mul(SECTOR_BYTES)
        .ok_or_else(|| TraceFault::number("the sector", "below 2^55", sector))
}

/// The request; an error if its end overflows.
pub fn bounded(request: Request) -> Result<Request, TraceFault> {
    if request.offset_bytes.checked_add(request.length_bytes).is_none() {
        let expected = "one whose sum with the length is below 2^64";
        return Err(TraceFault::number("the offset", expected, request.offset_bytes));
    }
    Ok(request)
}
