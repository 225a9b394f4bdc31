//! A CSV line of bonnie++, from `BonTimer` in its `bon_time.cpp`.
//!
//! Settings, rates and latencies are separated by commas. A skipped test has an empty field, one
//! that took less than half a second has `+++++`. Format 1.98, of versions 1.98 and 2.00, added the
//! numbers of seeks and of seekers to that of 1.93 to 1.97 (its changelog).

use ssdlab_plan::BonnieTest;

/// Versions of the format, which are the first field, and their numbers of fields.
const FORMATS: [(&str, usize); 6] =
    [("1.93", 48), ("1.94", 48), ("1.95", 48), ("1.96", 48), ("1.97", 48), ("1.98", 50)];

/// Fields of a line of 50; earlier formats lack the two before the rates. Rates of the file, those
/// of the small files, and latencies. Every rate is followed by the CPU share.
const LONG: usize = 50;
const FILE_RATES: usize = 9;
const SMALL_RATES: usize = 26;
const LATENCIES: usize = 38;

/// The settings before the rates, by the names of `bon_csv2html(1)`.
const SETTINGS: [(&str, usize); 2] = [("concurrency", 3), ("seed", 4)];

/// What bonnie++ printed of one run.
#[derive(Debug)]
pub struct BonnieResult {
    /// The program's version.
    pub version: String,
    /// Its name (`-m`), by default the machine's.
    pub name: String,
    /// The size of the file, in bytes; absent if its tests were skipped.
    pub size_bytes: Option<u64>,
    /// The size of a chunk in bytes.
    pub chunk_bytes: Option<u64>,
    /// Other settings.
    pub settings: Vec<(&'static str, String)>,
    /// Its tests in order, except skipped ones.
    pub tests: Vec<BonnieTestResult>,
}

#[derive(Debug)]
pub struct BonnieTestResult {
    pub test: BonnieTest,
    /// Its rate; `None` if it was too fast to be measured.
    pub rate: Option<BonnieRate>,
    /// The longest operation, in ns.
    pub longest_ns: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub enum BonnieRate {
    /// Bytes per second.
    Bytes(f64),
    /// Files or seeks per second.
    Operations(f64),
}

/// Whether a text looks like a CSV line, with any number of fields.
pub fn is_line(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').take(3).collect();
    let is_format = |field: &str| {
        release(field).split_once('.').is_some_and(|(a, b)| is_whole(a) && is_whole(b))
    };
    fields.len() == 3 && is_format(fields[0])
}

/// A version without the letter of a test version: 1.93c is 1.93.
fn release(version: &str) -> &str {
    version.trim_end_matches(|letter: char| letter.is_ascii_lowercase())
}

fn is_whole(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a CSV line.
pub fn line(line: &str) -> Result<BonnieResult, String> {
    let fields: Vec<&str> = line.trim_end().split(',').collect();
    let Some((_, expected)) = FORMATS.iter().find(|(format, _)| *format == release(fields[0]))
    else {
        let known = FORMATS.map(|(format, _)| format).join(", ");
        return Err(format!("its format is {}, expected one of {known}", fields[0]));
    };
    if fields.len() != *expected {
        return Err(format!("{} values, expected {expected}", fields.len()));
    }
    let lacking = LONG - expected;
    let mut tests = Vec::new();
    for (index, test) in BonnieTest::ALL.into_iter().enumerate() {
        let of_file = BonnieTest::ALL.iter().filter(|test| test.is_of_the_file()).count();
        let place = match index.checked_sub(of_file) {
            None => FILE_RATES + 2 * index,
            Some(index) => SMALL_RATES + 2 * index,
        };
        let wrong = |text: &str| format!("{}: \"{text}\" is not a number", test.name());
        let rate = match fields[place - lacking] {
            "" => continue,
            text if text.len() > 2 && text.bytes().all(|byte| byte == b'+') => None,
            text => {
                let value = number(text).ok_or_else(|| wrong(text))?;
                let moves = test.is_of_the_file() && test != BonnieTest::RandomSeek;
                // KiB a second.
                Some(if moves {
                    BonnieRate::Bytes(value * 1024.0)
                } else {
                    BonnieRate::Operations(value)
                })
            }
        };
        let longest_ns = match fields[LATENCIES + index - lacking] {
            "" => None,
            text => Some(latency_ns(text).ok_or_else(|| wrong(text))?),
        };
        tests.push(BonnieTestResult { test, rate, longest_ns });
    }
    let text = |place: usize| Some(fields[place]).filter(|text| !text.is_empty());
    let settings = SETTINGS.iter();
    Ok(BonnieResult {
        version: fields[1].to_owned(),
        name: fields[2].to_owned(),
        size_bytes: text(5).and_then(size_bytes),
        chunk_bytes: text(6).map_or(Some(DEFAULT_CHUNK_BYTES), size_bytes),
        settings: settings.filter_map(|(name, at)| Some((*name, text(*at)?.to_owned()))).collect(),
        tests,
    })
}

/// `DefaultChunkSize` of `bonnie.h`, which is omitted from lines.
const DEFAULT_CHUNK_BYTES: u64 = 8 << 10;

/// A size as bonnie++ prints it: in bytes unless it has a unit.
fn size_bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A time as `print_latency` writes it: whole seconds, ms or µs.
fn latency_ns(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(end);
    let unit_ns = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        _ => return None,
    };
    Some(number(digits)? * unit_ns)
}

fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}
