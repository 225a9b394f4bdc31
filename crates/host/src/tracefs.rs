//! Events of the running kernel, recorded in an instance of its own below tracefs.
//!
//! Sources: Documentation/trace/ftrace.rst, Documentation/trace/events.rst, and of the kernel
//! `kernel/trace/trace.c` for what a read of `trace_pipe_raw` returns. An instance has its own
//! buffers, clock, events and filters, so it neither disturbs nor sees what others trace. It is a
//! folder: mkdir(2) creates it, and rmdir(2) stops and removes it in any state, as long as none of
//! its files is open. So one rmdir cleans up after a killed program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, fsconfig_create, fsmount, fsopen,
};
use rustix::time::{ClockId, clock_gettime};

use super::missing::if_there;

/// The mount points of tracefs, current and of older kernels.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Its source in the mount table, if mounted by [`mount`].
pub const SOURCE: &str = "tracefs";

/// The folder of its instances.
pub const INSTANCES: &str = "instances";

/// The least buffer per processor. 100,000 requests a second make 20 MB a second, and when the
/// thread had to wait for other work, up to 2.4 MB accumulated before it ran.
const LEAST_BUFFER_KIB: usize = 4096;

/// The buffers of all processors, where they are few: there the thread waits longest, as beside a
/// compiler, while `who` records many events for each request.
const BUFFERS_KIB: usize = 64 << 10;

/// At least the size of the buffer of tracefs (`TRACE_SEQ_BUFFER_SIZE`).
const LONGEST_TEXT_BYTES: usize = 64 << 10;

/// The interval at which the buffers are drained. At 50,000 requests a second the thread needs 0.4
/// us per request; with 5 ms it needs 0.6. Waking up through poll(2) saves nothing.
const PERIOD: Duration = Duration::from_millis(20);

/// An event to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracepoint {
    /// Its folder below `events`, such as `block/block_rq_issue`.
    pub name: String,
    /// The event's `filter` expression; empty to record all.
    pub filter: String,
}

/// A receiver of recorded events.
pub trait Sink: Send + 'static {
    /// Receives a sub-buffer of a processor, in order for each processor.
    fn sub_buffer(&mut self, bytes: &[u8]);

    /// Every event up to this time, in ns of `CLOCK_MONOTONIC`, has been delivered.
    fn advance(&mut self, until_ns: u64);
}

/// Events that were overwritten before being read, or could not be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Overwritten before they were read.
    pub overrun: u64,
    /// Not recorded, because too many events were nested.
    pub commit_overrun: u64,
    /// Not recorded, because the buffer was full.
    pub dropped: u64,
}

impl Losses {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.overrun + self.commit_overrun + self.dropped
    }
}

/// The folder of instances of the mounted tracefs; `None` if it is not mounted.
pub fn instances() -> io::Result<Option<PathBuf>> {
    for place in PLACES {
        let folder = Path::new(place).join(INSTANCES);
        let found = if_there(fs::metadata(&folder));
        if found.map_err(|error| failed("look into", &folder, &error))?.is_some() {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Mounts tracefs on a folder, and returns its folder of instances.
pub fn mount(folder: &Path) -> io::Result<PathBuf> {
    rustix::mount::mount(SOURCE, folder, "tracefs", MountFlags::empty(), None)
        .map_err(|errno| failed("mount tracefs on", folder, &errno.into()))?;
    Ok(folder.join(INSTANCES))
}

/// A tracefs that may be mounted nowhere.
#[derive(Debug)]
pub struct Tracefs {
    instances: PathBuf,
    /// The mount that only this process has, which ends with it.
    _own: Option<OwnedFd>,
}

impl Tracefs {
    /// The mounted tracefs, else one that is attached to no folder, so that nothing is left.
    pub fn open() -> io::Result<Self> {
        if let Some(instances) = instances()? {
            return Ok(Self { instances, _own: None });
        }
        let mount = || -> rustix::io::Result<OwnedFd> {
            let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&context)?;
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
        };
        let own = mount().map_err(|errno| failed("mount", Path::new("tracefs"), &errno.into()))?;
        let instances =
            Path::new("/proc/self/fd").join(own.as_raw_fd().to_string()).join(INSTANCES);
        Ok(Self { instances, _own: Some(own) })
    }

    /// Makes an instance whose name begins with this and the number of this process. Those of
    /// processes that have ended are removed.
    pub fn instance(&self, purpose: &str) -> io::Result<Instance> {
        let prefix = format!("{purpose}-");
        let entries = fs::read_dir(&self.instances);
        for entry in entries.map_err(|error| failed("list", &self.instances, &error))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix(&prefix).and_then(|rest| rest.parse::<u32>().ok());
            if process.is_some_and(|own| !Path::new("/proc").join(own.to_string()).exists()) {
                // Another program may be removing it, too.
                let _ = remove_instance(&entry.path());
            }
        }
        Instance::create(self.instances.join(format!("{prefix}{}", std::process::id())))
    }
}

/// Removes an instance in any state, unless one of its files is open.
pub fn remove_instance(folder: &Path) -> io::Result<()> {
    fs::remove_dir(folder).map_err(|error| failed("remove", folder, &error))
}

/// An instance, removed when dropped.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
}

