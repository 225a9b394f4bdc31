//! Has guests of the virtual lab perform operations, to measure their processor time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ssdlab_disk::Flash;
use ssdlab_filesystem::Filesystem;
use ssdlab_flash::{Drive, Specification, presets};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::LabKernel;
use ssdlab_lab as lab;
use ssdlab_plan::{Costs, HostModel, Span, find_host};

use super::computing::{ChargedCounts, Computing, Times};
use super::error::{ComputingError, GuestsError, TaskError};
use super::failure::Failure;
use super::hypervisor::{GUEST_TIMEOUT, GuestRun, Hypervisor, LoadedKernel};
use super::inside::GuestJob;

/// A drive that takes no time, with room for the operations.
const DRIVE: &str = "ideal";

/// What guests are asked for.
const TASK: &str = "perform operations in the virtual lab";

/// A host whose processor takes no time.
const FREE: &str = "infinite";

/// How long the operations may take in virtual time.
const LIMIT: Duration = Duration::from_mins(10);

/// The virtual lab, where operations are performed on one filesystem.
pub struct ComputingLab<'a> {
    hypervisor: Hypervisor<'a>,
    kernel: LoadedKernel,
    filesystem: &'static Filesystem,
    performed: u32,
}

impl<'a> ComputingLab<'a> {
    /// Opens it for hosts with at most this much memory. Fails if this machine or the kernel lacks
    /// something that the filesystem needs.
    pub fn open(
        kernel: LabKernel,
        filesystem: &'static Filesystem,
        memory_bytes: u64,
        interrupt: &'a Interrupt,
        journal: &mut Journal,
    ) -> Result<Self, ComputingError> {
        let hypervisor = Hypervisor::open(memory_bytes, interrupt, journal)?;
        let kernel = hypervisor.load(kernel)?;
        let lacks = |failure: Failure| failure.of_task(TASK, interrupt);
        let toolbox = Toolbox::for_guests([filesystem.mkfs]);
        if let Some(reason) = lab::missing_in_guest(filesystem, &kernel.filesystems, &toolbox) {
            return Err(lacks(Failure::Unavailable(reason)).into());
        }
        let mkfs = toolbox
            .find(filesystem.mkfs, filesystem.package)
            .map_err(|error| lacks(error.into()))?;
        hypervisor.root.add_program(&mkfs, hypervisor.rules()).map_err(GuestsError::from)?;
        Ok(Self { hypervisor, kernel, filesystem, performed: 0 })
    }

    /// Performs the operations on a new filesystem, made with defaults but for a level of checksums
    /// and mounted with noatime; with such a level, a synced write, too. The processor time is that
    /// which the lab charges the process for.
    pub fn perform(
        &mut self,
        host: &HostModel,
        checksums: Option<&str>,
    ) -> Result<Times, TaskError> {
        let interrupt = self.hypervisor.interrupt;
        self.times(host, checksums).map_err(|failure| failure.of_task(TASK, interrupt))
    }

    /// The counts of the operations, in their order, measured by charging for one kind of work at a
    /// time; the filesystem has its defaults. Fails as [`ComputingLab::perform`] does.
    pub fn counts(&mut self) -> Result<Vec<ChargedCounts>, TaskError> {
        // The charges, in ns a unit, are like those of a computer: filesystems ask how late it is.
        let mut charged = |charge: &dyn Fn(&mut Costs), ns: u32| -> Result<Vec<f64>, TaskError> {
            let mut host = find_host(FREE).expect("it comes with the program").clone();
            charge(&mut host.costs);
            let times = self.perform(&host, None)?;
            Ok(times.iter().map(|(_, time)| *time as f64 / f64::from(ns)).collect())
        };
        let blocks = charged(&|costs| costs.block_ps = 1000, 1)?;
        let calls = charged(&|costs| costs.call_ns = 1000, 1000)?;
        let copied = charged(&|costs| costs.copy_ns = 100, 100)?;
        let checksummed = charged(&|costs| costs.crc32_ns = 100, 100)?;
        let of = |index: usize| ChargedCounts {
            blocks: blocks[index],
            calls: calls[index],
            copied_kib: copied[index],
            checksummed_kib: checksummed[index],
        };
        Ok((0..blocks.len()).map(of).collect())
    }

    fn times(&mut self, host: &HostModel, checksums: Option<&str>) -> Result<Times, Failure> {
        self.performed += 1;
        let name = format!("computing-{}", self.performed);
        let run = GuestRun {
            name: &name,
            kernel: &self.kernel,
            host,
            seed: 1,
            limit: Span(LIMIT).into(),
            timeout: GUEST_TIMEOUT,
            errors: None,
        };
        let job = GuestJob::Computing(Computing {
            filesystem: self.filesystem.name.to_owned(),
            checksums: checksums.map(str::to_owned),
        });
        let drive = presets::find(DRIVE).expect("it comes with the program").text;
        let specification = Specification::parse(drive).expect("a test parses every preset");
        let flash = Arc::new(Mutex::new(Flash::new(Drive::new(specification, 1))));
        let (times, _): (Result<Times, String>, _) =
            self.hypervisor.run(&run, &job, &flash, None, |_, _| ())?;
        times.map_err(Failure::Failed)
    }
}
