//! Reads metrics from the records of phases; the table of metrics says where each is.

use ssdlab_flash::FlashActivity;
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::metric::{self, FEWEST_ERASES, Metric, Source, Unit};

use super::ledger::{ByCause, ByKind};
use super::record::{PhaseRecord, Record};
use super::work::Work;

impl Record {
    /// A metric over some phases, combined as the metric defines; `None` if a phase or the metric
    /// is missing.
    pub fn over(&self, metric: Metric, phases: &[String]) -> Option<f64> {
        // They are usually asked for in the order in which they were performed.
        let mut phase = self.phases.iter().cycle();
        let mut value = |name: &String| {
            let mut each = phase.by_ref().take(self.phases.len());
            each.find(|phase| phase.name == *name)?.metric(metric)
        };
        if let [phase] = phases {
            return value(phase);
        }
        let values: Vec<f64> = phases.iter().map(value).collect::<Option<_>>()?;
        metric.taken_together(&values)
    }

    /// Whether a metric is missing although its phases were performed: the program could not
    /// measure it.
    pub fn lacks(&self, metric: Metric, phases: &[String]) -> bool {
        let has = |name: &String| self.phases.iter().any(|phase| phase.name == *name);
        self.over(metric, phases).is_none() && phases.iter().all(has)
    }
}

impl PhaseRecord {
    /// Every metric that was measured.
    pub fn metrics(&self) -> impl Iterator<Item = (Metric, f64)> {
        let is_reported = |metric: &Metric| metric.source == Source::Reported;
        let own = metric::all().filter(move |metric| !is_reported(metric));
        let own = own.filter_map(|metric| Some((metric, self.metric(metric)?)));
        let reported = self.reported.iter().map(|(metric, value)| (*metric, *value));
        own.chain(reported.filter(move |(metric, _)| is_reported(metric)))
    }

    /// The number of operations that a metric of latencies is over; `None` if it is not known.
    pub fn operations_of(&self, metric: Metric) -> Option<u64> {
        let counted = metric.operations()?;
        let number = self.metric(counted)?;
        // Of reads, writes and syncs the phase reports rates, by the same clock as that of all.
        let number = if counted.unit == Unit::PerS {
            let work = self.work.as_ref().filter(|work| work.ops_per_second > 0.0)?;
            number * work.operations as f64 / work.ops_per_second
        } else {
            number
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        Some(number.round() as u64)
    }

    /// A metric; `None` if it was not measured.
    pub fn metric(&self, metric: Metric) -> Option<f64> {
        self.measured(metric.source).or_else(|| self.reported.get(&metric).copied())
    }

    /// What was written, by kind.
    pub fn kinds(&self) -> Option<&ByKind> {
        self.ledger.as_ref()?.by_kind.as_ref()
    }

    /// What was written, by who caused it.
    fn causes(&self) -> Option<&ByCause> {
        self.ledger.as_ref()?.by_cause.as_ref()
    }

    /// A metric that ssdlab itself measured.
    fn measured(&self, source: Source) -> Option<f64> {
        let device = |of: fn(&Counters) -> u64| self.device.as_ref().map(of);
        let flash = |of: fn(&FlashActivity) -> u64| self.flash.as_ref().map(of);
        let work = |of: fn(&Work) -> u64| self.work.as_ref().map(of);
        let count = match source {
            Source::Time => self.time_ns,
            Source::Settled => self.settled_ns,
            Source::Cpu => self.cpu_ns,
            Source::KernelThreads => self.kernel_threads_ns,
            Source::Interrupts => self.interrupts_ns,
            Source::ApplicationBytes => self.application_bytes,
            Source::WrittenBytes => device(|device| device.written_bytes),
            Source::WriteRequests => device(|device| device.write_requests),
            Source::WriteMerges => device(|device| device.write_merges),
            Source::ReadBytes => device(|device| device.read_bytes),
            Source::ReadRequests => device(|device| device.read_requests),
            Source::DiscardedBytes => device(|device| device.discarded_bytes),
            Source::DiscardRequests => device(|device| device.discard_requests),
            Source::Flushes => device(|device| device.flushes),
            Source::Commits => self.commits,
            Source::Caused(role) => self.causes().map(|causes| causes.of(role)),
            Source::Written(kind) => self.kinds().map(|kinds| kinds.of(kind).bytes),
            Source::FlashWrittenBytes => flash(|flash| flash.flash_written_bytes),
            Source::FlashReadBytes => flash(|flash| flash.flash_read_bytes),
            Source::Erases => flash(|flash| flash.erases),
            Source::Stalled => flash(|flash| flash.stalled_ns),
            Source::HottestErases => flash(|flash| flash.hottest_erases),
            Source::RepeatsUntilWorn => return self.worn_flash()?.repeats_until_worn,
            Source::YearsUntilWorn => return self.worn_flash()?.years_until_worn,
            Source::YearsByBytes => return self.flash?.years_by_bytes,
            Source::WriteAmplification => return self.write_amplification(),
            Source::Operations => work(|work| work.operations),
            Source::OpsRate => return Some(self.work.as_ref()?.ops_per_second),
            Source::ByteRate => return self.work.as_ref()?.bytes_per_second,
            Source::LatencyMean => return Some(self.work.as_ref()?.latency.summary.mean_ns),
            Source::LatencyP50 => work(|work| work.latency.summary.p50_ns),
            Source::LatencyP90 => work(|work| work.latency.summary.p90_ns),
            Source::LatencyP99 => work(|work| work.latency.summary.p99_ns),
            Source::LatencyP999 => work(|work| work.latency.summary.p999_ns),
            Source::LatencyMax => work(|work| work.latency.summary.max_ns),
            Source::Cuts(_) | Source::Reported => None,
        };
        count.map(|count| count as f64)
    }

    /// The activity of flash that was erased often enough to tell how fast a block wears.
    fn worn_flash(&self) -> Option<&FlashActivity> {
        self.flash.as_ref().filter(|flash| flash.hottest_erases >= FEWEST_ERASES)
    }

    /// Bytes programmed into the flash for each byte written to the drive.
    fn write_amplification(&self) -> Option<f64> {
        let written = self.device?.written_bytes;
        let flash = self.flash?.flash_written_bytes;
        (written > 0).then(|| flash as f64 / written as f64)
    }
}

#[cfg(test)]
mod tests;
