//! What can be questionable about a run, each with its evidence and in words.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::io::IoContents;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Bytes, LabKind, Levels, Origin, ShortPercentile};

use super::late::Unmounting;
use super::machine::Host;

/// A warning with its evidence and its wording.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Warned")]
pub struct WarningMessage {
    /// The warning.
    #[serde(flatten)]
    pub warning: Warning,
    /// The same in words.
    pub says: String,
}

impl From<Warning> for WarningMessage {
    fn from(warning: Warning) -> Self {
        Self { says: warning.to_string(), warning }
    }
}

/// What can be questionable about a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warning {
    /// What the lab cannot show.
    Lab {
        /// The lab.
        lab: Origin,
    },
    /// What the virtual lab cannot show, of a run that draws plausible drives.
    PlausibleDrives {
        /// How many it draws.
        drives: u32,
        /// How many draws were discarded: they made no drive, or one that does not give the figures
        /// that the published drive was fitted to.
        redrawn: u32,
    },
    /// The intervals stayed wider than the plan asks for.
    Imprecise {
        /// The widest of those that are to be narrow, half its width relative to the effect.
        widest: Option<f64>,
        /// The widest of all that the report shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        widest_shown: Option<f64>,
        /// What the plan asks for.
        asked: f64,
        /// Blocks that ran.
        blocks: u32,
    },
    /// A metric changed over the run.
    Drift {
        /// The phase.
        phase: String,
        /// The relative change from the first block to the last.
        change: f64,
        /// The p-value of its being chance.
        p: f64,
        /// Whether trials are compared within blocks, which takes it out of the effects.
        is_in_blocks: bool,
    },
    /// The first trial of a treatment is unlike the others.
    FirstRun {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The phase.
        phase: String,
        /// Relative to the median of the others.
        ratio: f64,
    },
    /// A treatment has too few trials.
    FewTrials {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// Trials that went well.
        trials: usize,
        /// Whether they are enough for an interval, if a wide one.
        has_interval: bool,
    },
    /// What was written in some trials cannot be told apart.
    NoLedger {
        /// How many.
        trials: usize,
        /// Why, of the first.
        reason: String,
    },
    /// It is not known which programs caused what was written in some stretches.
    NoPrograms {
        /// How many.
        trials: usize,
        /// Why, of the first.
        reason: String,
    },
    /// All trials of a treatment ran before those of the next.
    OneAfterAnother {
        /// Treatments.
        treatments: usize,
        /// Trials of all of them.
        trials: usize,
    },
    /// It is not known what was measured on.
    MissingEnvironment {
        /// What is missing.
        what: Vec<String>,
    },
    /// Tests were over before they could be measured.
    TooFast {
        /// The phases.
        phases: Vec<String>,
    },
    /// Writes ended before a drive can have found its steady state.
    Short {
        /// The phase.
        phase: String,
        /// How long it took, in ns.
        took_ns: u64,
    },
    /// Trials of one treatment differ much.
    Spread {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The phase.
        phase: String,
        /// Standard deviation relative to the mean.
        cv: f64,
    },
    /// The device was still busy when the wait for quiet ended.
    NotQuiet {
        /// The phases.
        phases: Vec<String>,
    },
    /// Something wrote between the mount and the first phase.
    BackgroundWrites {
        /// Bytes, the most in any trial.
        bytes: u64,
    },
    /// Unmounting wrote or discarded a share of the trial's bytes, or took a share of its time,
    /// that is in no phase.
    LateWork {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// What it did.
        #[serde(flatten)]
        unmounting: Unmounting,
    },
    /// A check found another feature than is stated about the filesystem.
    Feature {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The feature.
        feature: String,
        /// What is stated.
        stated: String,
        /// What was found.
        found: String,
    },
    /// What the attribute A of a directory does to what is made in it.
    NoAtime {
        /// The filesystem.
        filesystem: String,
        /// Who inherits it; nothing, where nobody does.
        inherited_by: String,
    },
    /// Trials ran in different environments.
    MixedEnvironment {
        /// What differs.
        what: String,
    },
    /// All trials ran on one host.
    OneHost {
        /// The host.
        host: Host,
    },
    /// The hosts run different software.
    UnlikeHosts {
        /// What differs.
        what: Vec<String>,
    },
    /// Trials of a block ran on different machines, so that they cannot be compared.
    AcrossMachines {
        /// Pairs of a treatment and its baseline.
        pairs: usize,
    },
    /// A host has another effect than the others.
    HostDisagrees {
        /// The host.
        host: Host,
        /// The metric.
        metric: Metric,
        /// The phases.
        phases: Vec<String>,
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The ratio on this host.
        ratio: f64,
        /// The ratio across all hosts.
        across: f64,
    },
    /// The drive cannot discard, so trials did not start from the same state.
    NotEqualised,
    /// The image went through the page cache of the filesystem it is on.
    BufferedLoop,
    /// Data written last may still have been in memory when the clock stopped.
    Unsynced {
        /// The phase.
        phase: String,
        /// The labels of the imported treatments of which this is so, unless it is so of all.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        labels: Vec<String>,
    },
    /// The file of Bonnie's tests may have been read from memory.
    Cached {
        /// Its size in bytes.
        size_bytes: u64,
        /// The machine's memory in bytes.
        memory_bytes: u64,
    },
    /// A percentile is of few operations.
    FewOperations {
        /// The metric.
        metric: Metric,
        /// The phase.
        phase: String,
        /// The operations, in the trial that has the fewest.
        operations: u64,
        /// The operations that would leave a hundred beyond it.
        needed: u64,
    },
    /// Schedulers are compared where they have one queue and compute for nothing.
    Schedulers,
    /// Trials filled an SLC cache of which a small capacity left only a part.
    CutCache {
        /// The drive.
        drive: String,
        /// How many trials on it did.
        trials: usize,
        /// What the cache held, in bytes, the least in any trial.
        cache_bytes: u64,
        /// What it holds on the real drive, in bytes.
        whole_bytes: u64,
        /// The capacity in bytes that leaves it whole.
        enough_bytes: u64,
    },
    /// Compression is compared on contents that are generated.
    Contents {
        /// The phases that write them, by what they write.
        phases: BTreeMap<IoContents, Vec<String>>,
    },
    /// More was discarded than there is.
    Discards {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// The phase.
        phase: String,
        /// Bytes discarded, the most in any trial.
        bytes: u64,
        /// The device's size in bytes.
        capacity_bytes: u64,
    },
    /// Imported treatments were not measured in the same way.
    UnlikeOptions {
        /// What differs.
        what: Vec<String>,
    },
    /// A filesystem's daemon computes, which costs no virtual time.
    Daemon {
        /// The filesystem.
        filesystem: String,
    },
    /// A treatment did not run, or not always.
    Trials {
        /// The treatment, by the levels in which it differs.
        levels: Levels,
        /// What happened.
        reason: String,
    },
    /// Something was understood differently from how it was written.
    Note {
        /// What.
        text: String,
    },
}

