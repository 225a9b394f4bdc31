//! Turns a drive file into a specification: fills in defaults, refuses impossible drives.

use ssdlab_quantity::Bytes;
use toml::Spanned;

use super::{
    CollectionName, DriveFile, DriveFileError, LevellingName, MappingName, PAGE_BYTES,
    PAGES_PER_BLOCK, TimingTable,
};
use crate::command::SECTOR_BYTES;
use crate::specification as exact;
use crate::specification::Specification;
use crate::units::{MILLION, Nanos};

const CHOICES: u32 = 10;

impl DriveFileError {
    fn at<T>(value: &Spanned<T>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), at: Some(value.span()), help: help.into() }
    }

    fn nowhere(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), at: None, help: help.into() }
    }
}

impl Specification {
    /// Reads a drive file.
    pub fn parse(text: &str) -> Result<Self, DriveFileError> {
        DriveFile::parse(text)?.resolve()
    }
}

/// The sizes in pages and blocks.
struct Geometry {
    page_bytes: u32,
    logical_pages: u32,
    superblock: u32,
    compression_ppm: u32,
    pages_per_block: u32,
    blocks: u32,
}

impl DriveFile {
    /// The drive with every default filled in.
    pub fn resolve(&self) -> Result<Specification, DriveFileError> {
        let geometry = self.geometry()?;
        let mapping = self.exact_mapping(&geometry)?;
        let timing = match &self.timing.0 {
            Some(timing) => Some(exact_timing(timing, &geometry)?),
            None => None,
        };
        let specification = Specification {
            name: self.name.clone(),
            description: self.description.clone(),
            page_bytes: geometry.page_bytes,
            logical_pages: geometry.logical_pages,
            pages_per_block: geometry.pages_per_block,
            superblock: geometry.superblock,
            blocks: geometry.blocks,
            compression_ppm: geometry.compression_ppm,
            mapping,
            wear: self.exact_wear()?,
            power_loss: self.exact_power_loss()?,
            write_cache: self.exact_write_cache()?,
            trim: self.trim,
            write_buffer: self.exact_write_buffer(&geometry)?,
            slc_cache: self.exact_slc_cache(&geometry, timing.as_ref())?,
            map_cache: self.exact_map_cache(&geometry)?,
            timing,
            background: self.background.as_ref().map(|background| exact::Background {
                after: background.after,
                free_blocks: part(geometry.blocks, background.free.0),
            }),
        };
        let slc_blocks = specification.slc_cache.map_or(0, |cache| cache.blocks);
        let reserve = match mapping {
            exact::Mapping::Block { open_blocks } => open_blocks,
            _ => RESERVE,
        };
        let most = u64::from(geometry.blocks) + u64::from(slc_blocks) + u64::from(reserve);
        if most * u64::from(geometry.pages_per_block) >= u64::from(u32::MAX) {
            return Err(DriveFileError::at(
                &self.capacity,
                "the drive has more than 2^32 pages of flash",
                "choose a larger page, or a smaller capacity",
            ));
        }
        Ok(specification)
    }

    fn geometry(&self) -> Result<Geometry, DriveFileError> {
        let page_bytes = self.page_bytes()?;
        let per_block = count(self.pages_per_block.as_ref(), PAGES_PER_BLOCK, "pages_per_block")?;
        let superblock = count(self.superblock.as_ref(), 1, "superblock")?;
        let compression_ppm = self.compression_ppm()?;
        let stored = u128::from(per_block) * u128::from(superblock) * u128::from(MILLION)
            / u128::from(compression_ppm);
        let Some(pages_per_block) = u32::try_from(stored).ok().filter(|pages| *pages <= 1 << 24)
        else {
            return Err(DriveFileError::nowhere(
                format!("a block of {stored} pages is too large"),
                "choose fewer pages_per_block, or a smaller superblock; the maximum is 2^24 pages",
            ));
        };
        let logical_pages = self.logical_pages(page_bytes)?;
        let spare = *self.spare_factor.get_ref();
        if !(spare > 0.0 && spare < 0.99) {
            return Err(DriveFileError::at(
                &self.spare_factor,
                format!(
                    "a spare factor of {spare} is impossible: a drive needs both spare space and \
                    data"
                ),
                "choose a share above 0 and below 0.99, such as 0.07; it is (T - U) / T",
            ));
        }
        let spare_ppm = ppm(spare);
        let usable = u64::from(logical_pages) * u64::from(MILLION) / u64::from(MILLION - spare_ppm);
        // To the nearest block.
        let blocks = (usable + u64::from(pages_per_block) / 2) / u64::from(pages_per_block);
        let needed = u64::from(logical_pages.div_ceil(pages_per_block)) + 1;
        if blocks < needed {
            return Err(DriveFileError::at(
                &self.spare_factor,
                format!(
                    "the spare space is less than a block: there are {blocks} blocks for data, but \
                     the capacity fills {}",
                    needed - 1
                ),
                "choose a larger spare_factor, a larger capacity, or smaller blocks",
            ));
        }
        let blocks = u32::try_from(blocks).map_err(|_| {
            DriveFileError::at(
                &self.capacity,
                "the drive has too many blocks",
                "choose larger ones",
            )
        })?;
        Ok(Geometry {
            page_bytes,
            logical_pages,
            superblock,
            compression_ppm,
            pages_per_block,
            blocks,
        })
    }

