//! The recording: the kernel's events, decoded every 20 ms and fed to the watch, and the readings
//! of counters between which the rows must add up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic, Report};
use ssdlab_causes::{
    Balance, CauseEvent, EventPoint, MOST_NUMBERS, RunningTask, SourceKey, WantedEvent, Watch,
    WrittenReading, bdi_number,
};
use ssdlab_host::meter::block::{self, Counters};
use ssdlab_host::task_table;
use ssdlab_host::tracefs::{Instance, Sink, TraceRecording, Tracefs, Tracepoint, monotonic_ns};
use ssdlab_trace::ftrace::{EventFormat, SubBufferLayout, record_head};

use super::names::Names;
use super::summary::{self, DeviceCounts, LayerCounts, RecordedDevice, WhoOutput};
use super::survey::{BtrfsSource, WatchSurvey, WatchTarget};

/// How often the rows are compared with the counters.
const CHECK_EVERY: Duration = Duration::from_mins(1);
/// How long a new btrfs chunk may take to appear in the chunk tree.
const CHUNK_APPEARS_NS: u64 = 5_000_000_000;

/// What the reader of events and the program share.
struct Shared {
    watch: Watch,
    names: Names,
    btrfs: Vec<BtrfsSource>,
    /// Until when chunks are read anew.
    chunks_change_until_ns: u64,
    /// Every event up to this time has been taken.
    taken_until_ns: u64,
}

/// The recording in progress.
pub struct WhoRecording {
    trace: TraceRecording<Feed>,
    /// The last: nothing of the instance may be open when it goes.
    _tracefs: Tracefs,
    shared: Arc<Mutex<Shared>>,
    targets: Vec<Counted>,
    notes: Vec<String>,
    began: Instant,
    checked: Instant,
    /// When the counters were read whose comparison is open.
    open_since_ns: Option<u64>,
}

struct Counted {
    target: WatchTarget,
    before: Counters,
    below: Vec<(String, String, u64)>,
    balances: Vec<Balance>,
}

/// Decodes records, and holds events until those of all processors are known.
struct Feed {
    layout: SubBufferLayout,
    /// By the event's number.
    formats: Vec<Option<(EventFormat, WantedEvent)>>,
    events: Vec<CauseEvent>,
    lost: u64,
    trouble: Option<String>,
    shared: Arc<Mutex<Shared>>,
}

impl WhoRecording {
    /// Starts recording what was surveyed.
    pub fn start(survey: WatchSurvey) -> Result<Self, Report> {
        let WatchSurvey { watch, targets, filesystems, btrfs, mut notes, .. } = survey;
        let tracefs = Tracefs::open().into_diagnostic()?;
        let instance = tracefs.instance("ssdlab-who").into_diagnostic()?;
        let header = instance.read("events/header_page").into_diagnostic()?;
        let layout = SubBufferLayout::parse(&header).into_diagnostic()?;
        let (formats, tracepoints) = formats(&instance, &watch, &mut notes)?;
        let shared = Arc::new(Mutex::new(Shared {
            watch,
            names: Names::new(filesystems),
            btrfs,
            chunks_change_until_ns: 0,
            taken_until_ns: 0,
        }));
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
        let guard = lock(&shared);
        let trace = TraceRecording::start(instance, &tracepoints, sub_buffer_bytes, feed)
            .into_diagnostic()?;
        let (began, targets) = begin(guard, targets)?;
        let checked = began;
        let open_since_ns = None;
        Ok(Self { trace, _tracefs: tracefs, shared, targets, notes, began, checked, open_since_ns })
    }

    /// Compares the rows with the counters once a minute.
    pub fn check_each_minute(&mut self) {
        if self.open_since_ns.is_some() {
            self.settle();
        } else if self.checked.elapsed() >= CHECK_EVERY {
            self.checked = Instant::now();
            // A counter that cannot be read now is read at the end.
            self.open_since_ns = self.read_counters().ok();
        }
    }

    /// Reads every counter, for [`Self::settle`], and returns when it had.
    fn read_counters(&mut self) -> std::io::Result<u64> {
        let mut shared = lock(&self.shared);
        for counted in &self.targets {
            let (reading, _) = read(&counted.target.number)?;
            shared.watch.set_next(counted.target.device, reading);
        }
        Ok(monotonic_ns())
    }

    /// Compares, once all events before the readings have been taken.
    fn settle(&mut self) {
        let mut shared = lock(&self.shared);
        if self.open_since_ns.is_some_and(|since_ns| shared.taken_until_ns > since_ns) {
            for counted in &mut self.targets {
                counted.balances.extend(shared.watch.settle(counted.target.device, true));
            }
            self.open_since_ns = None;
        }
    }

