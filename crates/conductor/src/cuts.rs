//! Cuts the power of simulated drives: the trial has run once, and its log says what a drive may
//! hold after a cut at any moment; guests recover these states, many in a row each.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ssdlab_disk::{BackendError, Flash, Memory};
use ssdlab_flash::{Nanos, PowerCuts};
use ssdlab_host::program;
use ssdlab_operations::cuts::{CutMoment, CutOutcome, DataVerdict, Recovery};
use ssdlab_plan::Span;

use super::assignment::for_guest;
use super::drive_watch::locked;
use super::evidence::{CutCase, CuttableTrial};
use super::failure::Failure;
use super::guests::Guests;
use super::hypervisor::GuestRun;
use super::images::{Images, LoggedRequests};
use super::inside::GuestJob;
use super::message::Message;
use super::recovery::{DataCheck, Recoveries};
use super::trial::PREPARATION;

/// Cuts that one guest recovers from. What a guest has seen before may change how long it takes by
/// a little, so the number is part of the result.
const OF_A_GUEST: usize = 100;

/// How long a recovery may compute, in real time, without issuing a request: it takes milliseconds.
const RECOVERY_TIMEOUT: Duration = Duration::from_mins(1);

/// Makes the contents that a case leaves.
type ImageSource<'a> = dyn FnMut(&CutCase) -> Result<Memory, BackendError> + Send + 'a;

/// Hears the recovery of a case, and what files it has.
type RecoverySink<'a> = dyn FnMut(&CutCase, Recovery, PackedFiles) + Send + 'a;

/// The files of a recovered filesystem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackedFiles {
    /// A tar archive of them; empty if they were not asked for, or could not be mounted.
    pub archive: Vec<u8>,
    /// The names of which something is missing there, each with the reason.
    pub unreadable: Vec<String>,
}

/// What guests recover from, one case after the other.
struct CaseSeries<'a> {
    cases: std::vec::IntoIter<CutCase>,
    /// Makes the contents that a case leaves.
    image: &'a mut ImageSource<'a>,
    current: Option<CutCase>,
    /// Called with the recovery of each case.
    recovered: &'a mut RecoverySink<'a>,
    /// The files that the current case left, if they were asked for.
    packed: PackedFiles,
    refused: Option<String>,
}

