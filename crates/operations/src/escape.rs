//! Defines how bytes are escaped in a line: printable, without spaces.

/// The bytes as one field of a line.
pub fn escape(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut field = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && byte != b'\\' {
            field.push(char::from(byte));
        } else {
            write!(field, "\\x{byte:02x}").expect("a string takes everything");
        }
    }
    field
}

/// The bytes of a field, in which `\xHH` is one byte; the same as strace(1) `-xx`.
pub fn unescape(field: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        if first == b'\\' {
            let (high, low) = (digit(*rest.get(2)?)?, digit(*rest.get(3)?)?);
            bytes.push(high << 4 | low);
            rest = rest.strip_prefix(b"\\x")?.get(2..)?;
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}
