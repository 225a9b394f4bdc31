//! Events of the running kernel, recorded in an instance of its own below tracefs.
//!
//! Sources: Documentation/trace/ftrace.rst, Documentation/trace/events.rst, and of the kernel
//! `kernel/trace/trace.c` for what a read of `trace_pipe_raw` returns. An instance has its own
//! buffers, clock, events and filters, so it neither disturbs nor sees what others trace. It is a
//! folder: mkdir(2) makes it, and rmdir(2) ends all that it does, however it was left, as long as
//! none of its files is open. So what a killed program leaves is removed by one rmdir.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::time::{ClockId, clock_gettime};

/// Where tracefs is, first its own place and then that of older kernels.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// What the mount table has as its source, where it was mounted by [`mount`].
pub const SOURCE: &str = "tracefs";

/// The folder in it that instances are made in.
const INSTANCES: &str = "instances";

/// The buffer of each processor. 100,000 requests a second are 20 MB, and where the thread had to
/// wait behind other work, 2.4 MB were seen to gather before it had its turn.
const BUFFER_KIB: u32 = 4096;

/// What tracefs writes into at once (`TRACE_SEQ_BUFFER_SIZE`), or more.
const LONGEST_TEXT_BYTES: usize = 64 << 10;

/// How long the buffers fill before they are emptied. At 50,000 requests a second the thread needs
/// 0.4 us for each; with 5 ms it needs 0.6. Being woken by the kernel (poll(2)) saves nothing.
const PERIOD: Duration = Duration::from_millis(20);

/// An event to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its folder below `events`, such as `block/block_rq_issue`.
    pub name: String,
    /// Which of them, as in the event's `filter`.
    pub filter: String,
}

/// What takes the recorded events.
pub trait Sink: Send + 'static {
    /// Takes a sub-buffer of a processor, after all before it of the same processor.
    fn sub_buffer(&mut self, bytes: &[u8]);

    /// Every event up to this time, in ns of `CLOCK_MONOTONIC`, has been handed over.
    fn advance(&mut self, until_ns: u64);
}

/// Events that were recorded but cannot be read any more, or that could not be recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Losses {
    /// Overwritten before they were read.
    pub overrun: u64,
    /// Not recorded, as too many interrupted each other.
    pub commit_overrun: u64,
    /// Not recorded, as the buffer was full.
    pub dropped: u64,
}

/// The folder of instances where tracefs is mounted; `None` if it is at none of its places.
pub fn instances() -> io::Result<Option<PathBuf>> {
    for place in PLACES {
        let folder = Path::new(place).join(INSTANCES);
        match fs::metadata(&folder) {
            Ok(_) => return Ok(Some(folder)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed("look into", &folder, &error)),
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

/// Removes an instance, whatever it does, unless somebody has one of its files open.
pub fn remove_instance(folder: &Path) -> io::Result<()> {
    fs::remove_dir(folder).map_err(|error| failed("remove", folder, &error))
}

/// An instance, which is removed when it is dropped.
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

    /// What a file of the instance holds, such as `events/header_page`.
    pub fn read(&self, file: &str) -> io::Result<String> {
        let path = self.folder.join(file);
        read_whole(&path).map_err(|error| failed("read", &path, &error))
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
        // Whoever made it notes the folder before, and removes what is left here.
        let _ = remove_instance(&self.folder);
    }
}

/// Events being recorded, which a thread hands to a sink. Dropped, it ends and what waits is lost.
#[derive(Debug)]
pub struct Recording<S> {
    reader: Option<JoinHandle<io::Result<S>>>,
    is_over: Arc<AtomicBool>,
    /// The last field, as it can only be removed once nothing of it is open.
    instance: Instance,
}

impl<S: Sink> Recording<S> {
    /// Starts to record. The sink is handed pieces of up to `sub_buffer_bytes`, which must be the
    /// length that `events/header_page` tells.
    pub fn start(
        instance: Instance,
        events: &[Event],
        sub_buffer_bytes: usize,
        sink: S,
    ) -> io::Result<Self> {
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        for event in events {
            instance.write(&format!("events/{}/filter", event.name), &event.filter)?;
        }
        let pipes: Vec<File> =
            instance.processors()?.iter().map(|folder| open(folder)).collect::<Result<_, _>>()?;
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

    /// Ends the events, hands over all that were recorded, and removes the instance.
    pub fn stop(mut self) -> io::Result<(S, Losses)> {
        self.instance.write("events/enable", "0")?;
        // An event that had begun on another processor by then is whole long before this is over.
        thread::sleep(PERIOD);
        let reader = self.end().expect("the thread is there until the recording is stopped");
        let sink = reader.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let losses = self.instance.losses()?;
        Ok((sink, losses))
    }
}

impl<S> Recording<S> {
    fn end(&mut self) -> Option<thread::Result<io::Result<S>>> {
        let reader = self.reader.take()?;
        self.is_over.store(true, Ordering::Release);
        reader.thread().unpark();
        Some(reader.join())
    }
}

impl<S> Drop for Recording<S> {
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
            // An event gets its time first and can be read later, so each has a round for that.
            self.sink.advance(last_began_ns);
            last_began_ns = began_ns;
            if is_last {
                return Ok(self.sink);
            }
            thread::park_timeout(PERIOD);
        }
    }
}

/// Reads a text. Some (`header_page`) are gone after the first read(2), however short it was.
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
            // A processor that may come but has never been there has no buffer.
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

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn failed(action: &str, path: &Path, error: &io::Error) -> io::Error {
    let hint = match error.kind() {
        ErrorKind::PermissionDenied => "; tracing needs root, and a kernel that is not locked down",
        ErrorKind::AlreadyExists => "; remove what another program left (rmdir), if it has ended",
        ErrorKind::ResourceBusy => "; another program has one of its files open",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot {action} {}: {error}{hint}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_found_by_their_whole_name() {
        let text =
            "entries: 0\noverrun: 3\ncommit overrun: 5\nnow ts: 70963.72\ndropped events: 7\n";
        assert_eq!(statistic(text, "overrun"), 3);
        assert_eq!(statistic(text, "commit overrun"), 5);
        assert_eq!(statistic(text, "dropped events"), 7);
        assert_eq!(statistic(text, "read events"), 0);
    }
}
