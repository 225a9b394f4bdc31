//! Has a guest of the virtual lab perform operations, to measure their processor time.

use std::fs;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ssdlab_disk::{Disk, Flash, Shape};
use ssdlab_filesystem::Filesystem;
use ssdlab_flash::{Drive, Nanos, Specification, presets};
use ssdlab_guest::{Channel, Machine, Message, Root, room};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, Rules};
use ssdlab_kernel::LabKernel;
use ssdlab_plan::HostModel;

use super::computing::{Computing, Times};
use super::inside::Job;
use super::measure::nanos;

/// A drive that takes no time, with room for the operations.
const DRIVE: &str = "ideal";

/// How long a guest may take, by the clock and in virtual time.
const LIMIT: Duration = Duration::from_mins(10);

/// Performs the operations in the virtual lab, on a filesystem made with defaults and mounted with
/// noatime; the processor time is that which the lab charges the process for.
pub fn compute_in_lab(
    kernel: &LabKernel,
    filesystem: &Filesystem,
    host: &HostModel,
    interrupt: &Interrupt,
) -> io::Result<Times> {
    let place = tempfile::tempdir()?;
    let [root, folder] = ["root", "guest"].map(|name| place.path().join(name));
    fs::create_dir(&root)?;
    fs::create_dir(&folder)?;
    let rules = Rules { marker: "computing", limit: LIMIT, interrupt };
    let root = Root::make(&root, rules).map_err(io::Error::other)?;
    let mkfs = program::find(filesystem.mkfs, filesystem.package).map_err(io::Error::other)?;
    root.add_program(&mkfs, rules).map_err(io::Error::other)?;
    let memory = room(host.memory_bytes).map_err(io::Error::other)?;
    let machine = Machine {
        kernel: &kernel.path,
        root: &root,
        folder: &folder,
        memory: &memory,
        host,
        seed: 1,
        limit: Nanos(nanos(LIMIT)),
        patience: LIMIT,
        marker: "computing",
    };
    let done = Mutex::new(None);
    let job = Job::Computing(Computing { filesystem: filesystem.name.to_owned() });
    let channel = Channel::new(&job, |_, message| {
        if let Message::Done(answer) = message {
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
    });
    let drive = presets::find(DRIVE).expect("it comes with the program").text;
    let specification = Specification::parse(drive).expect("a test parses every preset");
    let mut flash = Flash::new(Drive::new(specification, 1));
    let door = |name| machine.door(name).map_err(io::Error::other);
    let mut disks = [
        Disk::new("drive", door("drive")?, &mut flash, Shape::default())
            .map_err(io::Error::other)?,
        Disk::new("channel", door("channel")?, channel, Shape::default())
            .map_err(io::Error::other)?,
    ];
    let ended = machine.run(&mut disks, interrupt).map_err(io::Error::other)?;
    drop(disks);
    let answer = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let answer = answer.ok_or_else(|| {
        io::Error::other(format!("the guest ended without an answer: {}", ended.console))
    })?;
    let times: Result<Times, String> = serde_json::from_value(answer)?;
    times.map_err(io::Error::other)
}
