//! The virtual lab: the boot time of a guest, its request rate, the duration of a trial and of the
//! shipped plan, and the memory of a large drive.
//!
//! It needs the lab kernel (`ssdlab kernel build`) and no root. This program is also the guest's
//! first process, as ssdlab is in a trial.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use ssdlab_disk::guest::{self as guest, GuestChannel, GuestMachine, HostChannel, Root};
use ssdlab_disk::{Disk, DiskShape, Flash};
use ssdlab_flash::{Drive, Nanos, Specification, presets};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_kernel as kernel;
use ssdlab_plan::HOSTS;
use ssdlab_workload::engine::{Aligned, BLOCK_BYTES};

const REQUESTS: u64 = 50_000;

/// The drive for the request rate.
const DRIVE: &str = "vertex-le";

fn main() {
    if std::process::id() == 1 {
        in_guest();
    }
    let kernel = match kernel::find(None) {
        Ok(kernel) => kernel,
        Err(error) => {
            println!("not measured: {error}");
            return;
        }
    };
    // On a separate thread, which is pinned to one processor.
    thread::scope(|scope| {
        scope.spawn(|| requests(&kernel.path));
    });
    trial();
    discard();
    cuts();
    large_drive();
}

/// Writes 4 KiB at random offsets of the drive, by direct I/O, one after the other.
fn in_guest() {
    guest::prepare().unwrap();
    let line = GuestChannel::open(Path::new("/dev/vdb")).unwrap();
    let requests: u64 = line.job().unwrap();
    line.tell(&"begins").unwrap();
    let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap();
    let drive = OpenOptions::new().write(true).custom_flags(direct).open("/dev/vda").unwrap();
    let mut block = Aligned::new(BLOCK_BYTES);
    block.bytes().fill(7);
    for number in 0..requests {
        // A step coprime to the number of blocks visits all of them.
        let place = number * 7919 % (1 << 18) * BLOCK_BYTES as u64;
        drive.write_all_at(block.bytes(), place).unwrap();
    }
    line.tell(&"over").unwrap();
    let _ = guest::shut_down();
}

fn requests(kernel: &Path) {
    let place = tempfile::tempdir().unwrap();
    let [root, folder] = ["root", "guest"].map(|name| place.path().join(name));
    fs::create_dir(&root).unwrap();
    let interrupt = Interrupt::default();
    let limit = Duration::from_mins(1);
    let rules = Rules { marker: "bench", limit, interrupt: &interrupt };
    let root = Root::make(&root, rules).unwrap();
    guest::pin(0);
    let memory = guest::room(HOSTS[0].memory_bytes).unwrap();
    let [mut boots, mut rates] = [Vec::new(), Vec::new()];
    for _ in 0..5 {
        fs::create_dir(&folder).unwrap();
        let machine = GuestMachine {
            kernel,
            root: &root,
            folder: &folder,
            memory: &memory,
            host: &HOSTS[0],
            seed: 1,
            limit: Nanos(3_600_000_000_000),
            timeout: limit,
            marker: "bench",
        };
        let moments = Mutex::new(Vec::new());
        let heard = |_, _: String| moments.lock().unwrap().push(Instant::now());
        let channel = HostChannel::new(&REQUESTS, heard);
        let channel = Box::new(channel);
        let specification = Specification::parse(presets::find(DRIVE).unwrap().text).unwrap();
        let flash = Box::new(Flash::new(Drive::new(specification, 1)));
        let mut disks = [
            Disk::new("drive", machine.listener("drive").unwrap(), flash, DiskShape::default())
                .unwrap(),
            Disk::new(
                "channel",
                machine.listener("channel").unwrap(),
                channel,
                DiskShape::default(),
            )
            .unwrap(),
        ];
        let started = Instant::now();
        machine.run(&mut disks, &interrupt).unwrap();
        drop(disks);
        let moments = moments.into_inner().unwrap();
        boots.push((moments[0] - started).as_secs_f64());
        rates.push(REQUESTS as f64 / (moments[1] - moments[0]).as_secs_f64());
        fs::remove_dir_all(&folder).unwrap();
    }
    println!("boot to the guest's first message         {:.3} s", median(&mut boots));
    println!("4 KiB writes through the lab              {:.0} a second", median(&mut rates));
}

