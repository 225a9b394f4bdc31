//! The lab inside a guest: its drive has no other users, and is new or aged.

use std::fs;
use std::path::Path;

use ssdlab_host::sysfs::BlockDevice;

use super::block::{BlockLab, DeviceSource};
use super::layout::Owners;
use super::{Lab, LabError, Tools};

/// The first disk the guest finds.
const DRIVE: &str = "/dev/vda";

#[derive(Debug)]
pub(super) struct GuestDrive;

/// Opens the lab inside a guest of the virtual lab.
pub fn open(tools: &mut Tools<'_>) -> Result<Box<dyn Lab>, LabError> {
    Ok(Box::new(BlockLab::new(GuestDrive, tools)?))
}

impl DeviceSource for GuestDrive {
    fn attach(&mut self, _: Option<&Path>, _: &mut Tools<'_>) -> Result<BlockDevice, LabError> {
        let node = Path::new(DRIVE);
        let device = BlockDevice::open(node).map_err(LabError::step("open", node))?;
        // The virtio driver marks every disk as rotational, which btrfs and bfq use.
        let rotational = device.queue_attribute("rotational");
        fs::write(&rotational, "0").map_err(LabError::step("set", &rotational))?;
        Ok(device)
    }

    fn owners(&self) -> Owners {
        Owners::Told
    }

    fn may_fail(&self) -> bool {
        false
    }

    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)> {
        let bytes = device.size_bytes().unwrap_or(0);
        vec![("drive_bytes".to_owned(), bytes.to_string())]
    }
}
