//! Simulated drives with an aged filesystem.
//!
//! A drive's flash is a function of what it was asked since it was new. So what is kept is the log
//! of all requests of the guest that aged it, and the contents; a trial's drive is conditioned as
//! that one was, asked the same at the same times, and switched off and on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ssdlab_aged::{self as aged, State};
use ssdlab_disk::{Backend, Flash, Memory};
use ssdlab_flash::{Command, Drive, Nanos, Specification};
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Age, HostModel, LabKind, Setup};
use ssdlab_simulation as simulation;
use ssdlab_trace::{Options, Reader};

use super::ageing::{Facts, MadeFrom, shaping};
use super::failure::Failure;
use super::guests::{Guests, Run, conditioned, identity};
use super::inside::Job;
use super::measure::nanos;
use super::trial::{IMAGE, PREPARATION};

/// The file of a kept state that has the requests of who aged it.
const REQUESTS: &str = "requests";

impl Guests<'_> {
    /// A drive with the aged filesystem of a trial, which another guest has aged if none is kept.
    pub(super) fn aged(
        &self,
        age: Age,
        setup: &Setup,
        specification: &Specification,
        host: &HostModel,
        trial: Trial,
    ) -> Result<(Flash, State<Facts>), Failure> {
        let simulated = &setup.simulated;
        let place = BTreeMap::from([
            ("lab", LabKind::Virtual.to_string()),
            ("lab_kernel", self.kernel.identity.clone()),
            ("drive", identity(specification)),
            ("condition", format!("{:?}", simulated.condition)),
            ("host", identity_of_host(host, simulated.host)),
        ]);
        let made_from = MadeFrom::new(age, setup, trial.seed, place)?;
        let fresh = || conditioned(specification, simulated, trial.seed, self.interrupt);
        let state = self.aged.get(&made_from, self.interrupt, |folder| {
            let flash = Arc::new(Mutex::new(Flash::new(fresh()?)));
            let facts = self.age(setup, host, trial, &flash, folder)?;
            let flash = flash.lock().unwrap_or_else(PoisonError::into_inner);
            keep(flash.contents(), folder).map_err(Failure::step("keep a drive in", folder))?;
            // What cannot be had again would be another drive in every trial from here on.
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
    ) -> Result<Facts, Failure> {
        let log = folder.join(REQUESTS);
        let log = BufWriter::new(File::create(&log).map_err(Failure::step("make", &log))?);
        let job = Job::Ageing { setup: shaping(setup)?, seed: trial.seed };
        let run = Run {
            name: &format!("ageing-{}", trial.position),
            host,
            seed: trial.seed,
            limit: Nanos(8 * nanos(PREPARATION)),
        };
        let (facts, _) = self.run(&run, &job, flash, Some(log), |_, _| ())?;
        facts
    }
}

/// Tells a drawn host from the one of the name.
fn identity_of_host(host: &HostModel, named: &HostModel) -> String {
    if host == named { host.name.clone() } else { format!("{} {}", host.name, host.costs) }
}

/// Writes what is not zeros into a sparse file.
fn keep(contents: &Memory, folder: &Path) -> io::Result<()> {
    let file = File::create(folder.join(IMAGE))?;
    file.set_len(contents.capacity_bytes())?;
    contents.pages().try_for_each(|(offset_bytes, page)| file.write_all_at(page, offset_bytes))
}

fn load(image: &Path, capacity_bytes: u64) -> io::Result<Memory> {
    let mut contents = Memory::new(capacity_bytes);
    aged::each_block(&File::open(image)?, |offset_bytes, block| {
        contents.write(Nanos::ZERO, offset_bytes, block).map_err(io::Error::other)?;
        Ok(())
    })?;
    Ok(contents)
}

/// A drive after all that the one that was aged was asked, and the time of the last of it.
fn replayed(mut drive: Drive, folder: &Path) -> Result<(Drive, Nanos), Failure> {
    let log = folder.join(REQUESTS);
    let unreadable = |cause: &dyn std::fmt::Display| {
        Failure::Failed(format!("cannot read {}: {cause}", log.display()))
    };
    let file = File::open(&log).map_err(Failure::step("open", &log))?;
    let options = Options::default();
    let mut reader = Reader::detect(BufReader::new(file), &options).map_err(|e| unreadable(&e))?;
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

/// A drive that was told to keep everything, and is off and on again: its time begins anew.
fn switched_off((mut drive, now): (Drive, Nanos)) -> Result<Drive, Failure> {
    let flushed = drive.submit(now, Command::Flush);
    flushed.map_err(|refusal| Failure::Failed(format!("the aged drive fails: {refusal}")))?;
    drive.cut_power();
    drive.reset_counts();
    Ok(drive)
}
