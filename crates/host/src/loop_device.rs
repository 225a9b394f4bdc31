//! Loop devices through their ioctls.
//!
//! Source: drivers/block/loop.c and include/uapi/linux/loop.h; `LOOP_CONFIGURE` needs Linux 5.8.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use linux_raw_sys::loop_device::{LO_FLAGS_DIRECT_IO, loop_config, loop_info64};
use rustix::ioctl::{self, Getter, IntegerSetter, NoArg, Setter};

use super::file_id::FileId;
use super::sysfs::major_minor;

const LOOP_CLR_FD: ioctl::Opcode = 0x4c01;
const LOOP_GET_STATUS64: ioctl::Opcode = 0x4c05;
const LOOP_CONFIGURE: ioctl::Opcode = 0x4c0a;
const LOOP_CTL_GET_FREE: ioctl::Opcode = 0x4c82;
const LOOP_SET_DIRECT_IO: ioctl::Opcode = 0x4c08;

/// A currently unused loop device; another process may take it before we do.
pub fn find_free() -> io::Result<PathBuf> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and returns the number as its result.
    let number = unsafe { ioctl::ioctl(&control, FreeNumber) }?;
    Ok(PathBuf::from(format!("/dev/loop{number}")))
}

/// Attaches `device` to `file`, with direct I/O and 512-byte logical blocks as a drive has. `EBUSY`
/// means that another process took the device first.
pub fn attach(device: &Path, file: &File) -> io::Result<()> {
    let node = OpenOptions::new().read(true).write(true).open(device)?;
    // SAFETY: loop_config is plain old data for which all zeros is a valid value.
    let mut config: loop_config = unsafe { std::mem::zeroed() };
    config.fd = file.as_raw_fd().cast_unsigned();
    config.block_size = 512;
    config.info.lo_flags = LO_FLAGS_DIRECT_IO as u32;
    // SAFETY: the opcode takes a pointer to a loop_config, which the kernel only reads.
    unsafe { ioctl::ioctl(&node, Setter::<LOOP_CONFIGURE, loop_config>::new(config)) }?;
    // Kernels before 6.12 drop the flag silently when the file is not open for direct I/O yet.
    if !has_direct_io(device) {
        // SAFETY: LOOP_SET_DIRECT_IO takes an integer by value. A refusal is seen by reading
        // the setting back.
        let _ = unsafe { ioctl::ioctl(&node, IntegerSetter::<LOOP_SET_DIRECT_IO>::new_usize(1)) };
    }
    Ok(())
}

/// Detaches `device` from this file, at once or when the last user closes it; false if it is not
/// backed by it.
pub fn detach(device: &Path, file: FileId) -> io::Result<bool> {
    // It cannot be attached to another file while it is open here.
    let node = OpenOptions::new().read(true).open(device)?;
    if status(&node)?.is_none_or(|backing| backing.file != file) {
        return Ok(false);
    }
    // SAFETY: LOOP_CLR_FD takes no argument.
    unsafe { ioctl::ioctl(&node, NoArg::<LOOP_CLR_FD>::new()) }?;
    Ok(true)
}

/// The backing file of a loop device, by the kernel's name for it; `None` if it is not attached or
/// not a loop device.
pub fn backing_file(device: &Path) -> Option<PathBuf> {
    let mut name = fs::read(attribute(device, "backing_file")?).ok()?;
    for ending in [&b"\n"[..], b" (deleted)"] {
        name.truncate(name.strip_suffix(ending).unwrap_or(&name).len());
    }
    Some(PathBuf::from(OsString::from_vec(name)))
}

/// The backing of a loop device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backing {
    /// Its file, or the node of the block device.
    pub file: FileId,
    /// The backing block device, as `major:minor`, if it is not a file.
    pub device: Option<String>,
}

/// The backing of a loop device; `None` if it is not attached or not a loop device.
pub fn backing(device: &Path) -> io::Result<Option<Backing>> {
    if backing_file(device).is_none() {
        return Ok(None);
    }
    status(&OpenOptions::new().read(true).open(device)?)
}

fn status(node: &File) -> io::Result<Option<Backing>> {
    // SAFETY: LOOP_GET_STATUS64 fills a loop_info64, for which all bit patterns are valid.
    let info = unsafe { ioctl::ioctl(node, Getter::<LOOP_GET_STATUS64, loop_info64>::new()) };
    let info = match info {
        Ok(info) => info,
        // It is not attached, or no longer.
        Err(rustix::io::Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let number = info.lo_rdevice;
    let device = (number != 0).then(|| major_minor(number));
    let file = FileId { filesystem: info.lo_device, inode: info.lo_inode };
    Ok(Some(Backing { file, device }))
}

/// Whether the loop device bypasses the page cache of the filesystem its file is on.
pub fn has_direct_io(device: &Path) -> bool {
    attribute(device, "dio")
        .and_then(|path| fs::read_to_string(path).ok())
        .is_some_and(|text| text.trim() == "1")
}

fn attribute(device: &Path, name: &str) -> Option<PathBuf> {
    Some(Path::new("/sys/block").join(device.file_name()?).join("loop").join(name))
}

/// `LOOP_CTL_GET_FREE`: the answer is the ioctl's return value.
struct FreeNumber;

// SAFETY: the opcode takes no argument, does not touch memory, and the output is only read
// from the return value.
unsafe impl ioctl::Ioctl for FreeNumber {
    type Output = u32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> ioctl::Opcode {
        LOOP_CTL_GET_FREE
    }

    fn as_ptr(&mut self) -> *mut std::ffi::c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(
        output: ioctl::IoctlOutput,
        _: *mut std::ffi::c_void,
    ) -> rustix::io::Result<u32> {
        u32::try_from(output).map_err(|_| rustix::io::Errno::RANGE)
    }
}
