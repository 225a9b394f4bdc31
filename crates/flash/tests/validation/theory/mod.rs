//! The theory of flash write amplification that a simulated drive is held against.
//!
//! Everything here is a formula or a mean-field limit: the behaviour of infinitely many blocks,
//! where chance averages out. Nothing here knows how the simulator works, so that the two can only
//! agree by both being right. With thousands of blocks a correct simulator comes within 0.5 %.
//!
//! A drive has U host-visible pages and T usable physical ones; blocks that the collector holds
//! back count as neither. Spare capacity is always given as the *spare factor* (T - U) / T, never
//! as over-provisioning (T - U) / U. Write amplification is (host + copied page writes) / host
//! page writes, so it is at least 1 where pages are mapped. Writes are single pages, uniformly
//! random unless a function says otherwise.

pub mod block_mapped;
pub mod hot_cold;
pub mod page_mapped;
pub mod transient;
pub mod trim;

mod argument;
#[cfg(test)]
mod published;
mod root;