impl Instance {
    /// Makes an instance, by its folder among the [`instances`], which must not exist.
    pub fn create(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir(&folder).map_err(|error| failed("make", &folder, &error))?;
        Ok(Self { folder })
    }

    /// Reads a file of the instance, such as `events/header_page`.
    pub fn read(&self, file: &str) -> io::Result<String> {
        let path = self.folder.join(file);
        read_whole(&path).map_err(|error| failed("read", &path, &error))
    }

    /// Whether the kernel has an event, by its folder below `events`.
    pub fn has_event(&self, name: &str) -> bool {
        self.folder.join("events").join(name).join("enable").exists()
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        let path = self.folder.join(file);
        let file = OpenOptions::new().write(true).open(&path);
        file.and_then(|mut file| file.write_all(value.as_bytes()))
            .map_err(|error| failed(&format!("write {value:?} to"), &path, &error))
    }

    /// The folders of the processors.
    fn processors(&self) -> io::Result<Vec<PathBuf>> {
        let folder = self.folder.join("per_cpu");
        let entries = fs::read_dir(&folder).map_err(|error| failed("list", &folder, &error))?;
        entries.map(|entry| entry.map(|entry| entry.path())).collect()
    }

    fn losses(&self) -> io::Result<Losses> {
        let mut sum = Losses::default();
        for folder in self.processors()? {
            let path = folder.join("stats");
            let text = fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))?;
            sum.overrun += statistic(&text, "overrun");
            sum.commit_overrun += statistic(&text, "commit overrun");
            sum.dropped += statistic(&text, "dropped events");
        }
        Ok(sum)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Its creator journals the folder first, and removes any leftover.
        let _ = remove_instance(&self.folder);
    }
}

/// A recording of events, which a thread delivers to a sink. If dropped, it ends and pending events
/// are lost.
#[derive(Debug)]
pub struct TraceRecording<S> {
    reader: Option<JoinHandle<io::Result<S>>>,
    is_over: Arc<AtomicBool>,
    /// The last field, as it can only be removed once nothing of it is open.
    instance: Instance,
}

impl<S: Sink> TraceRecording<S> {
    /// Starts recording. The sink receives pieces of up to `sub_buffer_bytes`, which must be the
    /// length given in `events/header_page`.
    pub fn start(
        instance: Instance,
        events: &[Tracepoint],
        sub_buffer_bytes: usize,
        sink: S,
    ) -> io::Result<Self> {
        instance.write("trace_clock", "mono")?;
        let processors = instance.processors()?;
        let each = (BUFFERS_KIB / processors.len().max(1)).max(LEAST_BUFFER_KIB);
        instance.write("buffer_size_kb", &each.to_string())?;
        for event in events.iter().filter(|event| !event.filter.is_empty()) {
            instance.write(&format!("events/{}/filter", event.name), &event.filter)?;
        }
        let pipes: Vec<File> =
            processors.iter().map(|folder| open(folder)).collect::<Result<_, _>>()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let reader = Reader {
            pipes,
            buffer: vec![0; sub_buffer_bytes],
            is_over: Arc::clone(&is_over),
            sink,
        };
        let thread = thread::Builder::new().name("tracefs".to_owned());
        let reader = thread.spawn(move || reader.run())?;
        let recording = Self { reader: Some(reader), is_over, instance };
        for event in events {
            recording.instance.write(&format!("events/{}/enable", event.name), "1")?;
        }
        Ok(recording)
    }

