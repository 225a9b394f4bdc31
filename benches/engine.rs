//! The engine against fio: reads and writes of 4 KiB at random offsets, at depth 1 and 32, on a
//! file of a filesystem on a loop device by direct I/O (needs root), and on one of tmpfs. Both are
//! in memory, so that only the cost of submission differs.
//!
//! Runs alternate on one processor; each figure is the median of its side's. The processor time of
//! an operation is that of the working thread, like fio's own report. Deep sleep and the I/O
//! scheduler are disabled: waking an idle processor in a virtual machine sometimes costs more than
//! everything else.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use ssdlab_disk::guest;
use ssdlab_plan::io::{BlockSize, Io, IoContents, IoEnd, IoPattern, IoSyncPolicy, SyncBy};
use ssdlab_workload::engine::{EngineJob, run};

const ROUNDS: usize = 7;

/// The duration of each run.
const TIME: Duration = Duration::from_secs(2);

/// The size of the file.
const SPAN_BYTES: u64 = 512 << 20;

/// The processor that both sides use.
const PROCESSOR: usize = 1;

/// The result of a run.
#[derive(Clone, Copy)]
struct Run {
    operations_per_second: f64,
    cpu_ns: f64,
}

/// A line of the table.
struct Case<'a> {
    place: &'a str,
    file: &'a Path,
    is_direct: bool,
    reads: bool,
    depth: u32,
}

fn main() {
    guest::pin(PROCESSOR);
    let _awake = keep_awake();
    println!("{:34} {:>17} {:>6} {:>17} {:>6}", "", "operations/s", "", "CPU ns/operation", "");
    println!(
        "{:34} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6}",
        "4 KiB at random", "ours", "fio", "ratio", "ours", "fio", "ratio"
    );
    if rustix::process::geteuid().is_root() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let disk = Disk::make(folder.path());
        table("loop, ext4, direct", &disk.mounted.join("file"), true);
    } else {
        println!("loop device: ignored: it needs root");
    }
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    table("/dev/shm, buffered", &memory.path().join("file"), false);
}

fn table(place: &str, file: &Path, is_direct: bool) {
    lay_out(file);
    for (reads, depth) in [(true, 1), (true, 32), (false, 1), (false, 32)] {
        let case = Case { place, file, is_direct, reads, depth };
        let runs: Vec<[Run; 2]> =
            (0..ROUNDS).map(|round| [case.ours(round as u64), case.fio()]).collect();
        let side = |side: usize, of: fn(&Run) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(|both| of(&both[side])).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let [rate, fio_rate] = [0, 1].map(|number| side(number, |run| run.operations_per_second));
        let [cpu, fio_cpu] = [0, 1].map(|number| side(number, |run| run.cpu_ns));
        println!(
            "{:20} {:6} depth {:2} {rate:8.0} {fio_rate:8.0} {:6.3} {cpu:8.0} {fio_cpu:8.0} {:6.3}",
            case.place,
            if reads { "reads" } else { "writes" },
            depth,
            rate / fio_rate,
            cpu / fio_cpu
        );
    }
}

/// Writes the whole file, so that all of it is on the device.
fn lay_out(file: &Path) {
    let file = File::options().write(true).create_new(true).open(file).unwrap();
    let io = Io {
        pattern: IoPattern::Sequential,
        blocks: vec![BlockSize { bytes: 1 << 20, weight: 1 }],
        depth: 4,
        sync: IoSyncPolicy::AtEnd,
        end: IoEnd::Bytes(SPAN_BYTES),
        ..writes()
    };
    let job = EngineJob { io: &io, files: std::slice::from_ref(&file), text: &[], seed: 1 };
    run(&job, &mut |_| true).unwrap();
}

/// Writes of 4 KiB at random offsets, one at a time.
fn writes() -> Io {
    Io {
        file: "data".to_owned(),
        files: 1,
        size_bytes: SPAN_BYTES,
        pattern: IoPattern::Random,
        read_share: 0.0,
        blocks: vec![BlockSize { bytes: 4096, weight: 1 }],
        contents: IoContents::Random,
        depth: 1,
        direct: false,
        sync: IoSyncPolicy::Never,
        sync_by: SyncBy::Fdatasync,
        end: IoEnd::Time(u64::try_from(TIME.as_nanos()).unwrap()),
        period_ns: None,
    }
}

