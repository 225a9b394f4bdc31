//! The recording: the kernel's events, decoded every 20 ms and fed to the watch, and the readings
//! of counters between which the rows must add up.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ssdlab_causes::{
    CauseEvent, Causer, CounterBalance, EventPoint, LoopLayer, MOST_NUMBERS, RunningTask,
    SourceKey, WantedEvent, Watch, WrittenReading, bdi_number,
};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::block::{self, Counters};
use ssdlab_host::task_table;
use ssdlab_host::tracefs::{Instance, Sink, TraceRecording, Tracepoint, monotonic_ns};
use ssdlab_trace::ftrace::{EventFormat, SubBufferLayout, record_head};

use crate::marks::MarkedPhases;
use crate::rows::{self, DeviceWrites, InexactStretch, LayerCounts, RecordedDevice, WhoOutput};
use crate::survey::{self, StackedPair, WatchSurvey, WatchTarget};

/// How often the rows are compared with the counters.
const CHECK_EVERY: Duration = Duration::from_mins(1);
/// How often new loop devices and mounts are looked for.
const SURVEY_EVERY: Duration = Duration::from_millis(250);
/// The most events that are taken before the buffers are emptied again: those of a few ms.
const MOST_AT_ONCE: usize = 1 << 15;
/// How long a new btrfs chunk may take to appear in the chunk tree.
const CHUNK_APPEARS_NS: u64 = 5_000_000_000;

/// What the reader of events and the program share.
pub(crate) struct Shared {
    pub survey: WatchSurvey,
    /// Until when chunks are read anew.
    chunks_change_until_ns: u64,
    /// Every event up to this time has been taken.
    pub taken_until_ns: u64,
    pub phases: MarkedPhases,
}

/// What the process that records is to what it records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingProcess {
    /// It works for others.
    Watcher,
    /// It, its threads and all that they start are the workload of an experiment.
    Workload,
}

/// The recording in progress.
pub struct WhoRecording {
    pub(crate) trace: TraceRecording<Feed>,
    pub(crate) shared: Arc<Mutex<Shared>>,
    targets: Vec<Counted>,
    began: Instant,
    began_ns: u64,
    checked: Instant,
    surveyed: Instant,
    /// What the machine had then.
    seen: String,
    /// What the kernel does not tell, if anything.
    pub(crate) lacking: Option<String>,
    /// When the counters were read whose comparison is open.
    open_since_ns: Option<u64>,
    /// The lost events of the stretches that were compared.
    lost_events: u64,
}

struct Counted {
    target: WatchTarget,
    before: Counters,
    /// What the upper and the lower devices of each pair below had written.
    below: Vec<[u64; 2]>,
    /// What the counter grew by in the stretches that were compared.
    counter_bytes: u64,
    inexact: Vec<InexactStretch>,
}

/// Decodes records, and holds events until those of all processors are known.
pub(crate) struct Feed {
    layout: SubBufferLayout,
    /// By the event's number.
    formats: Vec<Option<(EventFormat, WantedEvent)>>,
    events: Vec<CauseEvent>,
    pub lost: u64,
    pub trouble: Option<String>,
    shared: Arc<Mutex<Shared>>,
}

impl WhoRecording {
    /// Starts recording what was surveyed in an instance of tracefs. This process watches, or is
    /// the workload of an experiment.
    pub fn start(
        mut survey: WatchSurvey,
        instance: Instance,
        own: RecordingProcess,
    ) -> io::Result<Self> {
        let seen = std::mem::take(&mut survey.seen);
        let header = instance.read("events/header_page")?;
        let layout = SubBufferLayout::parse(&header).map_err(io::Error::other)?;
        let known = survey.notes.len();
        let (formats, tracepoints) = formats(&instance, &survey.watch, &mut survey.notes)?;
        let lacking = survey.notes.get(known).cloned();
        survey.notes.sort();
        survey.notes.dedup();
        let targets = std::mem::take(&mut survey.targets);
        let (chunks_change_until_ns, taken_until_ns, phases) = Default::default();
        let shared = Shared { survey, chunks_change_until_ns, taken_until_ns, phases };
        let shared = Arc::new(Mutex::new(shared));
        let sub_buffer_bytes = layout.sub_buffer_bytes();
        let feed = Feed {
            layout,
            formats,
            events: Vec::new(),
            lost: 0,
            trouble: None,
            shared: Arc::clone(&shared),
        };
        // Events wait until tasks and counters are known.
        let mut guard = lock(&shared);
        guard.survey.names.discard_reports();
        let trace = TraceRecording::start(instance, &tracepoints, sub_buffer_bytes, feed)?;
        guard.survey.names.distrust_reports();
        let began_ns = monotonic_ns();
        let (began, targets) = begin(guard, targets, own)?;
        Ok(Self {
            trace,
            shared,
            targets,
            began,
            began_ns,
            checked: began,
            surveyed: began,
            seen,
            lacking,
            open_since_ns: None,
            lost_events: 0,
        })
    }

