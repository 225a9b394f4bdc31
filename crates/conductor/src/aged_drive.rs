//! Simulated drives with an aged filesystem.
//!
//! A drive's flash is a function of all requests since it was new. So the log of all requests of
//! the guest that aged it is kept, and the contents; a trial's drive is preconditioned in the same
//! way, given the same requests at the same times, and power-cycled.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex};

use ssdlab_disk::{Backend, Flash, Memory};
use ssdlab_flash::simulation;
use ssdlab_flash::{Command, Drive, Nanos, Specification};
use ssdlab_kernel::aged::{self as aged, AgedState};
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Age, HostModel, LabKind, Setup, Span, find_host};
use ssdlab_trace::{TraceOptions, TraceReader};

use super::ageing::{AgedFacts, AgeingInputs, shaping};
use super::drive_watch::locked;
use super::failure::Failure;
use super::guests::{Guests, conditioned, identity};
use super::hypervisor::{GUEST_TIMEOUT, GuestRun};
use super::inside::GuestJob;
use super::trial::{IMAGE, PREPARATION};

/// The file of a kept state with the requests of the guest that aged it.
const REQUESTS: &str = "requests";

impl Guests<'_> {
    /// A drive with the aged filesystem of a trial; if none is kept, a guest ages one first.
    pub(super) fn aged(
        &self,
        age: Age,
        setup: &Setup,
        specification: &Specification,
        host: &HostModel,
        trial: Trial,
    ) -> Result<(Flash, AgedState<AgedFacts>), Failure> {
        let simulated = &setup.simulated;
        let place = BTreeMap::from([
            ("lab", LabKind::Virtual.to_string()),
            ("lab_kernel", self.kernel(setup).kernel.identity.clone()),
            ("drive", identity(specification)),
            ("condition", simulated.condition.to_string()),
            ("host", identity_of_host(host)),
        ]);
        let made_from = AgeingInputs::new(age, setup, trial.seed, place, &self.toolbox)?;
        let fresh = || conditioned(specification, simulated, trial.seed, self.hypervisor.interrupt);
        let state = self.aged.get(&made_from, self.hypervisor.interrupt, |folder| {
            let flash = Arc::new(Mutex::new(Flash::new(fresh()?)));
            let facts = self.age(setup, host, trial, &flash, folder)?;
            let flash = locked(&flash);
            keep(flash.contents(), folder).map_err(Failure::step("keep a drive in", folder))?;
            // A state that cannot be reproduced would give every later trial another drive.
            let (expected, (again, _)) =
                (flash.drive().flash_counters(), replayed(fresh()?, folder)?);
            let found = again.flash_counters();
            if expected != found {
                return Err(Failure::Failed(format!(
                    "the log of ageing does not lead to the same drive: expected {expected:?}, \
                     found {found:?}"
                )));
            }
            Ok(facts)
        })?;
        let drive = switched_off(replayed(fresh()?, &state.folder)?)?;
        let image = state.folder.join(IMAGE);
        let contents = load(&image, specification.capacity_bytes());
        let contents = contents.map_err(Failure::step("load", &image))?;
        Ok((Flash::with_contents(drive, contents), state))
    }

    /// Has a guest age a drive.
    fn age(
        &self,
        setup: &Setup,
        host: &HostModel,
        trial: Trial,
        flash: &Arc<Mutex<Flash>>,
        folder: &Path,
    ) -> Result<AgedFacts, Failure> {
        let log = folder.join(REQUESTS);
        let log = BufWriter::new(File::create(&log).map_err(Failure::step("make", &log))?);
        let job = GuestJob::Ageing { setup: shaping(setup)?, seed: trial.seed };
        let run = GuestRun {
            name: &format!("ageing-{}", trial.position),
            kernel: self.kernel(setup),
            host,
            seed: trial.seed,
            limit: Nanos(8 * Span(PREPARATION).nanos()),
            timeout: GUEST_TIMEOUT,
            errors: None,
        };
        let (facts, _) = self.hypervisor.run(&run, &job, flash, Some(log), |_, _| ())?;
        facts
    }
}

/// Distinguishes a drawn host, or one from a file, from the shipped one of the same name.
fn identity_of_host(host: &HostModel) -> String {
    let HostModel { name, costs, memory_bytes, .. } = host;
    if find_host(name) == Some(host) {
        name.clone()
    } else {
        format!("{name} {costs} {memory_bytes}")
    }
}

/// Writes contents into a sparse file, without their zeros.
fn keep(contents: &Memory, folder: &Path) -> io::Result<()> {
    let mut file = File::create(folder.join(IMAGE))?;
    file.set_len(contents.capacity_bytes())?;
    contents.write_into(&mut file)
}

fn load(image: &Path, capacity_bytes: u64) -> io::Result<Memory> {
    let mut contents = Memory::new(capacity_bytes);
    aged::each_block(&File::open(image)?, |offset_bytes, block| {
        contents.write(Nanos::ZERO, offset_bytes, block).map_err(io::Error::other)?;
        Ok(())
    })?;
    Ok(contents)
}

/// A drive after all requests to the aged one, and the time of the last of them.
fn replayed(mut drive: Drive, folder: &Path) -> Result<(Drive, Nanos), Failure> {
    let log = folder.join(REQUESTS);
    let unreadable = |cause: &dyn std::fmt::Display| {
        Failure::Failed(format!("cannot read {}: {cause}", log.display()))
    };
    let file = File::open(&log).map_err(Failure::step("open", &log))?;
    let options = TraceOptions::default();
    let mut reader =
        TraceReader::detect(BufReader::new(file), &options).map_err(|e| unreadable(&e))?;
    let mut now = Nanos::ZERO;
    while let Some(request) = reader.next() {
        let request = request.map_err(|error| unreadable(&error))?;
        now = Nanos(request.submitted_ns + reader.began_ns().unwrap_or(0));
        for command in simulation::commands(&request) {
            drive.submit(now, command).map_err(|refusal| unreadable(&refusal))?;
        }
    }
    Ok((drive, now))
}

/// A drive that was flushed and power-cycled: its time begins again at 0.
fn switched_off((mut drive, now): (Drive, Nanos)) -> Result<Drive, Failure> {
    let flushed = drive.submit(now, Command::Flush);
    flushed.map_err(|refusal| Failure::Failed(format!("the aged drive fails: {refusal}")))?;
    drive.cut_power();
    drive.reset_counts();
    Ok(drive)
}