    /// Ends the recording. `is_named` says whether a device was named.
    pub fn finish(mut self, is_named: bool) -> Result<WhoOutput, Report> {
        while self.open_since_ns.is_some() {
            std::thread::sleep(Duration::from_millis(5));
            self.settle();
        }
        self.read_counters().into_diagnostic()?;
        let seconds = self.began.elapsed().as_secs_f64();
        let after: Vec<DeviceCounts> = self.targets.iter().map(DeviceCounts::of).collect();
        let Self { trace, shared, mut targets, mut notes, .. } = self;
        let (mut feed, losses) = trace.stop().into_diagnostic()?;
        feed.advance(u64::MAX);
        if let Some(trouble) = feed.trouble.take() {
            notes.push(format!("events could not be read: {trouble}"));
        }
        let lost_events = (losses.overrun + losses.commit_overrun + losses.dropped).max(feed.lost);
        drop(feed);
        let mut shared = lock(&shared);
        for counted in &mut targets {
            let balance = shared.watch.settle(counted.target.device, false);
            counted.balances.extend(balance);
        }
        let Shared { watch, names, .. } = &*shared;
        let devices = targets.iter().zip(after).map(|(counted, counts)| {
            let recorded = RecordedDevice {
                name: &counted.target.name,
                device: counted.target.device,
                balances: &counted.balances,
                counts,
                seconds,
                lost_events,
                notes: &notes,
            };
            summary::of_device(watch, names, &recorded)
        });
        Ok(WhoOutput::new(devices.collect(), is_named))
    }
}

impl DeviceCounts {
    fn of(counted: &Counted) -> Self {
        let now = block::read(&counted.target.number).map(|reading| reading.counters);
        let since = now.unwrap_or(counted.before).since(&counted.before);
        let layers = counted.below.iter().map(|(name, number, before)| {
            let now = block::read(number).map_or(*before, |now| now.counters.written_bytes);
            LayerCounts { device: name.clone(), counter_bytes: now.wrapping_sub(*before) }
        });
        Self { discarded_bytes: since.discarded_bytes, layers: layers.collect() }
    }
}

/// Reads tasks and counters, while events wait.
fn begin(
    mut shared: MutexGuard<'_, Shared>,
    targets: Vec<WatchTarget>,
) -> Result<(Instant, Vec<Counted>), Report> {
    for task in task_table::tasks() {
        let task_table::TaskEntry { thread, process, program, cgroup, is_kernel } = task;
        shared.watch.tasks.add(&RunningTask { thread, process, program, cgroup, is_kernel });
    }
    let began = Instant::now();
    let mut all = Vec::new();
    for target in targets {
        let (reading, before) = read(&target.number).into_diagnostic()?;
        shared.watch.begin(target.device, reading);
        let below = target.below.iter().map(|(name, number)| {
            let bytes = block::read(number).map_or(0, |now| now.counters.written_bytes);
            (name.clone(), number.clone(), bytes)
        });
        let below = below.collect();
        all.push(Counted { target, before, below, balances: Vec::new() });
    }
    Ok((began, all))
}

/// A counter, with the times between which it was read.
fn read(number: &str) -> std::io::Result<(WrittenReading, Counters)> {
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
) -> Result<(Formats, Vec<Tracepoint>), Report> {
    let (mut formats, mut tracepoints) = (Vec::new(), Vec::new());
    for (wanted, filter) in watch.events() {
        let mut found = wanted.names.iter().filter(|name| instance.has_event(name));
        let Some(name) = found.next() else {
            notes.push(format!(
                "not in this kernel: {}; unknown: {}",
                wanted.names[0],
                wanted.lacking()
            ));
            continue;
        };
        let format = instance.read(&format!("events/{name}/format")).into_diagnostic()?;
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
    notes.sort();
    notes.dedup();
    Ok((formats, tracepoints))
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
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
        shared.take(self.events.drain(..known));
        shared.taken_until_ns = until_ns;
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
            self.watch.take(&event);
        }
        if self.taken_until_ns < self.chunks_change_until_ns {
            self.read_chunks();
        }
        let cgroups = self.watch.tasks.take_fresh_names().iter().map(|name| name.cgroup.as_str());
        self.names.learn_cgroups(cgroups);
        let fresh = self.watch.take_fresh();
        self.names.learn(&fresh);
        self.names.check(&self.watch.take_deleted());
        for process in self.watch.tasks.take_strays() {
            if let Some(cgroup) = task_table::cgroup(process) {
                self.watch.tasks.set_cgroup(process, &cgroup);
            }
        }
    }

    fn read_chunks(&mut self) {
        for source in &self.btrfs {
            // Without them, data in new chunks is charged by file.
            if let Ok(geometry) = source.geometry() {
                self.watch.update_btrfs(source.filesystem, geometry);
            }
        }
    }
}
