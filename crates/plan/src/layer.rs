//! The factor `layer`: what lies between the simulated drive and the filesystem.

use std::fmt;

use ssdlab_filesystem::{self as filesystem, Filesystem};
use ssdlab_quantity::Bytes;

use super::factor::Factor;
use super::level_error::{LevelError, unknown};

/// The parameters of dm-crypt that a level may have
/// (Documentation/admin-guide/device-mapper/dm-crypt.rst).
const CRYPT_PARAMETERS: [&str; 8] = [
    "allow_discards",
    "no_read_workqueue",
    "no_write_workqueue",
    "same_cpu_crypt",
    "submit_from_crypt_cpus",
    "sector_size:1024",
    "sector_size:2048",
    "sector_size:4096",
];

/// The features of a pool of dm-thin that a level may have
/// (Documentation/admin-guide/device-mapper/thin-provisioning.rst).
const THIN_FEATURES: [&str; 3] = ["skip_block_zeroing", "ignore_discard", "no_discard_passdown"];

/// Before the size of a pool's chunks.
const CHUNK: &str = "chunk:";

/// The smallest chunk of dm-thin, which is what LVM uses for all but large pools.
const DEFAULT_CHUNK_BYTES: u64 = 64 << 10;

/// The largest chunk of dm-thin.
const MOST_CHUNK_BYTES: u64 = 1 << 30;

/// The levels, for people.
pub const LAYERS: &str = "none, crypt, thin (with parameters of dm-crypt or dm-thin, such as \
    \"crypt allow_discards\" or \"thin chunk:256KiB\"), or \"image on FILESYSTEM\"";

/// A block layer between the drive and the filesystem.
#[derive(Debug, Clone)]
pub enum Layer {
    /// dm-crypt with AES-256 in XTS mode, as LUKS uses it by default.
    Crypt {
        /// Its optional parameters.
        parameters: Vec<&'static str>,
    },
    /// A volume of a dm-thin pool.
    Thin {
        /// The size of the pool's chunks.
        chunk_bytes: u64,
        /// The pool's features.
        features: Vec<&'static str>,
    },
    /// A sparse file on another filesystem, through a loop device with direct I/O.
    Image {
        /// The filesystem that holds the file.
        on: &'static Filesystem,
    },
}

impl Layer {
    /// Whether discards get through it, or free space in it.
    pub fn takes_discards(&self) -> bool {
        match self {
            Self::Crypt { parameters } => parameters.contains(&"allow_discards"),
            Self::Thin { features, .. } => !features.contains(&"ignore_discard"),
            Self::Image { .. } => true,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crypt { .. } => "dm-crypt",
            Self::Thin { .. } => "dm-thin",
            Self::Image { .. } => "an image",
        })
    }
}

/// Reads a level; none if nothing lies between drive and filesystem.
pub(super) fn read(level: &str) -> Result<Option<Layer>, LevelError> {
    let mut words = level.split_whitespace();
    match words.next() {
        Some("none") if words.next().is_none() => Ok(None),
        Some("crypt") => {
            let parameters = words.map(|word| one_of(&CRYPT_PARAMETERS, word));
            Ok(Some(Layer::Crypt { parameters: parameters.collect::<Result<_, _>>()? }))
        }
        Some("thin") => thin(words).map(Some),
        Some("image") => match (words.next(), words.next(), words.next()) {
            (Some("on"), Some(name), None) => Ok(Some(Layer::Image { on: holder(level, name)? })),
            _ => Err(unknown(Factor::Layer, level, LAYERS)),
        },
        _ => Err(unknown(Factor::Layer, level, LAYERS)),
    }
}

fn thin<'a>(words: impl Iterator<Item = &'a str>) -> Result<Layer, LevelError> {
    let (mut chunk_bytes, mut features) = (DEFAULT_CHUNK_BYTES, Vec::new());
    for word in words {
        match word.strip_prefix(CHUNK) {
            Some(size) => chunk_bytes = chunk(size)?,
            None => features.push(one_of(&THIN_FEATURES, word)?),
        }
    }
    Ok(Layer::Thin { chunk_bytes, features })
}

/// A chunk is a multiple of the smallest one.
fn chunk(size: &str) -> Result<u64, LevelError> {
    let bytes = size.parse().ok().map(|Bytes(bytes)| bytes);
    let is_possible = |bytes: &u64| {
        bytes.is_multiple_of(DEFAULT_CHUNK_BYTES) && (1..=MOST_CHUNK_BYTES).contains(bytes)
    };
    bytes.filter(is_possible).ok_or_else(|| LevelError {
        factor: Factor::Layer,
        message: format!("dm-thin has no chunks of `{size}`"),
        help: "a chunk is a multiple of 64 KiB, up to 1 GiB: chunk:256KiB".to_owned(),
    })
}

fn holder(level: &str, name: &str) -> Result<&'static Filesystem, LevelError> {
    // A pool's daemon would serve the image's filesystem, too.
    let known: Vec<&str> = filesystem::ALL
        .iter()
        .filter(|filesystem| filesystem.pool.is_none())
        .map(|filesystem| filesystem.name)
        .collect();
    filesystem::find(name)
        .filter(|filesystem| filesystem.pool.is_none())
        .ok_or_else(|| unknown(Factor::Layer, level, &format!("image on {}", known.join(", "))))
}

fn one_of(known: &[&'static str], word: &str) -> Result<&'static str, LevelError> {
    let found = known.iter().copied().find(|name| *name == word);
    found.ok_or_else(|| unknown(Factor::Layer, word, &known.join(", ")))
}

#[cfg(test)]
mod tests;
