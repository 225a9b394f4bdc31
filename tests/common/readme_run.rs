//! The run that the README shows.

use std::io::Read;

use flate2::read::GzDecoder;

/// Its records, a line each. `make readme` makes them.
pub fn records() -> String {
    let kept = include_bytes!("../data/answers/sqlite.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(&kept[..]).read_to_string(&mut text).unwrap();
    // The first line is how the run ended.
    text.split_once('\n').unwrap().1.to_owned()
}