    fn page_bytes(&self) -> Result<u32, DriveFileError> {
        let Some(page) = &self.page else { return Ok(PAGE_BYTES) };
        let bytes = page.get_ref().0;
        if !bytes.is_power_of_two() || !(512..=1 << 20).contains(&bytes) {
            return Err(DriveFileError::at(
                page,
                format!("a page of {bytes} bytes: not a power of two from 512 bytes to 1 MiB"),
                "for example \"4 KiB\"",
            ));
        }
        Ok(u32::try_from(bytes).expect("at most 1 MiB"))
    }

    fn compression_ppm(&self) -> Result<u32, DriveFileError> {
        let Some(compression) = &self.compression else { return Ok(MILLION) };
        let share = *compression.get_ref();
        if (0.01..=1.0).contains(&share) {
            return Ok(ppm(share));
        }
        Err(DriveFileError::at(
            compression,
            format!("{share} is not a possible compression ratio"),
            "choose a share from 0.01 to 1",
        ))
    }

    fn logical_pages(&self, page_bytes: u32) -> Result<u32, DriveFileError> {
        let bytes = self.capacity.get_ref().0;
        let unit = self.capacity_unit();
        if bytes == 0 || !bytes.is_multiple_of(unit) {
            let whole = (bytes / unit).max(1) * unit;
            let what = if unit == u64::from(page_bytes) { "page" } else { "block" };
            return Err(DriveFileError::at(
                &self.capacity,
                format!(
                    "a capacity of {bytes} bytes is not a multiple of the {what} of {unit} bytes"
                ),
                format!("use {whole} bytes"),
            ));
        }
        u32::try_from(bytes / u64::from(page_bytes)).map_err(|_| {
            DriveFileError::at(
                &self.capacity,
                format!("{} has more than 2^32 pages", Bytes(bytes)),
                "choose a larger page, or a smaller capacity",
            )
        })
    }

    fn exact_mapping(&self, geometry: &Geometry) -> Result<exact::Mapping, DriveFileError> {
        Ok(match self.mapping {
            MappingName::Page => exact::Mapping::Page {
                collection: match self.collection {
                    CollectionName::Greedy => exact::VictimPolicy::Greedy,
                    CollectionName::Fifo => exact::VictimPolicy::Fifo,
                    CollectionName::Random => exact::VictimPolicy::Random,
                    CollectionName::DChoices => exact::VictimPolicy::Choices(blocks(
                        self.choices.as_ref(),
                        CHOICES,
                        "choices",
                        geometry,
                    )?),
                    CollectionName::CostBenefit => exact::VictimPolicy::CostBenefit,
                },
                frontiers: self.frontiers,
            },
            MappingName::Block => exact::Mapping::Block {
                open_blocks: blocks(self.open_blocks.as_ref(), 1, "open_blocks", geometry)?,
            },
            MappingName::Bast => exact::Mapping::Bast { log_blocks: self.log_blocks(geometry)? },
            MappingName::Fast => exact::Mapping::Fast { log_blocks: self.log_blocks(geometry)? },
        })
    }

    fn log_blocks(&self, geometry: &Geometry) -> Result<u32, DriveFileError> {
        let Some(fraction) = &self.log_fraction else {
            return Err(DriveFileError::nowhere(
                "a hybrid mapping needs a log_fraction",
                "write for example `log_fraction = 0.03`: log blocks as a share of data blocks",
            ));
        };
        let data = geometry.logical_pages.div_ceil(geometry.pages_per_block);
        let log = part(data, *fraction.get_ref());
        let spare = geometry.blocks - data;
        if !(1..=spare).contains(&log) {
            return Err(DriveFileError::at(
                fraction,
                format!(
                    "a log_fraction of {} makes {log} log blocks for {data} data blocks; the spare \
                     space has {spare}",
                    fraction.get_ref()
                ),
                "choose a larger spare_factor, or a log_fraction that makes at least one block",
            ));
        }
        Ok(log)
    }