/// A minimal trial: boot, mkfs, mount, a phase, unmount, power off.
fn trial() {
    let plan = "name = \"nothing\"\nquestion = \"?\"\n[workload]\nphases = [{ do = \"sync\" }]\n";
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("plan.toml");
    fs::write(&path, plan).unwrap();
    let runs =
        |number: &'static str| run(&[path.to_str().unwrap(), "--jobs", "1", "--runs", number]).0;
    // The overhead of a run is in both.
    let seconds = (runs("9") - runs("1")) / 8.0;
    println!("a trial of nothing on ext4, 100 GB        {seconds:.2} s");
}

/// Founding question 1 as asked: three treatments, three seeds, no fourth.
fn discard() {
    let (seconds, virtual_seconds) =
        run(&["discard", "--set", "prefill=0 %", "--set", "stale=0 %"]);
    println!("discard, 3 treatments x 3 seeds           {seconds:.0} s");
    println!("virtual time measured, by real time       {:.1}", virtual_seconds / seconds);
    let (seconds, _) = run(&["discard"]);
    println!("discard as shipped, with the full drive   {seconds:.0} s");
}

/// A thousand power cuts, and what each leaves recovered and judged.
fn cuts() {
    let plan = "name = \"cuts\"\nquestion = \"?\"\ncuts = { number = 500 }\n\
                target = { lab = \"virtual\" }\n\
                [factors]\nfilesystem = \"ext4\"\ndrive = \"x25m-g2\"\n[workload]\nphases = [\
                { do = \"replace\", replace = { files = 50, rounds = 20, sync = \"file\" } }]\n";
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("plan.toml");
    fs::write(&path, plan).unwrap();
    let (seconds, _) = run(&[path.to_str().unwrap(), "--runs", "2"]);
    println!("1,000 power cuts of `replace` on ext4     {seconds:.0} s");
}

/// The drive of founding post 1, 60 % full, with a minimal workload and with its tree.
fn large_drive() {
    let arguments = ["discard", "--set", "discard=fstrim", "--runs", "1", "--jobs", "1"];
    let full = ["--set", "prefill=60 %", "--set", "stale=4.4 %", "--scale"];
    for (scale, what) in [("0.01", "a tree of 5 MB"), ("1", "a tree of 493 MB")] {
        let peak = Mutex::new(0);
        let (seconds, _) = run_watched(&[&arguments[..], &full, &[scale]].concat(), &peak);
        let peak = peak.into_inner().unwrap() / 1_000;
        println!("95 GB, 60 % full, {what:16}        {seconds:.0} s, {peak} MB at its peak");
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs a plan; returns its real time and the virtual time of its phases, in seconds.
fn run(arguments: &[&str]) -> (f64, f64) {
    run_watched(arguments, &Mutex::new(0))
}

/// The same, with the peak memory of the program and its guest, in kB. Shared memory counts once.
fn run_watched(arguments: &[&str], peak: &Mutex<u64>) -> (f64, f64) {
    let place = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let child = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .arg("run")
        .args(arguments)
        .args(["--json", "--results"])
        .arg(place.path())
        .env("XDG_STATE_HOME", place.path().join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    let output = thread::scope(|scope| {
        let waiting = scope.spawn(|| child.wait_with_output().unwrap());
        while !waiting.is_finished() {
            let mut peak = peak.lock().unwrap();
            *peak = (*peak).max(memory_kb(pid));
            drop(peak);
            sleep(Duration::from_millis(100));
        }
        waiting.join().unwrap()
    });
    let seconds = started.elapsed().as_secs_f64();
    assert!(output.status.success(), "{arguments:?}: {}", output.status);
    let analysis: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let trials = analysis["treatments"].as_array().unwrap().iter();
    let phases = trials
        .flat_map(|treatment| treatment["trials"].as_array().unwrap())
        .flat_map(|trial| trial["phases"].as_array().unwrap());
    let virtual_ns: f64 = phases.filter_map(|phase| phase["settled_ns"].as_f64()).sum();
    (seconds, virtual_ns / 1e9)
}

/// The proportional share of memory of a process and all below it, in kB.
fn memory_kb(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let share = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let own = share.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.flat_map(|task| {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
    });
    own.unwrap_or(0) + children.map(memory_kb).sum::<u64>()
}