impl fmt::Display for Warning {
    #[expect(clippy::too_many_lines, reason = "a sentence a warning")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lab { lab: Origin::Lab(LabKind::Virtual) } => write!(
                f,
                "virtual lab: bytes and requests are those of a real kernel; times are those of \
                 models of a drive and a processor (docs/virtual-lab.md). Repeating a seed \
                 repeats every nanosecond, so intervals are over seeds, which decide trees and \
                 hashes; the parameters of the drive are the same in all trials"
            ),
            Self::PlausibleDrives { drives, redrawn } => {
                write!(
                    f,
                    "virtual lab: bytes and requests are those of a real kernel; times are those \
                     of models of a drive and a processor (docs/virtual-lab.md). Numbers are of \
                     the published drive; ranges are over it and {drives} more, verdicts over \
                     these. They are drawn from what its evidence leaves open, and say nothing of \
                     what the model leaves out. All trials have one seed; `--runs` shows what \
                     others change on the published drive"
                )?;
                let discarded = match redrawn {
                    0 => return Ok(()),
                    1 => "1 draw was discarded, as it".to_owned(),
                    several => format!("{several} draws were discarded, as they"),
                };
                write!(
                    f,
                    ". {discarded} made no drive or one that differs in what the published one \
                     was fitted to"
                )
            }
            Self::Lab { lab: Origin::Lab(LabKind::Image) } => write!(
                f,
                "image lab: bytes and requests are exact for this kernel; times and discards \
                 are those of a file on this machine's disk, not of an SSD; for those, measure \
                 the drive itself: --device PATH"
            ),
            Self::Lab { lab: Origin::Lab(LabKind::Device) } => {
                write!(f, "device lab: times are those of this drive on this machine")
            }
            Self::Lab { lab: Origin::Imported } => write!(
                f,
                "imported: somebody else measured, and how is known only as far as the files say \
                 it; `ssdlab method` tells what that is worth"
            ),
            Self::Lab { lab: Origin::Lab(LabKind::Directory) } => write!(
                f,
                "directory lab: the filesystem was not made anew, and the device's counts \
                 include what others did meanwhile; `workload_bytes`, which needs root, does not"
            ),
            Self::Lab { lab: Origin::Lab(LabKind::Live) } => write!(
                f,
                "live lab: the numbers are of this machine while it did its own work; intervals \
                 and verdicts are of 95 % over all looks, after 12, 24 and 48 blocks"
            ),
            Self::Imprecise { widest: Some(widest), widest_shown, asked, blocks } => write!(
                f,
                "after {blocks} runs of each treatment the widest interval is {}, wider than the \
                 {:.1} % asked for",
                half_width(widest_shown.map_or(*widest, |shown| shown.max(*widest))),
                asked * 100.0
            ),
            Self::Imprecise { widest: None, blocks: 1, .. } => {
                write!(f, "one run of each treatment gives no interval")
            }
            Self::Imprecise { widest: None, blocks, .. } => {
                write!(f, "{blocks} runs of each treatment give no interval")
            }
            Self::Drift { phase, change, is_in_blocks: true, .. } => write!(
                f,
                "`{phase}` drifted by {:+.0} % from the first block to the last (p < 0.01); \
                 ratios are taken within blocks, so it is not in them",
                change * 100.0
            ),
            Self::Drift { phase, change, .. } => write!(
                f,
                "`{phase}` drifted by {:+.0} % from the first trial to the last (p < 0.01); \
                 nothing takes that out of the ratios",
                change * 100.0
            ),
            Self::FirstRun { levels, phase, ratio } => write!(
                f,
                "`{phase}`: the first run is {ratio:.2} times the median of the others, which \
                 is no chance ({levels})"
            ),
            Self::FewTrials { levels, trials, has_interval: false } => {
                write!(f, "n = {trials} of {levels}: fewer than 3 give no interval worth the name")
            }
            Self::FewTrials { levels, trials, .. } => {
                write!(
                    f,
                    "n = {trials} of {levels}: fewer than 6 give a weak interval and no verdict"
                )
            }
            Self::NoLedger { trials, reason } => write!(
                f,
                "of {trials} trials it is not known what the bytes are that were written: {reason}"
            ),
            Self::NoPrograms { trials, reason } => {
                write!(f, "of {trials} stretches it is not known which programs wrote: {reason}")
            }
            Self::OneAfterAnother { treatments, trials } => write!(
                f,
                "all runs of one treatment, then all of the next ({trials} trials of \
                 {treatments}): what changed with time, such as heat or a drive that fills, is in \
                 the ratios"
            ),
            Self::MissingEnvironment { what } => {
                write!(f, "it is not said what was measured on: {}", what.join(", "))
            }
            Self::TooFast { phases } => write!(
                f,
                "over before it could be measured, in one trial at least: {}",
                phases.join(", ")
            ),
            Self::Short { phase, took_ns } => write!(
                f,
                "`{phase}` wrote for {:.1} s: a drive's steady state takes minutes to show",
                *took_ns as f64 / 1e9
            ),
            Self::Spread { levels, phase, cv } => {
                write!(f, "`{phase}` varies by {:.0} % between runs ({levels})", cv * 100.0)
            }
            Self::NotQuiet { phases } => write!(
                f,
                "the device was still busy when the wait for quiet ended: {}",
                phases.join(", ")
            ),
            Self::BackgroundWrites { bytes } => write!(
                f,
                "up to {bytes} bytes were written between mount and first phase; they are in no \
                 phase"
            ),
            Self::LateWork { levels, unmounting } => {
                write!(f, "{unmounting}; it is in no phase ({levels})")
            }
            Self::Feature { levels, feature, stated, found } => write!(
                f,
                "{feature}: ssdlab states `{stated}`, but this kernel was found to have `{found}` \
                 ({levels})"
            ),
            Self::NoAtime { filesystem, inherited_by } if inherited_by.is_empty() => write!(
                f,
                "chattr +A on {filesystem}: nothing that is made in the directory inherits it; of \
                 all that was read, the access time changed"
            ),
            Self::NoAtime { filesystem, inherited_by } => write!(
                f,
                "chattr +A on {filesystem}: what is made in the directory inherits it, and when \
                 read its access time stayed as it was: {inherited_by}. On symbolic links that \
                 were there before chattr cannot set it: they cannot be opened"
            ),
            Self::MixedEnvironment { what } => {
                write!(f, "not all trials ran on the same {what}: they are hardly comparable")
            }
            Self::OneHost { host } => {
                write!(
                    f,
                    "all trials ran on one host, {host}: nothing is said about other machines or \
                 other SSDs"
                )
            }
            Self::UnlikeHosts { what } => write!(
                f,
                "the hosts differ in {}: what differs between their results may be that",
                what.join(", ")
            ),
            Self::AcrossMachines { pairs } => write!(
                f,
                "{pairs} times a treatment and its baseline ran on different machines in one \
                 block: these pairs are left out of effects and claims"
            ),
            Self::HostDisagrees { host, metric, phases, levels, ratio, across } => write!(
                f,
                "{host} disagrees with the other hosts: {metric} of {} ({levels}) is {ratio:.3} \
                 times the baseline's there, and {across:.3} times across hosts",
                phases.join(" + ")
            ),
            Self::NotEqualised => write!(
                f,
                "the drive cannot discard: each trial found it as the one before had left it"
            ),
            Self::BufferedLoop => write!(
                f,
                "the loop device has no direct I/O: the image went through the page cache"
            ),
            Self::Unsynced { phase, labels } => {
                write!(f, "nothing syncs after `{phase}`")?;
                if !labels.is_empty() {
                    write!(f, " of {}", labels.join(", "))?;
                }
                write!(f, ": what it wrote may have been in memory when the clock stopped")
            }
            Self::Cached { size_bytes, memory_bytes } => write!(
                f,
                "a file of {} in a machine with {} of memory may be read from there and not from \
                 the device: bonnie++ asks for twice the memory",
                Bytes(*size_bytes),
                Bytes(*memory_bytes)
            ),
            Self::FewOperations { metric, phase, operations, needed } => {
                let (metric, phase) = (*metric, phase.clone());
                let (operations, needed) = (*operations, *needed);
                write!(f, "{}", ShortPercentile { metric, phase, operations, needed })
            }
            Self::Schedulers => write!(
                f,
                "virtual lab: requests go through one hardware queue, from one processor: what \
                 schedulers gain or lose with several of either does not show (docs/virtual-lab.md)"
            ),
            Self::CutCache { drive, trials, cache_bytes, whole_bytes, enough_bytes } => write!(
                f,
                "{drive} was given a capacity that leaves {} of its SLC cache of {}, and that was \
                 full in {trials} of its trials: what they wrote then was slower than on the real \
                 drive, which may decide verdicts; give it a --capacity of {} or more",
                Bytes(*cache_bytes),
                Bytes(*whole_bytes),
                Bytes(*enough_bytes)
            ),
            Self::Contents { phases } => {
                let of = |(contents, phases): (&IoContents, &Vec<String>)| {
                    let named: Vec<String> =
                        phases.iter().map(|phase| format!("`{phase}`")).collect();
                    let write = if phases.len() == 1 { "writes" } else { "write" };
                    format!("{} {write} {contents}", named.join(", "))
                };
                let says: Vec<String> = phases.iter().map(of).collect();
                write!(
                    f,
                    "compression is compared on generated contents: {}; what it gains or loses \
                     there follows from that",
                    says.join("; ")
                )
            }
            Self::Discards { levels, phase, bytes, capacity_bytes } => write!(
                f,
                "`{phase}` discarded up to {}, more than the {} there are: space that is written \
                 and freed again, or trimmed again, is discarded again, and each time counts \
                 ({levels})",
                Bytes(*bytes),
                Bytes(*capacity_bytes)
            ),
            Self::UnlikeOptions { what } => write!(
                f,
                "the imported treatments were not measured in the same way: {}; what differs \
                 between them may be that",
                what.join("; ")
            ),
            Self::Daemon { filesystem } => write!(
                f,
                "{filesystem} is served by a program here, whose computing costs no virtual time: \
                 on a real machine it is slower than that"
            ),
            Self::Trials { levels, reason } => write!(f, "{levels}: {reason}"),
            Self::Note { text } => f.write_str(text),
        }
    }
}

/// Half the width of an interval relative to its estimate, in words; from 100 % on as a factor.
fn half_width(relative: f64) -> String {
    if relative < 1.0 {
        format!("+-{:.1} %", relative * 100.0)
    } else {
        let factor = 1.0 + relative;
        format!("a factor of {factor:.digits$} to each side", digits = usize::from(factor < 100.0))
    }
}