    fn exact_wear(&self) -> Result<exact::Wear, DriveFileError> {
        let threshold =
            count(self.wear.threshold.as_ref(), exact::Levelling::THRESHOLD, "threshold")?;
        let endurance = match &self.wear.endurance {
            Some(_) => Some(count(self.wear.endurance.as_ref(), 1, "endurance")?),
            None => None,
        };
        let levelling = match self.wear.levelling {
            LevellingName::None => exact::Levelling::None,
            LevellingName::Dynamic => exact::Levelling::Dynamic,
            LevellingName::Static => exact::Levelling::Static { threshold },
        };
        Ok(exact::Wear { levelling, endurance })
    }

    fn exact_power_loss(&self) -> Result<exact::PowerLoss, DriveFileError> {
        let unit = self.atomic_write_unit.as_ref();
        let bytes = unit.map_or(SECTOR_BYTES, |unit| unit.get_ref().0);
        if let Some(unit) = unit
            && !(bytes.is_power_of_two() && (SECTOR_BYTES..=1 << 20).contains(&bytes))
        {
            return Err(DriveFileError::at(
                unit,
                format!(
                    "an atomic_write_unit of {bytes} bytes: not a power of two from 512 bytes to \
                     1 MiB"
                ),
                "for example \"4 KiB\"",
            ));
        }
        Ok(exact::PowerLoss {
            protection: self.power_loss_protection,
            flush: self.flush,
            fault: self.power_fault,
            atomic_write_bytes: u32::try_from(bytes).expect("at most 1 MiB"),
        })
    }

    fn exact_write_cache(&self) -> Result<exact::WriteCache, DriveFileError> {
        let Some(write_cache) = &self.write_cache else { return Ok(exact::WriteCache::default()) };
        let is_volatile = self.write_buffer.is_some() && !self.power_loss_protection;
        if *write_cache.get_ref() == exact::WriteCache::Through && is_volatile {
            return Err(DriveFileError::at(
                write_cache,
                "a drive that loses its write buffer in a power cut cannot write through",
                "add `power_loss_protection = true`, or omit write_cache or [write_buffer]",
            ));
        }
        Ok(*write_cache.get_ref())
    }

    fn exact_write_buffer(
        &self,
        geometry: &Geometry,
    ) -> Result<Option<exact::WriteBuffer>, DriveFileError> {
        let Some(buffer) = &self.write_buffer else { return Ok(None) };
        let pages = units(&buffer.size, geometry.page_bytes.into(), "page")?;
        Ok(Some(exact::WriteBuffer { pages }))
    }

    fn exact_slc_cache(
        &self,
        geometry: &Geometry,
        timing: Option<&exact::Timing>,
    ) -> Result<Option<exact::SlcCache>, DriveFileError> {
        let Some(cache) = &self.slc_cache else { return Ok(None) };
        if self.mapping != MappingName::Page {
            return Err(DriveFileError::at(
                &cache.size,
                "only a page-mapped drive can have an SLC cache",
                "omit [slc_cache], or write `mapping = \"page\"`",
            ));
        }
        let bits = count(Some(&cache.bits_per_cell), 1, "bits_per_cell")?;
        let pages_per_block = (geometry.pages_per_block / bits).max(1);
        let block_bytes = u64::from(pages_per_block) * u64::from(geometry.page_bytes);
        let blocks = units(&cache.size, block_bytes, "block of one bit per cell")?.max(2);
        let cell = timing.map(|timing| exact::Cell {
            read: cache.read.unwrap_or(timing.cell.read),
            program: cache.program.unwrap_or(timing.cell.program),
        });
        let cut_from_bytes = cache.cut_from.map(|whole| whole.0);
        Ok(Some(exact::SlcCache { blocks, pages_per_block, cell, cut_from_bytes }))
    }

    fn exact_map_cache(
        &self,
        geometry: &Geometry,
    ) -> Result<Option<exact::MapCache>, DriveFileError> {
        const ENTRY_BYTES: u64 = 4;
        let Some(cache) = &self.map_cache else { return Ok(None) };
        let map_pages = units(&cache.size, geometry.page_bytes.into(), "page")?;
        let entry = cache.entry.as_ref().map_or(ENTRY_BYTES, |entry| entry.get_ref().0);
        let covers_pages = u64::from(geometry.page_bytes) / entry.max(1);
        match u32::try_from(covers_pages) {
            Ok(covers_pages) if covers_pages > 0 => {
                Ok(Some(exact::MapCache { map_pages, covers_pages }))
            }
            _ => Err(DriveFileError::nowhere(
                format!("a map entry of {entry} bytes does not fit into a page"),
                "omit `entry` in [map_cache]; 4 bytes is usual",
            )),
        }
    }
}