    /// What was lost so far.
    pub fn losses(&self) -> io::Result<Losses> {
        self.instance.losses()
    }

    /// Stops recording, delivers all recorded events, and removes the instance.
    pub fn stop(mut self) -> io::Result<(S, Losses)> {
        self.instance.write("events/enable", "0")?;
        // An event that had begun on another processor is complete long before this ends.
        thread::sleep(PERIOD);
        let reader = self.end().expect("the thread is there until the recording is stopped");
        let sink = reader.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let losses = self.instance.losses()?;
        Ok((sink, losses))
    }
}

impl<S> TraceRecording<S> {
    fn end(&mut self) -> Option<thread::Result<io::Result<S>>> {
        let reader = self.reader.take()?;
        self.is_over.store(true, Ordering::Release);
        reader.thread().unpark();
        Some(reader.join())
    }
}

impl<S> Drop for TraceRecording<S> {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the thread does.
struct Reader<S> {
    pipes: Vec<File>,
    buffer: Vec<u8>,
    is_over: Arc<AtomicBool>,
    sink: S,
}

impl<S: Sink> Reader<S> {
    fn run(mut self) -> io::Result<S> {
        let mut last_began_ns = 0;
        loop {
            let is_last = self.is_over.load(Ordering::Acquire);
            let began_ns = monotonic_ns();
            for pipe in &mut self.pipes {
                empty(pipe, &mut self.buffer, &mut self.sink)?;
            }
            // An event is timestamped before it becomes readable, so wait one more round for it.
            self.sink.advance(last_began_ns);
            last_began_ns = began_ns;
            if is_last {
                return Ok(self.sink);
            }
            thread::park_timeout(PERIOD);
        }
    }
}

/// Reads a text. Some (`header_page`) can be read only once, however short the read(2).
fn read_whole(path: &Path) -> io::Result<String> {
    let mut file = BufReader::with_capacity(LONGEST_TEXT_BYTES, File::open(path)?);
    let mut text = String::new();
    while file.read_line(&mut text)? > 0 {}
    Ok(text)
}

/// Reads all that a processor has recorded.
fn empty(pipe: &mut File, buffer: &mut [u8], sink: &mut impl Sink) -> io::Result<()> {
    loop {
        match pipe.read(buffer) {
            Ok(0) => return Ok(()),
            Ok(bytes) => sink.sub_buffer(&buffer[..bytes]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            // A hot-pluggable processor that was never online has no buffer.
            Err(error) if error.raw_os_error() == Some(Errno::NODEV.raw_os_error()) => {
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("cannot read the kernel's trace: {error}");
                return Err(io::Error::new(error.kind(), message));
            }
        }
    }
}

fn open(processor: &Path) -> io::Result<File> {
    let path = processor.join("trace_pipe_raw");
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let pipe = OpenOptions::new().read(true).custom_flags(flags).open(&path);
    pipe.map_err(|error| failed("open", &path, &error))
}

/// A number in a processor's `stats`; 0 for one that the kernel does not have.
fn statistic(text: &str, name: &str) -> u64 {
    let values = text.lines().filter_map(|line| line.split_once(':'));
    let mut named = values.filter(|(key, _)| *key == name);
    named.next().and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

/// The time of `CLOCK_MONOTONIC`, which a recording's events have.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn failed(action: &str, path: &Path, error: &io::Error) -> io::Error {
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => {
            "; tracing needs root with CAP_SYS_ADMIN, which containers do not have, and a kernel \
             that is not locked down for confidentiality"
        }
        ErrorKind::AlreadyExists => {
            "; if the program that created it has ended, remove it with rmdir"
        }
        ErrorKind::ResourceBusy => "; another program has one of its files open",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot {action} {}: {error}{hint}", path.display()))
}

#[cfg(test)]
mod tests;
