//! The logs of a drive with NVM Express, by the kernel's passthrough of admin commands.
//!
//! Sources: NVM Express Base Specification, Get Log Page, SMART / Health Information (log 02h) and
//! Identify Controller; OCP Datacenter `NVMe` SSD Specification, SMART / Health Information
//! Extended (log C0h); `include/uapi/linux/nvme_ioctl.h`. Numbers are little-endian.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::wear::{self, DriveWear};

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const HEALTH_LOG: u32 = 0x02;
const EXTENDED_LOG: u32 = 0xc0;

/// Identify: of the controller.
const CONTROLLER: u32 = 1;
const ALL_NAMESPACES: u32 = u32::MAX;

/// In Identify Controller, the optional admin commands, and the bit for managing namespaces.
const OPTIONAL_COMMANDS: usize = 256;
const MANAGES_NAMESPACES: u8 = 1 << 3;

/// By which C0h, a vendor-specific number, is known to be OCP's log.
const EXTENDED_GUID: u128 = 0xafd5_14c9_7c6f_4f9c_a4f2_bfea_2810_afc5;

/// In the health log, the bit of the critical warning that says only that the drive is hot or cold.
const TEMPERATURE: u64 = 0b10;

const LOG_BYTES: usize = 512;
/// The number of 32-bit words of a log less one, in the upper half of Command Dword 10.
const LOG_WORDS: u32 = 127 << 16;

/// One of the two logs.
type Log = [u8; LOG_BYTES];

/// No extended log.
const NONE: Log = [0; LOG_BYTES];

/// Asks for the health, all that records keep; `None` if it is no such drive, or does not tell.
pub(super) fn health(node: &Path) -> Option<DriveWear> {
    told(&ask_health(&open(node)?)?, &NONE)
}

/// The same with what it wrote to its flash, if it tells.
pub(super) fn read(node: &Path) -> Option<DriveWear> {
    let drive = open(node)?;
    let health = ask_health(&drive)?;
    let mut extended = NONE;
    // A drive counts a request for a log that it has not among its errors, of which smartd warns
    // (smartmontools#208).
    if manages_namespaces(&drive) {
        let _ = ask(&drive, log_page(EXTENDED_LOG), &mut extended);
    }
    told(&health, &extended)
}

fn open(node: &Path) -> Option<File> {
    // Device mapper would pass commands on to what lies below it, under any name.
    let number = node.file_name()?.as_bytes().strip_prefix(b"nvme")?;
    if node.parent() != Some(Path::new("/dev")) || !number.first()?.is_ascii_digit() {
        return None;
    }
    File::open(node).ok()
}

fn ask_health(drive: &File) -> Option<Log> {
    let mut health = NONE;
    ask(drive, log_page(HEALTH_LOG), &mut health).map(|()| health)
}

/// Whether a drive manages namespaces, as OCP demands (`NVMe` Cloud SSD Specification, 4.4.1) and
/// few drives for consumers do.
fn manages_namespaces(drive: &File) -> bool {
    let mut controller = [0; 4096];
    let identify = AdminCommand {
        opcode: IDENTIFY,
        words: [CONTROLLER, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    ask(drive, identify, &mut controller).is_some()
        && controller[OPTIONAL_COMMANDS] & MANAGES_NAMESPACES != 0
}

/// What the two logs tell; `None` if the first is empty.
fn told(health: &Log, extended: &Log) -> Option<DriveWear> {
    if health.iter().all(|byte| *byte == 0) {
        return None;
    }
    let used = u64::from(health[5]);
    let kelvin = i64::from(u16::from_le_bytes([health[1], health[2]]));
    let host_written_bytes = count(health, 48).and_then(host_written_bytes);
    let is_ocp = number(extended, 496) == EXTENDED_GUID;
    let flash_written_bytes = is_ocp.then(|| count(extended, 0)).flatten();
    Some(DriveWear {
        used_percent: Some([used, used]),
        spare_blocks: None,
        spare_percent: spare_percent(u64::from(health[3]), u64::from(health[4])),
        is_failing: is_failing(u64::from(health[0])),
        host_written_bytes,
        flash_written_bytes,
        amplification: wear::amplification(flash_written_bytes, host_written_bytes),
        power_on_hours: count(health, 128),
        temperature_c: (kelvin > 0).then_some(kelvin - 273),
    })
}

/// Whether a critical warning is of more than the temperature: of the spare, the reliability, the
/// backup of memory, or that nothing can be written any more.
pub(super) fn is_failing(critical_warning: u64) -> bool {
    critical_warning & !TEMPERATURE != 0
}

/// The bytes of so many data units: thousands of 512 bytes, rounded up; 0 stands for unknown.
pub(super) fn host_written_bytes(data_units: u64) -> Option<u64> {
    data_units.checked_mul(512_000).filter(|bytes| *bytes > 0)
}

/// The spare that is left; a drive that has neither spare nor a threshold for it does not tell.
pub(super) fn spare_percent(left: u64, threshold: u64) -> Option<u64> {
    (left > 0 || threshold > 0).then_some(left)
}

/// A counter of 128 bits, if it can be true.
fn count(log: &Log, first: usize) -> Option<u64> {
    u64::try_from(number(log, first)).ok()
}

fn number(log: &Log, first: usize) -> u128 {
    log[first..first + 16].iter().rev().fold(0, |above, byte| above << 8 | u128::from(*byte))
}

/// `struct nvme_admin_cmd`.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    /// Command Dwords 10 to 15.
    words: [u32; 6],
    /// 0 is the kernel's own limit; after a shorter one it would reset the drive.
    timeout_ms: u32,
    result: u32,
}

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const ADMIN_COMMAND: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;

fn log_page(log: u32) -> AdminCommand {
    AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        words: [LOG_WORDS | log, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    }
}

/// Has a drive perform a command that reads, which only root may.
fn ask(drive: &File, mut command: AdminCommand, answer: &mut [u8]) -> Option<()> {
    command.address = answer.as_mut_ptr().expose_provenance() as u64;
    command.data_bytes = u32::try_from(answer.len()).ok()?;
    // SAFETY: the kernel reads and writes the command, and writes to no more than `data_bytes` at
    // `address`, which are those of `answer`.
    let status = unsafe { libc::ioctl(drive.as_raw_fd(), ADMIN_COMMAND, &raw mut command) };
    // What is above 0 is the drive's own refusal.
    (status == 0).then_some(())
}

#[cfg(test)]
mod tests;