    /// Does what is to be done now and then: looks for loop devices and mounts that are new, and
    /// compares the rows with the counters once a minute.
    pub fn tend(&mut self, interrupt: &Interrupt) {
        if self.surveyed.elapsed() >= SURVEY_EVERY {
            self.surveyed = Instant::now();
            if let Err(error) = self.survey(interrupt) {
                lock(&self.shared).survey.note(error.to_string());
            }
        }
        if self.open_since_ns.is_some() {
            self.settle();
        } else if self.checked.elapsed() >= CHECK_EVERY {
            self.checked = Instant::now();
            // A counter that cannot be read now is read at the end.
            self.open_since_ns = self.read_counters().ok();
            let alive: BTreeSet<u32> = task_table::threads().collect();
            lock(&self.shared).survey.watch.tasks.forget_ended(|thread| alive.contains(&thread));
        }
    }

    fn survey(&mut self, interrupt: &Interrupt) -> io::Result<()> {
        let now = survey::changing();
        if now != self.seen {
            let mounts = survey::all_mounts()?;
            lock(&self.shared).survey.update(mounts, interrupt)?;
            self.seen = now;
        }
        Ok(())
    }

    /// Writes what the recorded filesystems have in memory.
    pub fn sync(&self) {
        let paths = lock(&self.shared).survey.paths();
        for path in paths {
            // One that went away meanwhile has nothing left to write.
            let _ = File::open(path).map(rustix::fs::syncfs);
        }
    }

    /// Reads every counter, for [`Self::settle`], and returns when it had.
    fn read_counters(&mut self) -> io::Result<u64> {
        let mut shared = lock(&self.shared);
        for counted in &self.targets {
            let (reading, _) = read(&counted.target.number)?;
            shared.survey.watch.set_next(counted.target.device, reading);
        }
        Ok(monotonic_ns())
    }

    /// Compares, once all events before the readings have been taken.
    fn settle(&mut self) {
        let mut shared = lock(&self.shared);
        if self.open_since_ns.is_some_and(|since_ns| shared.taken_until_ns > since_ns) {
            let lost = self.trace.losses().map_or(0, |losses| losses.all());
            let lost_now = lost.saturating_sub(self.lost_events);
            for counted in &mut self.targets {
                let balance = shared.survey.watch.settle(counted.target.device);
                shared.survey.watch.resume(counted.target.device);
                counted.add(balance, lost_now, self.began_ns);
            }
            self.lost_events += lost_now;
            self.open_since_ns = None;
        }
    }

    /// What is known so far.
    pub fn so_far(&self, is_named: bool) -> WhoOutput {
        let shared = lock(&self.shared);
        let of = |counted: &Counted| {
            let counter_bytes = shared.survey.watch.devices()[counted.target.device].ledger.bytes();
            let seconds = self.began.elapsed().as_secs_f64();
            counted.output(&shared.survey, counter_bytes, seconds, self.lost_events)
        };
        WhoOutput::new(self.targets.iter().map(of).collect(), is_named)
    }

    /// Ends the recording. `is_named` says whether a device was named.
    pub fn finish(mut self, is_named: bool) -> io::Result<WhoOutput> {
        while self.open_since_ns.is_some() {
            std::thread::sleep(Duration::from_millis(5));
            self.settle();
        }
        self.read_counters()?;
        let seconds = self.began.elapsed().as_secs_f64();
        let Self { trace, shared, mut targets, lost_events: lost_before, began_ns, .. } = self;
        let (mut feed, losses) = trace.stop()?;
        feed.advance(u64::MAX);
        let lost_events = losses.all().max(feed.lost);
        let trouble = feed.trouble.take();
        drop(feed);
        let mut shared = lock(&shared);
        let survey = &mut shared.survey;
        if let Some(trouble) = trouble {
            survey.note(format!("events could not be read: {trouble}"));
        }
        for counted in &mut targets {
            let balance = survey.watch.settle(counted.target.device);
            counted.add(balance, lost_events.saturating_sub(lost_before), began_ns);
        }
        let of =
            |counted: &Counted| counted.output(survey, counted.counter_bytes, seconds, lost_events);
        Ok(WhoOutput::new(targets.iter().map(of).collect(), is_named))
    }
}

impl Counted {
    fn add(&mut self, balance: Option<CounterBalance>, lost_events: u64, began_ns: u64) {
        let Some(balance) = balance else { return };
        self.counter_bytes += balance.counter_bytes;
        if !balance.is_exact() || lost_events > 0 {
            self.inexact.push(InexactStretch::of(&balance, lost_events, began_ns));
        }
    }

