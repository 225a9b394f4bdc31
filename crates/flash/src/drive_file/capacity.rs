//! A drive with another capacity: what follows it, and how small it may be.

use ssdlab_quantity::Bytes;
use toml::Spanned;

use super::{DriveFile, DriveFileError, MappingName, PAGE_BYTES, PAGES_PER_BLOCK};

/// The fewest blocks, with superblocks of superblocks, on which garbage collection is that of a
/// large drive: those for data, and those of them that are spare.
const LEAST_BLOCKS: f64 = 100.0;
const LEAST_SPARE_BLOCKS: f64 = 10.0;

impl DriveFile {
    /// Refuses a capacity that is less than the drive's own and than its
    /// [`DriveFile::least_capacity`].
    pub fn check_capacity(&self, capacity: Bytes) -> Result<(), DriveFileError> {
        let least = self.least_capacity();
        if capacity >= least.min(*self.capacity.get_ref()) {
            return Ok(());
        }
        Err(DriveFileError {
            message: format!(
                "with {capacity} the drive `{}` has fewer than {LEAST_BLOCKS} superblocks, of \
                 them {LEAST_SPARE_BLOCKS} spare; collecting so few is not like collecting many",
                self.name
            ),
            at: None,
            help: format!("give it a capacity of at least \"{least}\""),
        })
    }

    /// The same drive with another capacity, rounded down to what its blocks allow. Only what is a
    /// share of the flash follows it: spare space, and the blocks that are kept free. Everything
    /// else keeps its size: blocks, dies, buffers and caches. A smaller drive's SLC cache holds at
    /// most what all its cells hold with one bit each.
    pub fn with_capacity(&mut self, capacity: Bytes) {
        let own = *self.capacity.get_ref();
        self.set_capacity(capacity);
        let Some(cache) = self.slc_cache.as_mut().filter(|_| capacity < own) else { return };
        let bits = u64::from(*cache.bits_per_cell.get_ref()).max(1);
        let (whole, most) = (*cache.size.get_ref(), Bytes(self.capacity.get_ref().0 / bits));
        if whole > most {
            cache.cut_from = Some(whole);
            *cache.size.get_mut() = most;
        }
    }

    /// The same drive in all proportions, for tests of rates that depend on them alone: SLC cache
    /// and map cache keep their ratio to the capacity, too.
    pub fn scale_down_to(&mut self, capacity: Bytes) {
        let old = self.capacity.get_ref().0.max(1);
        let scale = |size: &mut Spanned<Bytes>| {
            let scaled = u128::from(size.get_ref().0) * u128::from(capacity.0) / u128::from(old);
            size.get_mut().0 = u64::try_from(scaled).unwrap_or(u64::MAX);
        };
        for size in [
            self.slc_cache.as_mut().map(|cache| &mut cache.size),
            self.map_cache.as_mut().map(|cache| &mut cache.size),
        ] {
            size.into_iter().for_each(scale);
        }
        self.set_capacity(capacity);
    }

    fn set_capacity(&mut self, capacity: Bytes) {
        let unit = self.capacity_unit().max(1);
        self.capacity.get_mut().0 = capacity.0 / unit * unit;
    }

    /// The least capacity at which the drive has 100 superblocks, of them 10 spare, rounded up to
    /// two digits; 0 for an impossible drive, which [`DriveFile::resolve`] refuses.
    pub fn least_capacity(&self) -> Bytes {
        let spare = *self.spare_factor.get_ref();
        let compression = self.compression.as_ref().map_or(1.0, |share| *share.get_ref());
        if !(spare > 0.0 && spare < 1.0 && compression > 0.0) {
            return Bytes(0);
        }
        let blocks = LEAST_BLOCKS.max(LEAST_SPARE_BLOCKS / spare);
        let bytes = blocks * (1.0 - spare) * self.block_bytes() as f64 / compression;
        // The cast saturates.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bytes = bytes.ceil() as u64;
        let unit = 10_u64.pow(bytes.max(10).ilog10() - 1);
        Bytes(bytes.div_ceil(unit).saturating_mul(unit))
    }

    /// The bytes of an erase block, with superblocks of all its blocks.
    fn block_bytes(&self) -> u64 {
        let count = |count: &Option<Spanned<u32>>, default| {
            u64::from(count.as_ref().map_or(default, |count| *count.get_ref()))
        };
        let pages = count(&self.pages_per_block, PAGES_PER_BLOCK);
        self.page_unit().saturating_mul(pages).saturating_mul(count(&self.superblock, 1))
    }

    fn page_unit(&self) -> u64 {
        self.page.as_ref().map_or(PAGE_BYTES.into(), |page| page.get_ref().0)
    }

    /// The unit of which the capacity has to be a multiple.
    pub(super) fn capacity_unit(&self) -> u64 {
        match self.mapping {
            MappingName::Page => self.page_unit(),
            MappingName::Block | MappingName::Bast | MappingName::Fast => self.block_bytes(),
        }
    }
}

#[cfg(test)]
mod tests;
