//! Parses the text of a call: its name, arguments and result.
//!
//! With `-xx` all bytes of strings are `\xHH`, so that no quotation mark, bracket or comma in a
//! file name can be mistaken for one of strace's.

use memchr::memchr;

use crate::text::number;
use crate::text::unescape;

/// A call that succeeded.
#[derive(Debug, PartialEq, Eq)]
pub struct SystemCall<'a> {
    /// Its name, such as `openat`.
    pub name: &'a str,
    arguments: Vec<&'a [u8]>,
    result: &'a [u8],
}

/// A descriptor as strace shows it.
#[derive(Debug, PartialEq, Eq)]
pub struct ShownDescriptor {
    /// Its number; `None` for `AT_FDCWD`.
    pub number: Option<u32>,
    /// The absolute path of the open file, or another description such as `pipe:[1]`; `None` if it
    /// was removed.
    pub path: Option<Vec<u8>>,
}

impl<'a> SystemCall<'a> {
    /// The call of this text, if it can be parsed.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let (name, rest) = text.split_at_checked(memchr(b'(', text)?)?;
        let name = str::from_utf8(name).ok()?;
        let (arguments, rest) = arguments(rest.get(1..)?)?;
        let result = rest.trim_ascii_start().strip_prefix(b"= ")?;
        Some(Self { name, arguments, result })
    }

    /// Its result, unless that is an error.
    pub fn result(&self) -> Option<u64> {
        // `-1 ENOENT` and `?` are not numbers.
        numeral(self.result)
    }

    /// The descriptor it returned.
    pub fn result_descriptor(&self) -> Option<ShownDescriptor> {
        descriptor(self.result)
    }

    /// The argument at this place; empty if there is none.
    pub fn argument(&self, place: usize) -> &'a [u8] {
        self.arguments.get(place).copied().unwrap_or_default()
    }

    /// The argument with this name, as in `flags=O_RDONLY`, including fields of a structure.
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        let parts = self.arguments.iter().flat_map(|argument| {
            let inside = argument.strip_prefix(b"{").unwrap_or(argument);
            inside.split(|byte| *byte == b',' || *byte == b'}')
        });
        parts
            .map(<[u8]>::trim_ascii)
            .find_map(|part| part.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }

    pub fn number(&self, place: usize) -> Option<u64> {
        numeral(self.argument(place))
    }

    /// The first number in brackets at this place, as for an offset in memory: `[0] => [10]`.
    pub fn pointed(&self, place: usize) -> Option<u64> {
        numeral(self.argument(place).strip_prefix(b"[")?)
    }

    /// The string at this place, if it is complete.
    pub fn string(&self, place: usize) -> Option<Vec<u8>> {
        string(self.argument(place))
    }

    pub fn descriptor(&self, place: usize) -> Option<ShownDescriptor> {
        descriptor(self.argument(place))
    }

    /// Whether the argument at this place has this flag.
    pub fn has(&self, place: usize, flag: &str) -> bool {
        has(self.argument(place), flag)
    }
}

/// Whether flags in strace's notation include this one.
pub fn has(flags: &[u8], flag: &str) -> bool {
    flags.split(|byte| *byte == b'|').any(|part| part == flag.as_bytes())
}

/// The string of an argument, if it is a complete one.
pub fn string(argument: &[u8]) -> Option<Vec<u8>> {
    unescape(argument.strip_prefix(b"\"")?.strip_suffix(b"\"")?)
}

/// The descriptor of an argument, with its path: `3<\x2f>`, `3<\x2f\x61>(deleted)`.
pub fn descriptor(argument: &[u8]) -> Option<ShownDescriptor> {
    let (number, shown) = argument.split_at(memchr(b'<', argument).unwrap_or(argument.len()));
    let number = match number {
        b"AT_FDCWD" => None,
        _ => Some(u32::try_from(numeral(number)?).ok()?),
    };
    let path = shown.strip_prefix(b"<").and_then(|rest| unescape(rest.strip_suffix(b">")?));
    Some(ShownDescriptor { number, path })
}

/// The number at the start of a text: decimal, octal or hexadecimal, as in C.
pub fn numeral(text: &[u8]) -> Option<u64> {
    let (digits, radix) = match text {
        [b'0', b'x', hexadecimal @ ..] => (hexadecimal, 16),
        [b'0', b'0'..=b'7', ..] => (text, 8),
        _ => (text, 10),
    };
    let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
    let length = digits.iter().take_while(|byte| is_digit(byte)).count();
    number(digits.get(..length)?, radix)
}

/// The arguments up to the bracket that closes the list, and what comes after it.
fn arguments(text: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let mut arguments = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    loop {
        let byte = *text.get(at)?;
        match byte {
            b'"' => at += 1 + memchr(b'"', text.get(at + 1..)?)?,
            b'<' if text.get(at + 1) == Some(&b'\\') => at += memchr(b'>', text.get(at..)?)?,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth > 0 => depth -= 1,
            b',' | b')' if depth == 0 => {
                arguments.push(text.get(start..at)?.trim_ascii());
                start = at + 1;
                if byte == b')' {
                    return Some((arguments, text.get(start..)?));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests;
