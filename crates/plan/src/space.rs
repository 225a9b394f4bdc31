//! The space that a workload takes, beside what a filesystem holds before it.

use ssdlab_quantity::Bytes;

use super::bonnie::Bonnie;
use super::error::PlanFault;
use super::schedule::{Action, Build, FileTree, Workload};
use super::setup::{Amount, Setup};
use super::target::Target;
use super::transactions::STREAM_BYTES;

/// The maximum growth of a tree by a synthetic build, as a factor (objects and links).
const BUILD_GROWTH: f64 = 1.8;

/// Refuses a workload that cannot fit, if the size of the device is known.
pub(super) fn check(workload: &Workload, setup: &Setup, target: &Target) -> Result<(), PlanFault> {
    let (device, what, help) = match *target {
        Target::Image { size_bytes, .. } => (size_bytes, "image", "size in [target]"),
        Target::Virtual { capacity_bytes: Some(capacity) } => {
            (capacity, "drive", "--capacity (`capacity` in [virtual])")
        }
        _ => return Ok(()),
    };
    if let Some(filesystem) = setup.filesystem
        && device < filesystem.smallest_bytes
    {
        return Err(PlanFault::nowhere(
            format!("a size of {} is too small for {}", Bytes(device), filesystem.name),
            format!("set the {help} to {} or more", Bytes(filesystem.smallest_bytes)),
        ));
    }
    let before = bytes_before(setup, device);
    let beside = match (setup.prefill, setup.age) {
        (None, None) => String::new(),
        (Some(_), None) => format!(" besides a prefill of {}", Bytes(before)),
        (None, Some(_)) => format!(" besides {} of an aged filesystem", Bytes(before)),
        (Some(_), Some(_)) => format!(" besides {} of a prefill and an age", Bytes(before)),
    };
    let refused = |what_needs: &str, needed: u64, other: &str| {
        let what = format!(
            "{what_needs} about {}{beside}, but the {what} has {}",
            Bytes(needed),
            Bytes(device)
        );
        Err(PlanFault::nowhere(what, format!("set a larger {help}, or a smaller {other}")))
    };
    let free = device.saturating_sub(before);
    let (needed, stale) = (needed_bytes(workload), bytes_of(setup.stale, device));
    match setup.prefill {
        // Stale data are deleted before the workload begins.
        _ if stale > free => refused("stale data need", stale, "stale or prefill"),
        _ if needed <= free => Ok(()),
        Some(_) => refused("the workload needs", needed, "prefill or --scale"),
        None => refused("the workload needs", needed, "--scale"),
    }
}

/// A lower bound of the space that the workload takes: each file and half a block.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are positive")]
fn needed_bytes(workload: &Workload) -> u64 {
    let files = |files: u64, bytes: u64| bytes.saturating_add(files.saturating_mul(2048));
    let tree = match &workload.tree {
        Some(FileTree::Synthetic { files: count, bytes }) => files(*count, *bytes),
        _ => 0,
    };
    let build = match &workload.build {
        Some(Build::Synthetic { files: count, bytes }) => {
            (files(*count, *bytes) as f64 * BUILD_GROWTH) as u64
        }
        _ => 0,
    };
    let bonnie = workload.bonnie.as_ref().map_or(0, Bonnie::needed_bytes);
    let work = tree.saturating_add(build).saturating_add(bonnie);
    let files: u64 = workload.files().values().sum();
    let stream = workload.phases.iter().filter_map(|phase| match &phase.action {
        Action::Transactions(work) => Some(work.streamed_bytes().min(STREAM_BYTES)),
        _ => None,
    });
    let stream = stream.max().unwrap_or(0);
    let added = workload.phases.iter().filter_map(|phase| match &phase.action {
        Action::Database(work) => Some(work.shape.bytes()),
        Action::Sequences(work) => Some(work.bytes()),
        Action::Io(io) => Some(io.appended_bytes()),
        _ => None,
    });
    let files = added.fold(files, u64::saturating_add);
    work.saturating_add(files).saturating_add(stream)
}

/// What a filesystem holds before the first phase, which no scale multiplies.
fn bytes_before(setup: &Setup, device: u64) -> u64 {
    // An aged filesystem has the rest free.
    let aged = setup.age.map_or(0, |age| device / 100 * age.profile.fill_percent);
    bytes_of(setup.prefill, device).saturating_add(aged)
}

fn bytes_of(amount: Option<Amount>, device: u64) -> u64 {
    amount.map_or(0, |amount| amount.bytes_of(device))
}

#[cfg(test)]
mod tests;