    fn output(
        &self,
        survey: &WatchSurvey,
        counter_bytes: u64,
        seconds: f64,
        lost_events: u64,
    ) -> DeviceWrites {
        let recorded = RecordedDevice {
            name: &self.target.name,
            device: self.target.device,
            counter_bytes,
            inexact: &self.inexact,
            discarded_bytes: block::read(&self.target.number)
                .map_or(0, |now| now.counters.since(&self.before).discarded_bytes),
            layers: self.layers(survey),
            seconds,
            lost_events,
            notes: &survey.notes,
        };
        rows::of_device(&survey.watch, &survey.names, &recorded)
    }

    /// What was written to the devices above and below, and what came of it.
    fn layers(&self, survey: &WatchSurvey) -> Vec<LayerCounts> {
        let name = |device: usize| survey.disk_name(device).unwrap_or_default().to_owned();
        let above = survey.watch.loops_above(self.target.device).into_iter().map(|layer| {
            let LoopLayer { upper, lower, bytes, below_bytes } = layer;
            LayerCounts::new(name(upper), name(lower), [bytes, below_bytes], false)
        });
        let below = self.target.below.iter().zip(&self.below).map(|(pair, before)| {
            let after = pair.written_bytes();
            let grown = [0, 1].map(|end| after[end].wrapping_sub(before[end]));
            let (upper, lower) = (pair.upper.0.clone(), pair.lower.0.clone());
            let counts = LayerCounts::new(upper, lower, grown, true);
            let amplification = counts.amplification.filter(|_| !pair.is_one_of_several);
            LayerCounts { amplification, ..counts }
        });
        above.chain(below).collect()
    }
}

/// Reads tasks and counters, while events wait.
fn begin(
    mut shared: MutexGuard<'_, Shared>,
    targets: Vec<WatchTarget>,
    own: RecordingProcess,
) -> io::Result<(Instant, Vec<Counted>)> {
    let watch = &mut shared.survey.watch;
    for task in task_table::tasks() {
        let task_table::TaskEntry { thread, process, program, cgroup, is_kernel } = task;
        watch.tasks.add(&RunningTask { thread, process, program, cgroup, is_kernel });
    }
    match own {
        RecordingProcess::Watcher => watch.tasks.set_watcher(std::process::id()),
        RecordingProcess::Workload => {
            watch.tasks.charge_process(std::process::id(), Causer::WORKLOAD);
        }
    }
    let began = Instant::now();
    let mut all = Vec::new();
    for target in targets {
        let (reading, before) = read(&target.number)?;
        watch.begin(target.device, reading);
        let below = target.below.iter().map(StackedPair::written_bytes).collect();
        all.push(Counted { target, before, below, counter_bytes: 0, inexact: Vec::new() });
    }
    Ok((began, all))
}

/// A counter, with the times between which it was read.
fn read(number: &str) -> io::Result<(WrittenReading, Counters)> {
    let began_ns = monotonic_ns();
    let counters = block::read(number)?.counters;
    let ended_ns = monotonic_ns();
    let written_bytes = counters.written_bytes;
    Ok((WrittenReading { began_ns, ended_ns, written_bytes }, counters))
}

type Formats = Vec<Option<(EventFormat, WantedEvent)>>;

/// The wanted events that the kernel has, by number, and how they are recorded.
fn formats(
    instance: &Instance,
    watch: &Watch,
    notes: &mut Vec<String>,
) -> io::Result<(Formats, Vec<Tracepoint>)> {
    let (mut formats, mut tracepoints) = (Vec::new(), Vec::new());
    let own = watch.events().into_iter().map(|event| (event, true));
    let later = watch.later_events().into_iter().map(|event| (event, false));
    for ((wanted, filter), is_needed) in own.chain(later) {
        let mut found = wanted.names.iter().filter(|name| instance.has_event(name));
        let Some(name) = found.next() else {
            let says = || {
                format!("not in this kernel: {}; unknown: {}", wanted.names[0], wanted.lacking())
            };
            notes.extend(is_needed.then(says));
            continue;
        };
        let format = instance.read(&format!("events/{name}/format"))?;
        let is_number = matches!(wanted.key, SourceKey::Device | SourceKey::Fsid);
        let key = wanted.key.field().filter(|_| is_number);
        let numbers: Vec<&'static str> =
            key.into_iter().chain(wanted.numbers.iter().copied()).collect();
        let text = wanted.text.or(wanted.key.field().filter(|_| !is_number));
        match EventFormat::parse(name, &format, &numbers, text) {
            Ok(format) => {
                let index = usize::from(format.id);
                if formats.len() <= index {
                    formats.resize_with(index + 1, || None);
                }
                formats[index] = Some((format, wanted));
                tracepoints.push(Tracepoint { name: (*name).to_owned(), filter });
            }
            Err(fault) => notes.push(format!("{fault}; unknown: {}", wanted.lacking())),
        }
    }
    Ok((formats, tracepoints))
}

