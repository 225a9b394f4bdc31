//! Loop devices through their ioctls.
//!
//! Source: drivers/block/loop.c and include/uapi/linux/loop.h; `LOOP_CONFIGURE` needs Linux 5.8.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use linux_raw_sys::loop_device::{LO_FLAGS_DIRECT_IO, loop_config};
use rustix::ioctl::{self, IntegerSetter, NoArg, Setter};

const LOOP_CLR_FD: ioctl::Opcode = 0x4c01;
const LOOP_CONFIGURE: ioctl::Opcode = 0x4c0a;
const LOOP_CTL_GET_FREE: ioctl::Opcode = 0x4c82;
const LOOP_SET_DIRECT_IO: ioctl::Opcode = 0x4c08;

/// A loop device nobody uses at this moment; somebody else may take it before we do.
pub fn find_free() -> io::Result<PathBuf> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and returns the number as its result.
    let number = unsafe { ioctl::ioctl(&control, FreeNumber) }?;
    Ok(PathBuf::from(format!("/dev/loop{number}")))
}

/// Attaches `device` to `file`, with direct I/O and 512-byte logical blocks as a drive has.
/// `EBUSY` means that somebody else took the device first.
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

/// Detaches `device` from its file, at once or when the last user closes it.
pub fn detach(device: &Path) -> io::Result<()> {
    let node = OpenOptions::new().read(true).open(device)?;
    // SAFETY: LOOP_CLR_FD takes no argument.
    Ok(unsafe { ioctl::ioctl(&node, NoArg::<LOOP_CLR_FD>::new()) }?)
}

/// The file behind a loop device; `None` if it is not attached or no loop device.
#[must_use]
pub fn backing_file(device: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(attribute(device, "backing_file")?).ok()?;
    Some(PathBuf::from(text.trim_end_matches('\n').trim_end_matches(" (deleted)")))
}

/// Whether the loop device bypasses the page cache of the filesystem its file is on.
#[must_use]
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
