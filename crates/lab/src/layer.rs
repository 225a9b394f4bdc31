//! Sets up the block layer between a guest's drive and its filesystem.
//!
//! Nothing of it is ever undone: it ends with the guest. Keys and names are constant, so that equal
//! trials do the same.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::statvfs;
use rustix::mount::MountFlags;
use ssdlab_filesystem::{Filesystem, MkfsOptions};
use ssdlab_host::loop_device;
use ssdlab_host::program::{self, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_plan::Layer;

use super::format::{lacking, missing_in_guest};
use super::{LabError, format};

/// The program that sets up device-mapper, and its Debian package.
pub const DMSETUP: (&str, &str) = ("dmsetup", "dmsetup");

/// There is no udev in a guest.
const WITHOUT_UDEV: [&str; 2] = ["--noudevsync", "--noudevrules"];

const SECTOR_BYTES: u64 = 512;

/// Layers begin and end at its multiples, as partitions do.
const ALIGNMENT_BYTES: u64 = 1 << 20;

/// The largest sector of dm-crypt, of which its size must be a multiple.
const CRYPT_SECTORS: u64 = 8;

/// The smallest metadata of a pool that LVM makes, and how much data a byte of it maps: LVM plans
/// 64 bytes for each chunk of 64 KiB.
const LEAST_METADATA_BYTES: u64 = 2 << 20;
const DATA_PER_METADATA: u64 = 1024;

/// dm-thin makes a new pool if the first block of its metadata is zero.
const METADATA_BLOCK: [u8; 4096] = [0; 4096];

/// The share of the free space that an image takes, in percent: the rest is for what its filesystem
/// has to keep about it.
const IMAGE_PERCENT: u64 = 95;

/// Why guests cannot set up a layer; `None` if they can. `of_kernel` are the lab kernel's
/// filesystems.
pub fn missing_layer(layer: &Layer, of_kernel: &[&str], toolbox: &Toolbox) -> Option<String> {
    match layer {
        Layer::Image { on } => missing_in_guest(on, of_kernel, toolbox),
        Layer::Crypt { .. } | Layer::Thin { .. } => lacking(DMSETUP.1, &[DMSETUP.0], toolbox),
    }
}

/// Puts a layer on a drive. Returns the device above it, and the layer as the kernel describes it.
/// `folder` is one of ours.
pub(super) fn set_up(
    layer: &Layer,
    drive: &BlockDevice,
    seed: u64,
    folder: &Path,
    rules: Rules<'_>,
) -> Result<(BlockDevice, String), LabError> {
    let bytes = drive.size_bytes().map_err(LabError::step("read the size of", &drive.node))?;
    match layer {
        Layer::Crypt { parameters } => {
            map("crypt", &crypt(&drive.number, bytes / SECTOR_BYTES, parameters), rules)
        }
        Layer::Thin { chunk_bytes, features } => {
            let pool = Pool::new(bytes, *chunk_bytes);
            let node = &drive.node;
            File::options()
                .write(true)
                .open(node)
                .and_then(|file| {
                    file.write_all_at(&METADATA_BLOCK, 0)?;
                    file.sync_all()
                })
                .map_err(LabError::step("write the first block of", node))?;
            let (metadata, _) = map("metadata", &pool.metadata(&drive.number), rules)?;
            let (data, _) = map("data", &pool.data(&drive.number), rules)?;
            let table = pool.table(&metadata.number, &data.number, features);
            let (device, described) = map("pool", &table, rules)?;
            dmsetup(&["message", "pool", "0", "create_thin", "0"], rules)?;
            let (volume, _) = map("volume", &pool.volume(&device.number), rules)?;
            Ok((volume, described))
        }
        Layer::Image { on } => image(on, drive, seed, folder, rules),
    }
}

/// The table of dm-crypt on a whole device. A LUKS header would shift everything by 16 MiB.
fn crypt(drive: &str, sectors: u64, parameters: &[&str]) -> String {
    let key = hex::encode((0..64).collect::<Vec<u8>>());
    let sectors = sectors - sectors % CRYPT_SECTORS;
    format!("0 {sectors} crypt aes-xts-plain64 {key} 0 {drive} 0{}", counted(parameters))
}

/// Optional words of a table, with their number before them.
fn counted(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        _ => format!(" {} {}", words.len(), words.join(" ")),
    }
}

/// A pool of dm-thin on a drive: metadata first, then data, all of which is one volume's.
#[expect(clippy::struct_field_names, reason = "a name ends in its unit")]
struct Pool {
    metadata_sectors: u64,
    data_sectors: u64,
    chunk_sectors: u64,
}

