//! Text that looks, and above all compresses, like a kernel's C sources.
//!
//! For filesystems and drives that compress, the ratio must be that of real sources. It results
//! from four properties, tuned until runs of 128 KiB compress like real sources: word frequencies
//! by Zipf's law, few words in each function, lines of few forms, and lines that repeat an earlier
//! one.

use super::names::word;
use super::random::{RandomStream, Zipf};

/// The number of different words.
const VOCABULARY: usize = 4000;

/// The number of words in a function.
const WORDS_IN_FUNCTION: usize = 10;

/// One word in this many is not one of the function's.
const FOREIGN_ONE_IN: u64 = 12;

/// One line in this many repeats one of the last lines.
const REPEAT_ONE_IN: u64 = 3;

/// The number of lines remembered for repetition.
const REMEMBERED: usize = 8;

/// The maximum number of open braces.
const DEEPEST: usize = 4;

/// The forms of lines in a function: `@` stands for a word, `$` for one in capitals, `%` for a
/// number. The lines after a form that ends in `{` are deeper by one.
const STATEMENTS: [&str; 14] = [
    "@->@ = @;",
    "@->@ = @(@, @);",
    "if (@ == $)",
    "if (!@->@) {",
    "ret = @_@(@, @->@);",
    "return @;",
    "/* @ the @ of @ @ */",
    "for (i = 0; i < @->@; i++) {",
    "@_@(@->@, $_$);",
    "struct @_@ *@ = @;",
    "goto @;",
    "unsigned int @;",
    "",
    "@ |= $_$(%);",
];

/// The forms of lines between functions.
const DECLARATIONS: [&str; 6] = [
    "\nstatic int @_@(struct @ *@, int @)\n{",
    "#define $_$_@\t%",
    "\n/*\n * @ @ @ is @ to @ the @ @.\n */",
    "\nstatic const struct @_@ @_@ = {",
    "EXPORT_SYMBOL(@_@);",
    "#include <@/@.h>",
];

/// An endless source text.
#[derive(Debug)]
pub(super) struct SourceText {
    random: RandomStream,
    words: Vec<String>,
    frequency: Zipf,
    /// The words in use, as indices into `words`.
    local: [usize; WORDS_IN_FUNCTION],
    /// The last lines, without indentation.
    remembered: [String; REMEMBERED],
    /// The number of open braces.
    depth: usize,
}

impl SourceText {
    /// A text from random numbers.
    pub(super) fn new(mut random: RandomStream) -> Self {
        let mut identifier = |_| {
            let length = 2 + random.below(6) + random.below(7);
            word(length, &mut random).replace('-', "_")
        };
        Self {
            words: (0..VOCABULARY).map(&mut identifier).collect(),
            frequency: Zipf::new(VOCABULARY, 2),
            local: [0; WORDS_IN_FUNCTION],
            remembered: std::array::from_fn(|_| String::new()),
            depth: 0,
            random,
        }
    }

    /// Appends the next line, or the next few that belong together.
    pub(super) fn append(&mut self, text: &mut Vec<u8>) {
        let line = if self.depth == 0 {
            self.local = std::array::from_fn(|_| self.frequency.rank(&mut self.random));
            self.filled(&DECLARATIONS)
        } else if self.random.one_in(9) {
            self.depth -= 1;
            "}".to_owned()
        } else if self.random.one_in(REPEAT_ONE_IN) {
            self.remembered[self.random.index(REMEMBERED)].clone()
        } else {
            self.statement()
        };
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(b'\t', self.depth));
        }
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        self.depth += usize::from(line.ends_with('{') && self.depth < DEEPEST);
    }

    fn statement(&mut self) -> String {
        let line = self.filled(&STATEMENTS);
        self.remembered[self.random.index(REMEMBERED)].clone_from(&line);
        line
    }

    /// One of the forms, with its placeholders filled in.
    fn filled(&mut self, forms: &[&str]) -> String {
        let form = forms[self.random.index(forms.len())];
        let mut line = String::new();
        for character in form.chars() {
            match character {
                '@' => line.push_str(self.word()),
                '$' => line.push_str(&self.word().to_ascii_uppercase()),
                '%' => line.push_str(["0x00", "0x0f", "0x10", "0xff"][self.random.index(4)]),
                _ => line.push(character),
            }
        }
        line
    }

    fn word(&mut self) -> &str {
        let index = if self.random.one_in(FOREIGN_ONE_IN) {
            self.frequency.rank(&mut self.random)
        } else {
            // The smaller of two draws: even of its own words, a function uses some more.
            let draws = [(); 2].map(|()| self.random.index(WORDS_IN_FUNCTION));
            self.local[draws[0].min(draws[1])]
        };
        &self.words[index]
    }
}
