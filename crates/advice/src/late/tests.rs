use std::path::Path;

use ssdlab_host::meter::block::Counters;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{LabKind, Overrides, schedule};
use ssdlab_results::Ending;

use super::*;
use crate::{Analysis, Verdict, Warning, analyse};

/// A run of a plan in which files are deleted with and without discards; `last` follows the sync.
/// With discards unmounting discards 1 GB, which takes `late_s` seconds, if that is not 0.
fn deleted(claim: &str, last: &str, late_s: u64) -> Analysis {
    let text = format!(
        "name = \"p\"\nquestion = \"?\"\nbaseline = {{ mount = \"nodiscard\" }}\n\
         workload = {{ phases = [{{ do = \"unpack\", sync = true }}, {{ do = \"delete\" }}, \
         {{ do = \"sync\", reader = true }}{last}] }}\n\
         [factors]\nfilesystem = \"ext4\"\nmount = [\"nodiscard\", \"discard\"]\n\
         [[claims]]\nid = \"c\"\nsays = \"?\"\n{claim}"
    );
    let overrides = Overrides { lab: Some(LabKind::Image), runs: Some(6), ..Overrides::default() };
    let schedule = schedule("p.toml", &text, &overrides, Path::new("/")).unwrap();
    let of = |trial: &Trial| {
        let discards = trial.treatment == 1;
        let varied = u64::from(trial.position) * 1_000;
        let phase = |phase: Phase| PhaseRecord {
            name: phase.name,
            time_ns: Some(1_000_000 + varied),
            settled_ns: Some(3_000_000 * (1 + u64::from(discards)) + varied),
            is_quiet: Some(true),
            device: Some(Counters { written_bytes: 10_000_000, ..Counters::default() }),
            reported: [(ssdlab_plan::metric::of("reader.max_ns"), 261_000.0 + varied as f64)]
                .into(),
            ..PhaseRecord::default()
        };
        let phases = schedule.phases(trial.treatment).into_iter().map(phase).collect();
        let late = u64::from(discards && late_s > 0);
        let device = Counters {
            written_bytes: 4096,
            discarded_bytes: late * 1_073_741_824,
            discard_requests: late * 33,
            ..Counters::default()
        };
        let time_ns = 10_000_000 + late * late_s * 1_000_000_000;
        let teardown = Some(Teardown { time_ns, device });
        Record { phases, teardown, ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    analyse("r", &schedule, records, Ending::AllBlocks)
}

fn verdict(claim: &str, last: &str, late_s: u64) -> Verdict {
    deleted(claim, last, late_s).claims[0].outcome.verdict()
}

const QUIET: &str = "metric = \"settled_ns\"\nphases = [\"delete\", \"sync\"]\n\
                     compare = { mount = \"discard\" }\nat_least = 10";
const READS: &str = "metric = \"reader.max_ns\"\nphases = [\"sync\"]\n\
                     compare = { mount = \"discard\" }\nat_least = \"1 s\"";

#[test]
fn case_deferred_discard_in_unmount_a_claim_whose_work_was_left_to_unmounting_is_not_refuted() {
    for claim in [QUIET, READS] {
        assert_eq!(verdict(claim, "", 0), Verdict::Refuted, "{claim}");
        let analysis = deleted(claim, "", 73);
        assert_eq!(analysis.claims[0].outcome.verdict(), Verdict::Undecided, "{claim}");
        let reason = analysis.claims[0].outcome.why().unwrap().reason().unwrap();
        let says = "unmounting discarded 1.0 GiB, in 73.0 s, after the last phase \
                    (mount = discard); counted to the phases, the claim would hold: end with an \
                    `idle` phase";
        assert!(reason.starts_with(says), "{reason}");
        let is_late = |warning: &Warning| matches!(warning, Warning::LateWork { .. });
        assert!(analysis.warnings.iter().any(|warned| is_late(&warned.warning)));
        let own: Vec<bool> = analysis.treatments.iter().map(|t| t.unmounting.is_some()).collect();
        assert_eq!(own, [false, true]);
    }
}

#[test]
fn a_claim_that_holds_only_without_it_does_not_hold() {
    let no_longer = QUIET.replace("at_least = 10", "at_most = 3");
    assert_eq!(verdict(&no_longer, "", 0), Verdict::Holds);
    let analysis = deleted(&no_longer, "", 73);
    assert_eq!(analysis.claims[0].outcome.verdict(), Verdict::Undecided);
    let reason = analysis.claims[0].outcome.why().unwrap().reason().unwrap();
    assert!(reason.contains("would be refuted"), "{reason}");
}

#[test]
fn a_verdict_stays_where_late_work_does_not_change_it() {
    let longer = QUIET.replace("at_least = 10", "at_least = 1.5");
    assert_eq!(verdict(&longer, "", 73), Verdict::Holds);
    let writes = QUIET.replace("settled_ns", "written_bytes");
    assert_eq!(verdict(&writes, "", 73), Verdict::Refuted);
    // 10 ms of unmounting are as much as both phases took, and no work of theirs.
    let longer = QUIET.replace("at_least = 10", "at_least = 1.9");
    assert_eq!(verdict(&longer, "", 0), Verdict::Holds);
}

#[test]
fn what_later_phases_changed_or_wrote_out_was_not_left_by_earlier_ones() {
    let earlier = "metric = \"settled_ns\"\nphases = [\"unpack\"]\n\
                   compare = { mount = \"discard\" }\nat_least = 10";
    assert_eq!(verdict(earlier, "", 73), Verdict::Refuted);
    assert_eq!(verdict(QUIET, ", { do = \"remount\" }", 73), Verdict::Refuted);
    assert_eq!(verdict(QUIET, ", { do = \"fstrim\" }", 73), Verdict::Undecided);
}