impl Case<'_> {
    fn ours(&self, seed: u64) -> Run {
        let flags = if self.is_direct { OFlags::DIRECT } else { OFlags::empty() };
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(i32::try_from(flags.bits()).unwrap())
            .open(self.file)
            .unwrap();
        let read_share = if self.reads { 1.0 } else { 0.0 };
        let io = Io { read_share, depth: self.depth, ..writes() };
        let job = EngineJob { io: &io, files: std::slice::from_ref(&file), text: &[], seed };
        let before = thread_cpu_ns();
        let done = run(&job, &mut |_| true).unwrap().moved();
        let operations = done.operations as f64;
        Run {
            operations_per_second: operations / done.took.as_secs_f64(),
            cpu_ns: (thread_cpu_ns() - before) / operations,
        }
    }

    fn fio(&self) -> Run {
        let output = Command::new("fio")
            .args(["--name=bench", "--ioengine=io_uring", "--fixedbufs", "--registerfiles"])
            .args(["--bs=4k", "--norandommap", "--time_based", "--invalidate=0"])
            .args(["--output-format=json", "--fallocate=none"])
            .arg(format!("--rw={}", if self.reads { "randread" } else { "randwrite" }))
            .arg(format!("--direct={}", u8::from(self.is_direct)))
            .arg(format!("--filename={}", self.file.display()))
            .arg(format!("--size={SPAN_BYTES}"))
            .arg(format!("--iodepth={}", self.depth))
            .arg(format!("--runtime={}", TIME.as_secs()))
            .arg(format!("--cpus_allowed={PROCESSOR}"))
            .output()
            .expect("fio is installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let start = text.find('{').unwrap_or_else(|| panic!("fio says: {text}"));
        let report: Value = serde_json::from_str(&text[start..]).unwrap();
        let job = &report["jobs"][0];
        let side = &job[if self.reads { "read" } else { "write" }];
        let number = |value: &Value| value.as_f64().unwrap();
        let cpu_share = (number(&job["usr_cpu"]) + number(&job["sys_cpu"])) / 100.0;
        let runtime_ns = number(&job["job_runtime"]) * 1e6;
        Run {
            operations_per_second: number(&side["iops"]),
            cpu_ns: cpu_share * runtime_ns / number(&side["total_ios"]),
        }
    }
}

/// While it is open, no processor enters a sleep state with a wake-up latency above this: 0 us
/// (`Documentation/power/pm_qos_interface.rst`). Needs root.
fn keep_awake() -> Option<File> {
    let mut file = File::options().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0_i32.to_ne_bytes()).ok()?;
    Some(file)
}

fn thread_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// A filesystem on a loop device over a file, until it is dropped.
struct Disk {
    mounted: std::path::PathBuf,
    device: String,
}

impl Disk {
    fn make(folder: &Path) -> Self {
        let (image, mounted) = (folder.join("image"), folder.join("mounted"));
        fs::create_dir(&mounted).unwrap();
        File::create(&image).unwrap().set_len(2 * SPAN_BYTES).unwrap();
        let device = shell("losetup --find --show --direct-io=on", &[&image]);
        let queue = format!("/sys/block/{}/queue/scheduler", device.trim_start_matches("/dev/"));
        fs::write(queue, "none").unwrap();
        shell(
            "mkfs.ext4 -q -E nodiscard,lazy_itable_init=0,lazy_journal_init=0",
            &[device.as_ref()],
        );
        shell("mount", &[device.as_ref(), &mounted]);
        Self { mounted, device }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The kernel tears down fio's ring, which uses the file, some time after fio has ended.
        for _ in 0..100 {
            let umount = Command::new("umount").arg(&self.mounted).stderr(Stdio::null()).status();
            if umount.is_ok_and(|status| status.success()) {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        shell("losetup --detach", &[self.device.as_ref()]);
    }
}

/// Runs a program with paths as its last arguments; returns what it printed.
fn shell(words: &str, paths: &[&Path]) -> String {
    let mut words = words.split(' ');
    let output = Command::new(words.next().unwrap()).args(words).args(paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
