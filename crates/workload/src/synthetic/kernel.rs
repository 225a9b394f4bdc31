//! The measured shape of a Linux source tree: the only input figures of the tree generator.
//!
//! Measured on Linux 6.1 as Debian ships it (`linux-source-6.1`, 6.1.192-2), by reading the
//! archive's entries once with Python's `tarfile` and sorting. `drivers/gpu/drm/amd` was excluded:
//! its generated register headers are a third of the archive (424 of 1,299 MB), and the trees of
//! 2009 and 2011 had nothing similar. The rest has 76,519 files in 4,918 directories, 874,773,076
//! bytes, 56 symbolic links (under 0.1 %, not modelled). Each table's mean is within 3 % of the
//! measured mean.

use super::distribution::SizeQuantiles;

/// One kind of file in the tree.
#[derive(Debug)]
pub(super) struct FileKind {
    /// The extension; empty for names without a dot.
    pub extension: &'static str,
    /// The number of files of this kind in 10,000.
    pub share: u64,
    /// The sizes in bytes.
    pub sizes: &'static SizeQuantiles,
    /// Permission bits.
    pub mode: u32,
    /// Whether the bytes are incompressible.
    pub binary: bool,
}

const fn text(extension: &'static str, share: u64, sizes: &'static SizeQuantiles) -> FileKind {
    FileKind { extension, share, sizes, mode: 0o644, binary: false }
}

/// All kinds of files; the shares add up to 10,000.
///
/// Kinds with fewer than 70 of 10,000 files are counted as `txt`. Scripts are executable (814 files
/// of all 78,579 were, 757 of them `sh`).
///
/// Incompressible files are a choice, not a measurement: in 6.1 only a logo or two are
/// (0.002 % of the bytes); older trees carried firmware. They get about 1 % of the bytes, so
/// that a filesystem which compresses also meets files that it cannot compress.
pub(super) static KINDS: [FileKind; 12] = [
    text("c", 4090, &C_SIZES),
    text("h", 2889, &H_SIZES),
    text("", 838, &OTHER_SIZES),
    text("rst", 425, &OTHER_SIZES),
    text("yaml", 390, &OTHER_SIZES),
    text("dts", 342, &OTHER_SIZES),
    text("txt", 368, &OTHER_SIZES),
    text("dtsi", 248, &OTHER_SIZES),
    text("S", 173, &OTHER_SIZES),
    FileKind { mode: 0o755, ..text("sh", 99, &OTHER_SIZES) },
    text("json", 78, &OTHER_SIZES),
    FileKind { binary: true, ..text("bin", 60, &C_SIZES) },
];

/// Directories, and the files in them.
pub(super) const DIRECTORIES: u64 = 4918;
/// See [`DIRECTORIES`].
pub(super) const FILES: u64 = 76_519;

/// The numbers of directories 1, 2, ... 9 levels below the top directory.
pub(super) const DIRECTORIES_AT_DEPTH: [u64; 9] = [24, 608, 1505, 1383, 829, 275, 134, 103, 56];

/// Files directly in a directory.
pub(super) static FILES_PER_DIRECTORY: SizeQuantiles = SizeQuantiles([
    0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 7, 7, 8, 9, 10, 11, 12, 14, 16, 19, 22, 27,
    35, 47, 77, 123, 177, 230, 315, 484, 595, 1401, 2541,
]);

/// Characters in a file's name before the last dot.
pub(super) static STEM_LENGTHS: SizeQuantiles = SizeQuantiles([
    1, 3, 4, 4, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 9, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 15, 16,
    17, 18, 20, 23, 26, 29, 33, 36, 41, 43, 45, 56,
]);

/// Characters in a directory's name.
pub(super) static DIRECTORY_NAME_LENGTHS: SizeQuantiles = SizeQuantiles([
    1, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 10, 11,
    13, 15, 16, 18, 20, 20, 22, 23, 23,
]);

/// Bytes of 31,300 `.c` files; the mean is 19,018.
static C_SIZES: SizeQuantiles = SizeQuantiles([
    18, 691, 1228, 1661, 2057, 2487, 2936, 3390, 3863, 4352, 4906, 5489, 6092, 6731, 7467, 8249,
    9077, 10041, 11093, 12302, 13566, 15078, 16953, 19020, 21449, 24327, 27850, 32197, 38118,
    46374, 59470, 85585, 118_507, 161_156, 213_036, 279_593, 358_123, 473_910, 679_065, 1_747_157,
]);

/// Bytes of 22,105 `.h` files; the mean is 7,155.
static H_SIZES: SizeQuantiles = SizeQuantiles([
    0, 220, 308, 388, 464, 551, 644, 747, 863, 984, 1108, 1257, 1430, 1606, 1800, 2013, 2263, 2535,
    2840, 3196, 3652, 4125, 4694, 5342, 6147, 7096, 8367, 9992, 12411, 16076, 22543, 36900, 56428,
    77397, 122_417, 165_341, 262_096, 380_595, 855_196, 2_456_864,
]);

/// Bytes of the 23,114 files that are neither; the mean is 5,251.
static OTHER_SIZES: SizeQuantiles = SizeQuantiles([
    0, 84, 147, 208, 273, 342, 410, 493, 590, 707, 817, 927, 1047, 1191, 1338, 1492, 1677, 1890,
    2115, 2367, 2636, 2971, 3366, 3915, 4572, 5377, 6358, 7588, 9411, 12150, 16553, 26133, 41868,
    65953, 94672, 124_399, 166_973, 289_083, 582_073, 1_215_659,
]);

#[cfg(test)]
mod tests;