pub(crate) fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // A thread that panicked has left the rows as they were after some event.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feed {
    fn decode(&mut self, sub_buffer: &[u8]) -> Result<(), String> {
        let records = self.layout.records(sub_buffer).map_err(|fault| fault.to_string())?;
        self.lost = self.lost.saturating_add(records.lost);
        for record in records {
            let record = record.map_err(|fault| fault.to_string())?;
            let Some((id, thread)) = record_head(record.data) else { continue };
            let Some(Some((format, wanted))) = self.formats.get(usize::from(id)) else { continue };
            self.events.push(event(record.time_ns, thread, record.data, format, wanted));
        }
        Ok(())
    }
}

fn event(
    time_ns: u64,
    thread: u32,
    data: &[u8],
    format: &EventFormat,
    wanted: &WantedEvent,
) -> CauseEvent {
    let text = format.text(data).map(String::from_utf8_lossy);
    let (key, first) = match wanted.key {
        SourceKey::Thread => (0, 0),
        SourceKey::Device | SourceKey::Fsid => (format.number(0, data), 1),
        SourceKey::Backing => (text.as_deref().map_or(u64::MAX, bdi_number), 0),
    };
    let mut numbers = [0; MOST_NUMBERS];
    for (index, number) in numbers.iter_mut().enumerate().take(wanted.numbers.len()) {
        *number = format.number(first + index, data);
    }
    let text = wanted.text.and(text).map(|text| text.into_owned().into_boxed_str());
    CauseEvent { time_ns, thread, point: wanted.point, key, numbers, text }
}

impl Sink for Feed {
    fn sub_buffer(&mut self, bytes: &[u8]) {
        if let Err(fault) = self.decode(bytes) {
            self.trouble.get_or_insert(fault);
        }
    }

    fn advance(&mut self, until_ns: u64) {
        // While the program reads tasks and counters, the buffers are emptied all the same.
        let shared = self.shared.try_lock();
        let mut shared = match shared {
            Err(TryLockError::WouldBlock) if until_ns < u64::MAX => return,
            Err(TryLockError::WouldBlock) => lock(&self.shared),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Ok(shared) => shared,
        };
        self.events.sort_by_key(|event| event.time_ns);
        let known = self.events.partition_point(|event| event.time_ns <= until_ns);
        // After the program had the rows for long, the buffers must not wait for all at once.
        let now = if until_ns < u64::MAX { known.min(MOST_AT_ONCE) } else { known };
        let is_all = now == known;
        shared.taken_until_ns = if is_all { until_ns } else { self.events[now].time_ns - 1 };
        shared.take(self.events.drain(..now));
        let Shared { survey, taken_until_ns, phases, .. } = &mut *shared;
        phases.settle(&mut survey.watch, *taken_until_ns);
    }
}

impl Shared {
    fn take(&mut self, events: impl Iterator<Item = CauseEvent>) {
        for event in events {
            if event.point == EventPoint::BtrfsChunkAdded {
                self.chunks_change_until_ns = event.time_ns + CHUNK_APPEARS_NS;
            }
            if event.time_ns < self.chunks_change_until_ns && event.point == EventPoint::BtrfsPlaced
            {
                self.read_chunks();
            }
            self.survey.watch.take(&event);
        }
        if self.taken_until_ns < self.chunks_change_until_ns {
            self.read_chunks();
        }
        let WatchSurvey { watch, names, .. } = &mut self.survey;
        names.learn_cgroups(watch.tasks.take_fresh_names().iter().map(|name| name.cgroup.as_str()));
        if names.is_full() {
            let devices = watch.devices().iter();
            let rows = devices.flat_map(|device| device.ledger.rows());
            names.retain(&rows.filter_map(|(key, _)| key.inode).collect());
        }
        names.learn(&watch.take_fresh());
        names.check(&watch.take_deleted());
        for process in watch.tasks.take_strays() {
            if let Some(cgroup) = task_table::cgroup(process) {
                watch.tasks.set_cgroup(process, &cgroup);
            }
        }
    }

    fn read_chunks(&mut self) {
        let WatchSurvey { watch, btrfs, .. } = &mut self.survey;
        for source in btrfs {
            // Without them, data in new chunks is charged by file.
            if let Ok(geometry) = source.geometry() {
                watch.update_btrfs(source.filesystem, geometry);
            }
        }
    }
}
