//! Names of files and directories: plausible, of a given length, unique in their directory.
//!
//! Words strictly alternate consonants and vowels, so a generated name never collides with one made
//! by a build (`include`, `built-in.o`, `vmlinux`).

use std::collections::BTreeSet;

use super::random::RandomStream;

const CONSONANTS: &[u8] = b"bcdfghklmnprstvw";
const VOWELS: &[u8] = b"aeiou";
const DIGITS: &[u8] = b"0123456789";
const SEPARATORS: &[u8] = b"-_";

/// The names taken in one directory.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenNames {
    taken: BTreeSet<String>,
}

impl TakenNames {
    /// A new name of about `length` characters before the extension, which may be empty.
    ///
    /// A number is appended to a name that is taken: `ab`, `ab1`, `ab2`.
    pub(super) fn claim(
        &mut self,
        length: u64,
        extension: &str,
        random: &mut RandomStream,
    ) -> String {
        let stem = word(length, random);
        let name = |number: String| match extension {
            "" => format!("{stem}{number}"),
            _ => format!("{stem}{number}.{extension}"),
        };
        let numbers = (1_u64..).map(|number| number.to_string());
        let mut candidates = std::iter::once(String::new()).chain(numbers).map(name);
        let free = candidates.find(|name| !self.taken.contains(name));
        let free = free.expect("numbers do not run out");
        self.taken.insert(free.clone());
        free
    }

    /// Takes a given name; false if it was taken before.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }
}

/// A word of `length` characters, at least one. As in the measured tree, about a third of the
/// stems have a `-`, a third a `_` and a third a digit.
pub(super) fn word(length: u64, random: &mut RandomStream) -> String {
    let last = length.max(1) - 1;
    let mut word = String::new();
    let mut after_consonant = false;
    for place in 0..=last {
        let letters = if after_consonant && place > 1 && place < last && random.one_in(6) {
            SEPARATORS
        } else if place > 0 && place == last && random.one_in(3) {
            DIGITS
        } else if after_consonant {
            VOWELS
        } else {
            CONSONANTS
        };
        after_consonant = letters == CONSONANTS;
        word.push(char::from(letters[random.index(letters.len())]));
    }
    word
}

#[cfg(test)]
mod tests;
