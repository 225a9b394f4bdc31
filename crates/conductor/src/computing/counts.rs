//! What the virtual lab charges an operation for.

/// How much of each charged item an operation needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChargedCounts {
    /// Basic blocks.
    pub blocks: f64,
    /// System calls.
    pub calls: f64,
    /// KiB copied or zeroed.
    pub copied_kib: f64,
    /// KiB whose CRC-32 or CRC-32C was computed.
    pub checksummed_kib: f64,
}