/// The most blocks that a mapping without open blocks adds to those for data.
const RESERVE: u32 = 64;

fn exact_timing(
    timing: &TimingTable,
    geometry: &Geometry,
) -> Result<exact::Timing, DriveFileError> {
    let channels = count(Some(&timing.channels), 1, "channels")?;
    let dies_per_channel = count(Some(&timing.dies_per_channel), 1, "dies_per_channel")?;
    let planes = count(timing.planes.as_ref(), 1, "planes")?;
    let units = u128::from(channels) * u128::from(dies_per_channel) * u128::from(planes);
    if units > 4096 {
        return Err(DriveFileError::at(
            &timing.channels,
            format!("{units} planes in total are too many"),
            "the maximum of channels x dies_per_channel x planes is 4096",
        ));
    }
    if u128::from(geometry.superblock) > units {
        return Err(DriveFileError::at(
            &timing.channels,
            format!("a superblock of {} blocks needs as many planes", geometry.superblock),
            format!("there are {units}: channels x dies_per_channel x planes"),
        ));
    }
    // A compressed page takes a proportional share of every step.
    let compressed = |time: u128| {
        let part = time * u128::from(geometry.compression_ppm) / u128::from(MILLION);
        Nanos(u64::try_from(part).unwrap_or(u64::MAX))
    };
    let transfer = u128::from(geometry.page_bytes) * 1_000_000_000 / u128::from(timing.bus.0);
    Ok(exact::Timing {
        channels,
        dies_per_channel,
        planes,
        cell: exact::Cell { read: timing.read, program: compressed(timing.program.0.into()) },
        erase: timing.erase,
        transfer: compressed(transfer),
        suspend: timing.suspend,
        link_read_rate: timing.link_read.0,
        link_write_rate: timing.link_write.0,
        controller: exact::Controller {
            per_read: timing.controller_read,
            per_write: timing.controller_write,
            per_copy: timing.controller_copy,
        },
        read_latency: timing.read_latency,
        write_latency: timing.write_latency,
        flush_latency: timing.flush_latency,
        fua_latency: timing.fua_latency,
    })
}

/// A share in millionths.
fn ppm(share: f64) -> u32 {
    // The callers have checked that it is between 0 and 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let ppm = (share * f64::from(MILLION)).round() as u32;
    ppm
}

/// A share of a number, rounded to the nearest.
fn part(of: u32, share: f64) -> u32 {
    // The cast saturates.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let part = (f64::from(of) * share).round() as u32;
    part
}

/// Reads a number that must be at least 1.
fn count(written: Option<&Spanned<u32>>, default: u32, key: &str) -> Result<u32, DriveFileError> {
    match written {
        None => Ok(default),
        Some(value) if *value.get_ref() == 0 => {
            Err(DriveFileError::at(value, format!("{key} is 0"), "choose at least 1"))
        }
        Some(value) => Ok(*value.get_ref()),
    }
}

/// Reads a number of the blocks for data.
fn blocks(
    written: Option<&Spanned<u32>>,
    default: u32,
    key: &str,
    geometry: &Geometry,
) -> Result<u32, DriveFileError> {
    let (number, most) = (count(written, default, key)?, geometry.blocks);
    match written {
        Some(value) if number > most => Err(DriveFileError::at(
            value,
            format!("{key} is {number}, but the drive has {most} blocks for data"),
            format!("choose at most {most}"),
        )),
        _ => Ok(number),
    }
}

/// The number of whole units in a size; at least one.
fn units(size: &Spanned<Bytes>, unit_bytes: u64, unit: &str) -> Result<u32, DriveFileError> {
    match u32::try_from(size.get_ref().0 / unit_bytes) {
        Ok(units) if units > 0 => Ok(units),
        Ok(_) => Err(DriveFileError::at(
            size,
            format!("{} is too small for a {unit} of {unit_bytes} bytes", size.get_ref()),
            "choose a larger size, or omit the table",
        )),
        Err(_) => Err(DriveFileError::at(size, "the size is too large", "choose a smaller one")),
    }
}

#[cfg(test)]
mod tests;