impl CaseSeries<'_> {
    fn hear<T>(&mut self, flash: &Mutex<Flash>, message: &Message<T>) {
        match message {
            Message::Next => {
                self.current = self.cases.next();
                self.fill(flash);
            }
            Message::Again => self.fill(flash),
            Message::Packed(piece) => self.packed.archive.extend(piece),
            Message::Unreadable(name) => self.packed.unreadable.push(name.clone()),
            Message::Recovered(recovery) => self.enter(recovery.clone()),
            _ => {}
        }
    }

    /// Has the drive hold what the current case leaves.
    fn fill(&mut self, flash: &Mutex<Flash>) {
        let Some(case) = self.current else { return };
        match (self.image)(&case) {
            Ok(image) => locked(flash).replace_contents(image),
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    fn enter(&mut self, recovery: Recovery) {
        let packed = mem::take(&mut self.packed);
        if let Some(case) = self.current.take() {
            (self.recovered)(&case, recovery, packed);
        }
    }
}

impl Guests<'_> {
    /// Cuts the power of a trial's drive, and examines what is left each time. Where the same is
    /// left as after another cut, its recovery is that one's.
    pub(super) fn cut(&self, evidence: &CuttableTrial<'_>) -> Result<Vec<CutOutcome>, Failure> {
        self.cut_telling(evidence, &|_, _| ())
    }

    /// The same, which may take minutes: tells how many states are recovered, and of how many.
    pub(super) fn cut_telling(
        &self,
        evidence: &CuttableTrial<'_>,
        tell: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Vec<CutOutcome>, Failure> {
        let mut cuts = evidence.power_cuts()?;
        let cases = evidence.cases(&cuts);
        if evidence.asked.check.is_some() {
            self.check_uncut(evidence)?;
        }
        let said = |case: &CutCase| match evidence.asked.check {
            Some(_) => evidence.trial_log.said_before(case.at),
            None => 0,
        };
        let (different, recovery_of) = different(evidence.requests, &mut cuts, &cases, said);
        let mut images = Images::new(evidence.requests, evidence.original);
        let mut image = |case: &CutCase| {
            let cut = cuts.at(case.at);
            images.of(&cut, &cut.survivor(case.seed))
        };
        let (mut recoveries, states) = (Vec::new(), different.len());
        self.recover_each(evidence, different, &mut image, &mut |_, recovery, _| {
            recoveries.push(recovery);
            tell(recoveries.len(), states);
        })?;
        let recovered = cases.iter().zip(recovery_of);
        let outcome = |(case, of): (&CutCase, usize)| {
            evidence.outcome(case, u32::try_from(of).ok(), recoveries[of].clone())
        };
        Ok(recovered.map(outcome).collect())
    }

    /// Whether requests of trials fail.
    fn has_errors(&self) -> bool {
        let system = self.schedule.workload.system.as_ref();
        system.is_some_and(|system| system.write_errors.is_some())
    }

    /// Has the plan's own check judge what the trial leaves if the power is never cut. A check that
    /// rejects even that, for want of a program or by mistake, would say nothing of power cuts.
    fn check_uncut(&self, evidence: &CuttableTrial<'_>) -> Result<(), Failure> {
        let end = Nanos(u64::MAX);
        let case = CutCase { cut: 0, survivor: 0, at: end, moment: CutMoment::Random, seed: 0 };
        let mut cuts = evidence.power_cuts()?;
        let mut images = Images::new(evidence.requests, evidence.original);
        let mut image = |case: &CutCase| {
            let cut = cuts.at(case.at);
            images.of(&cut, &cut.losing(&BTreeSet::new()))
        };
        let mut failed = None;
        self.recover_each(evidence, vec![case], &mut image, &mut |_, recovery, _| {
            failed = match (recovery.mounted, recovery.data) {
                (Err(says), _) | (_, Some(DataVerdict::Rejected(says))) => Some(says),
                _ => None,
            };
        })?;
        // Where requests have failed, the end of the trial may have lost what the program ignored.
        let is_asked = |says: &str| {
            let how = says.split(": ").next().unwrap_or_default();
            !self.has_errors() || program::is_missing(how)
        };
        let Some(says) = failed.filter(|says| is_asked(says)) else { return Ok(()) };
        let hint = if self.schedule.workload.system.is_some() {
            ""
        } else {
            " (it runs in the trial's directory, with the programs that `run`, `check` and \
             `programs` name and no others; to test it: --lab directory with the check as a last \
             phase)"
        };
        Err(Failure::Failed(format!(
            "the check must accept what the trial leaves without a power cut, but: {says}{hint}"
        )))
    }

    /// Has guests recover from cases, given the contents that each leaves.
    pub(super) fn recover_each(
        &self,
        evidence: &CuttableTrial<'_>,
        cases: Vec<CutCase>,
        image: &mut ImageSource<'_>,
        recovered: &mut RecoverySink<'_>,
    ) -> Result<(), Failure> {
        let mut series = CaseSeries {
            cases: cases.into_iter(),
            image,
            current: None,
            recovered,
            packed: PackedFiles::default(),
            refused: None,
        };
        let mut guest = 0;
        while series.cases.len() > 0 {
            self.recover(evidence, guest, &mut series)?;
            guest += 1;
        }
        Ok(())
    }

    /// Has one guest recover from the next cases. If it dies of what it finds or never ends, that
    /// is the outcome of the case, and the next guest continues after it.
    fn recover(
        &self,
        evidence: &CuttableTrial<'_>,
        guest: usize,
        series: &mut CaseSeries<'_>,
    ) -> Result<(), Failure> {
        let CuttableTrial { trial, setup, host, subjects, trial_log, .. } = evidence;
        let count = series.cases.len().min(OF_A_GUEST);
        let cases = &series.cases.as_slice()[..count];
        let check = evidence.asked.check.clone().map(|run| DataCheck {
            run,
            is_in_system: self.schedule.workload.system.is_some(),
            said: trial_log.said.iter().map(|(_, line)| line.clone()).collect(),
            before: cases.iter().map(|case| trial_log.said_before(case.at)).collect(),
        });
        let count = u32::try_from(count).expect("a guest recovers from few cuts");
        let job = GuestJob::Recovery(Recoveries {
            setup: for_guest(setup)?,
            subjects: subjects.clone(),
            count,
            check,
            packs: self.packs,
        });
        let run = GuestRun {
            name: &format!("recovery-{}-{guest}", trial.position),
            kernel: self.kernel(setup),
            host,
            seed: trial.seed,
            // Whatever checks a case may take as long as its recovery.
            limit: Nanos(Span(PREPARATION).nanos() * 2 * u64::from(count + 1)),
            timeout: RECOVERY_TIMEOUT,
            errors: None,
        };
        let contents = Memory::new(evidence.drive.specification().capacity_bytes());
        let flash = Flash::with_contents(evidence.drive.clone(), contents);
        let flash = Arc::new(Mutex::new(flash));
        let before = series.cases.len();
        let ended: Result<(Result<(), String>, _), _> =
            self.hypervisor
                .run(&run, &job, &flash, None, |_, message| series.hear(&flash, message));
        if let Some(reason) = series.refused.take() {
            return Err(Failure::Failed(format!("a cut leaves what its drive refuses: {reason}")));
        }
        match ended {
            Ok((Ok(()), _)) => Ok(()),
            // The lab's fault, not the filesystem's.
            Ok((Err(reason), _)) => Err(Failure::Failed(reason)),
            Err(Failure::Died(reason)) if series.cases.len() < before => {
                series.packed = PackedFiles::default();
                series.enter(Recovery {
                    checked_before: None,
                    mounted: Err(format!("the recovery did not end: {reason}")),
                    found: Vec::new(),
                    checked: None,
                    data: None,
                });
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}

/// The cases that leave different contents, and for each case the index of the one that leaves the
/// same: the same request was the last to change them, and the same parts are lost. Cases differ,
/// too, if programs had printed a different number of lines.
fn different(
    requests: &LoggedRequests,
    cuts: &mut PowerCuts<'_>,
    cases: &[CutCase],
    said: impl Fn(&CutCase) -> usize,
) -> (Vec<CutCase>, Vec<usize>) {
    let mut different = Vec::new();
    let mut known = HashMap::new();
    let recovery_of = cases.iter().map(|case| {
        let cut = cuts.at(case.at);
        let last = requests.last_change(cut.submitted());
        let reverted = cut.survivor(case.seed).reverted;
        *known.entry((last, reverted, said(case))).or_insert_with(|| {
            different.push(*case);
            different.len() - 1
        })
    });
    let recovery_of = recovery_of.collect();
    (different, recovery_of)
}

#[cfg(test)]
mod tests;
