//! Metrics, phases and levels as parts of sentences.

use ssdlab_plan::Levels;
use ssdlab_plan::metric::{AfterCuts, FIO_PREFIX, Metric, PHORONIX_HIGHER, PHORONIX_LOWER, Source};
use ssdlab_quantity::listed;

use super::levels::level_names;

/// The maximum number of phases that are named.
const MOST_PHASES: usize = 4;

/// A metric's name without its unit, which its values have.
pub(super) fn spoken(metric: &str) -> String {
    metric.trim_end_matches("_ns").replace(['_', '.'], " ")
}

/// A metric as the subject of a clause.
pub(super) fn noun(metric: Metric) -> String {
    let noun = match metric.source {
        Source::Time => "the time",
        Source::Settled => "the time until the drive is quiet",
        Source::Cpu => "the processor time",
        Source::WrittenBytes => "the number of bytes written",
        Source::ReadBytes => "the number of bytes read",
        Source::DiscardedBytes => "the number of bytes discarded",
        Source::FlashWrittenBytes => "the number of bytes programmed into flash",
        Source::Erases => "the number of erased blocks",
        Source::HottestErases => "the number of erases of the most erased block",
        Source::YearsUntilWorn => "the time until a block is worn out",
        Source::YearsByBytes => "the time until the flash is worn out",
        Source::OpsRate => "the rate of operations",
        Source::ByteRate => "the throughput",
        Source::LatencyMean => "the mean latency",
        Source::LatencyP50 => "the median latency",
        Source::LatencyP90 => "the 90th percentile of latencies",
        Source::LatencyP99 => "the 99th percentile of latencies",
        Source::LatencyP999 => "the 99.9th percentile of latencies",
        Source::LatencyMax => "the longest latency",
        Source::Cuts(AfterCuts::BrokenPromises) => "the share of power cuts that lose synced data",
        Source::Cuts(AfterCuts::Damaged) => "the share of power cuts that damage a file",
        Source::Cuts(AfterCuts::Unmountable) => "the share of power cuts that leave it unmountable",
        Source::Cuts(AfterCuts::Amiss) => "the share of power cuts after which its check fails",
        Source::Cuts(AfterCuts::Rejected) => {
            "the share of power cuts after which the data is rejected"
        }
        Source::Cuts(AfterCuts::LostTime) => "the median time lost to a power cut",
        Source::Cuts(AfterCuts::LostTimeP99) => {
            "the 99th percentile of the time lost to a power cut"
        }
        Source::Cuts(AfterCuts::LostBytes) => "the median number of bytes lost to a power cut",
        Source::Cuts(AfterCuts::Recovery) => "the median time to mount after a power cut",
        _ if [PHORONIX_HIGHER, PHORONIX_LOWER].contains(&metric) => "the test's result",
        _ => return of_fio(metric.name).unwrap_or_else(|| format!("the {}", spoken(metric.name))),
    };
    noun.to_owned()
}

/// What a metric measures, as the title of numbers.
pub(super) fn uncounted(noun: &str) -> String {
    let noun = noun.trim_start_matches("the ");
    noun.trim_start_matches("number of ").to_owned()
}

/// What fio measured, with the job if the metric names it; `None` if another program did.
fn of_fio(metric: &str) -> Option<String> {
    let own = metric.strip_prefix(FIO_PREFIX)?;
    let (job, own) = own.rsplit_once('.').map_or((None, own), |(job, own)| (Some(job), own));
    let (direction, statistic) = own.split_once('_')?;
    let operations = match direction {
        "read" => "reads",
        "write" => "writes",
        "trim" => "trims",
        "mixed" => "operations",
        "sync" => "syncs",
        _ => return None,
    };
    let noun = match statistic.trim_start_matches("clat_") {
        "iops" => "rate",
        "bytes_per_s" => "throughput",
        "mean_ns" => "mean latency",
        "p50_ns" => "median latency",
        "p99_ns" => "99th percentile of the latency",
        "p999_ns" => "99.9th percentile of the latency",
        _ => return None,
    };
    let job = job.map_or(String::new(), |job| format!(" of the job {job}"));
    Some(format!("the {noun} of {operations}{job}"))
}

/// Phases as the subject of a clause.
pub(super) fn phases(names: &[String]) -> String {
    if names.len() > MOST_PHASES {
        return format!("{} phases", names.len());
    }
    listed(&names.iter().map(|name| name.replace('_', " ")).collect::<Vec<_>>())
}

/// Where a metric was measured.
pub(super) fn over(names: &[String]) -> String {
    let word = if names.len() > MOST_PHASES { "over" } else { "in" };
    format!("{word} {}", phases(names))
}

/// Levels as part of a sentence: names are clear by themselves, amounts and switches are not.
pub(super) fn listed_levels(levels: &Levels) -> String {
    listed(&level_names(levels))
}

/// A sentence with its first letter in upper case.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A small number as a word, as sentences have it.
pub fn number_word(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}