impl Pool {
    fn new(drive_bytes: u64, chunk_bytes: u64) -> Self {
        let metadata_bytes = (drive_bytes / DATA_PER_METADATA)
            .max(LEAST_METADATA_BYTES)
            .next_multiple_of(ALIGNMENT_BYTES);
        let data_bytes = drive_bytes.saturating_sub(metadata_bytes);
        Self {
            metadata_sectors: metadata_bytes / SECTOR_BYTES,
            data_sectors: (data_bytes - data_bytes % chunk_bytes) / SECTOR_BYTES,
            chunk_sectors: chunk_bytes / SECTOR_BYTES,
        }
    }

    fn metadata(&self, drive: &str) -> String {
        format!("0 {} linear {drive} 0", self.metadata_sectors)
    }

    fn data(&self, drive: &str) -> String {
        format!("0 {} linear {drive} {}", self.data_sectors, self.metadata_sectors)
    }

    fn table(&self, metadata: &str, data: &str, features: &[&str]) -> String {
        let Self { data_sectors, chunk_sectors, .. } = self;
        let features = counted(features);
        format!("0 {data_sectors} thin-pool {metadata} {data} {chunk_sectors} 0{features}")
    }

    fn volume(&self, pool: &str) -> String {
        format!("0 {} thin {pool} 0", self.data_sectors)
    }
}

/// Makes a mapped device; returns it with its table as the kernel has it.
fn map(name: &str, table: &str, rules: Rules<'_>) -> Result<(BlockDevice, String), LabError> {
    dmsetup(&["create", name, "--table", table], rules)?;
    // Nobody makes nodes by name here.
    let number = dmsetup(&["info", name, "--columns", "--noheadings", "-o", "devno"], rules)?;
    let folder = Path::new("/sys/dev/block").join(&number);
    let device = BlockDevice::numbered(&number).map_err(LabError::step("find", &folder))?;
    // Keys are shown as zeros.
    let described = dmsetup(&["table", name], rules)?;
    Ok((device, described))
}

/// Runs dmsetup; returns what it prints.
fn dmsetup(arguments: &[&str], rules: Rules<'_>) -> Result<String, LabError> {
    offered("device-mapper", Path::new("/sys/class/misc/device-mapper"))?;
    let mut command = Command::new(program::find(DMSETUP.0, DMSETUP.1)?);
    command.args(WITHOUT_UDEV).args(arguments).current_dir("/");
    Ok(program::run(command, rules)?.stdout.trim().to_owned())
}

/// Checks that the lab kernel has a driver.
fn offered(driver: &str, sign: &Path) -> Result<(), LabError> {
    if sign.exists() {
        return Ok(());
    }
    Err(LabError::Unavailable {
        reason: format!(
            "the lab kernel has no {driver}: build it again with `ssdlab kernel build`"
        ),
    })
}

/// A sparse file on a filesystem made on the drive with its defaults, as a loop device.
fn image(
    on: &Filesystem,
    drive: &BlockDevice,
    seed: u64,
    folder: &Path,
    rules: Rules<'_>,
) -> Result<(BlockDevice, String), LabError> {
    offered("loop devices", Path::new("/dev/loop-control"))?;
    let asked = MkfsOptions {
        journal: None,
        atime: None,
        // A second filesystem of the same identity could not be mounted.
        seed: !seed,
        extra: Vec::new(),
        pool: String::new(),
        mounted_at: String::new(),
    };
    format::mkfs(on, &asked, drive, rules)?;
    let store = folder.join("store");
    fs::create_dir(&store).map_err(LabError::step("make", &store))?;
    rustix::mount::mount(&drive.node, &store, on.name, MountFlags::empty(), None)
        .map_err(|errno| LabError::step("mount on", &store)(errno.into()))?;
    let space = statvfs(&store)
        .map_err(|errno| LabError::step("read the free space of", &store)(errno.into()))?;
    let bytes = space.f_bavail * space.f_frsize / 100 * IMAGE_PERCENT;
    let path = store.join("image");
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|file| {
            file.set_len(bytes - bytes % ALIGNMENT_BYTES)?;
            Ok(file)
        })
        .map_err(LabError::step("make", &path))?;
    let node = loop_device::find_free().map_err(LabError::step("attach", &path))?;
    loop_device::attach(&node, &file).map_err(LabError::step("attach", &path))?;
    if !loop_device::has_direct_io(&node) {
        return Err(LabError::Unavailable {
            reason: format!("{} takes no direct I/O of 512 bytes, as an image's", on.name),
        });
    }
    let device = BlockDevice::open(&node).map_err(LabError::step("open", &node))?;
    Ok((device, format!("a sparse file on {}, direct I/O", on.name)))
}

#[cfg(test)]
mod tests;
