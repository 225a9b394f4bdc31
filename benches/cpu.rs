//! The lab's processor against this machine's: the processor time that the same operations take a
//! process on each filesystem, relative to ext4, in the virtual lab and on a loop device in memory
//! under the running kernel.
//!
//! It needs a lab kernel (`ssdlab kernel build` or `SSDLAB_TEST_KERNEL`), root and 2 GB in
//! /dev/shm. This program is also the guest's first process, as ssdlab is in a trial. Programs of
//! both compute next to nothing: what is compared is the kernel. With a filesystem as its argument
//! it compares that and ext4.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, statat, unlinkat};
use rustix::io::{pread, pwrite, write};
use ssdlab_disk::{Disk, Flash, Shape};
use ssdlab_filesystem::{self as filesystem, Filesystem, Format};
use ssdlab_flash::{Drive, Nanos, Specification, presets};
use ssdlab_guest::{self as guest, Channel, Line, Machine, Message, Root};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, Rules};
use ssdlab_host::thread;
use ssdlab_kernel::{self as kernel, LabKernel};
use ssdlab_meter::processor;
use ssdlab_plan::HOSTS;

/// The first is what the others are compared with.
const FILESYSTEMS: [&str; 5] = ["ext4", "ext3", "ext2", "xfs", "btrfs"];

/// A drive of 16 GiB that takes no time.
const DRIVE: &str = "ideal";
const DRIVE_BYTES: u64 = 16 << 30;

/// The host whose ratios are compared with this machine's.
const HOST: &str = "modern-2020s";

/// How often this machine is measured; the least of each operation counts.
const ROUNDS: usize = 5;

const FILES: usize = 8192;
const FOLDERS: usize = 128;
const FILES_IN_FOLDER: usize = 32;
const SMALL_BYTES: usize = 12_000;
const LARGE_BYTES: usize = 64 << 20;

/// Processor time in ns by operation, in the order of the operations.
type Times = Vec<(String, u64)>;

fn main() {
    if std::process::id() == 1 {
        in_guest();
    }
    let kernel =
        match kernel::find(std::env::var_os("SSDLAB_TEST_KERNEL").map(PathBuf::from).as_deref()) {
            Ok(kernel) => kernel,
            Err(error) => {
                println!("not measured: {error}");
                return;
            }
        };
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let chosen =
        |name: &&str| asked.is_empty() || *name == "ext4" || asked.iter().any(|a| a == name);
    let names: Vec<&str> = FILESYSTEMS.into_iter().filter(chosen).collect();
    let mut measured = BTreeMap::new();
    for name in &names {
        let filesystem = filesystem::find(name).unwrap();
        measured.insert(*name, (in_lab(&kernel, filesystem), here(filesystem)));
    }
    let (ext4_lab, ext4_here) = &measured["ext4"];
    println!("operation             filesystem     lab    here   lab/ext4  here/ext4   lab:here");
    let mut errors = Vec::new();
    for (index, (operation, _)) in ext4_lab.iter().enumerate() {
        for name in &names {
            let (lab, here) = (&measured[name].0[index].1, &measured[name].1[index].1);
            let ratio = |of: u64, base: u64| of as f64 / base as f64;
            let of_lab = ratio(*lab, ext4_lab[index].1);
            let of_here = ratio(*here, ext4_here[index].1);
            if *name != "ext4" {
                errors.push((of_lab / of_here).ln().abs());
            }
            println!(
                "{operation:22}{name:10}{:8.1}{:8.1} ms{of_lab:9.2}{of_here:11.2}{:11.2}",
                *lab as f64 / 1e6,
                *here as f64 / 1e6,
                of_lab / of_here
            );
        }
    }
    errors.sort_by(f64::total_cmp);
    let percent = |error: f64| 100.0 * (error.exp() - 1.0);
    if let Some(worst) = errors.last() {
        let median = errors[errors.len() / 2];
        println!(
            "ratios to ext4, lab against here: median error {:.0} %, worst {:.0} %",
            percent(median),
            percent(*worst)
        );
    }
}

/// Performs the operations in a folder; `spent` tells the processor time that was spent so far.
fn operations(folder: &Path, spent: &dyn Fn() -> u64) -> Times {
    let mut times = Times::new();
    let mut perform = |name: &str, work: &mut dyn FnMut()| {
        let before = spent();
        work();
        times.push((name.to_owned(), spent() - before));
        rustix::fs::sync();
    };
    let path = |name: String| CString::new(folder.join(name).into_os_string().into_encoded_bytes());
    let create = OFlags::CREATE | OFlags::WRONLY;
    let ordered: Vec<CString> =
        (0..FILES).map(|number| path(format!("ordered/{number:010}")).unwrap()).collect();
    // A step that shares no factor with the number of files visits all of them.
    let mixed: Vec<CString> = (0..FILES)
        .map(|number| path(format!("mixed/{:010}", number * 4_001 % FILES)).unwrap())
        .collect();
    for (how, names) in [("in order", &ordered), ("at random", &mixed)] {
        let folder = if how == "in order" { "ordered" } else { "mixed" };
        mkdirat(CWD, path(folder.to_owned()).unwrap(), Mode::RWXU).unwrap();
        perform(&format!("create {how}"), &mut || {
            for name in names {
                drop(openat(CWD, name, create, Mode::RUSR).unwrap());
            }
        });
        let read_in = if how == "in order" { names } else { &ordered_in(names) };
        perform(&format!("stat {how}"), &mut || {
            for name in read_in {
                statat(CWD, name, AtFlags::empty()).unwrap();
            }
        });
        perform(&format!("unlink {how}"), &mut || {
            for name in read_in {
                unlinkat(CWD, name, AtFlags::empty()).unwrap();
            }
        });
    }
    let small = vec![7; SMALL_BYTES];
    let folders: Vec<CString> =
        (0..FOLDERS).map(|number| path(format!("folder-{number}")).unwrap()).collect();
    let files: Vec<Vec<CString>> = (0..FOLDERS)
        .map(|folder| {
            let name = |file| path(format!("folder-{folder}/file-{file}")).unwrap();
            (0..FILES_IN_FOLDER).map(name).collect()
        })
        .collect();
    perform("unpack", &mut || {
        for (folder, files) in folders.iter().zip(&files) {
            mkdirat(CWD, folder, Mode::RWXU).unwrap();
            for name in files {
                let file = openat(CWD, name, create, Mode::RUSR).unwrap();
                assert_eq!(write(&file, &small).unwrap(), SMALL_BYTES);
            }
        }
    });
    perform("delete", &mut || {
        for (folder, files) in folders.iter().zip(&files) {
            for name in files {
                unlinkat(CWD, name, AtFlags::empty()).unwrap();
            }
            unlinkat(CWD, folder, AtFlags::REMOVEDIR).unwrap();
        }
    });
    let large = path("large".to_owned()).unwrap();
    let mut piece = vec![7; 64 << 10];
    let flags = OFlags::CREATE | OFlags::RDWR;
    let file = openat(CWD, &large, flags, Mode::RUSR | Mode::WUSR).unwrap();
    perform("write by 64 KiB", &mut || {
        for place in (0..LARGE_BYTES).step_by(64 << 10) {
            pwrite(&file, &piece, place as u64).unwrap();
        }
    });
    let piece = &mut piece[..8 << 10];
    perform("rewrite by 8 KiB", &mut || {
        for place in (0..LARGE_BYTES).step_by(8 << 10) {
            pread(&file, &mut *piece, place as u64).unwrap();
            pwrite(&file, piece, place as u64).unwrap();
        }
    });
    perform("read by 8 KiB", &mut || {
        for place in (0..LARGE_BYTES).step_by(8 << 10) {
            pread(&file, &mut *piece, place as u64).unwrap();
        }
    });
    drop(file);
    times
}

/// The same names in another mixed order than they were created in.
fn ordered_in(names: &[CString]) -> Vec<CString> {
    (0..names.len()).map(|number| names[number * 2_999 % names.len()].clone()).collect()
}

/// Makes a filesystem on a device, mounts it, and performs the operations there.
fn on_device(device: &Path, place: &Path, name: &str, spent: &dyn Fn() -> u64) -> Times {
    let filesystem = filesystem::find(name).unwrap();
    let arguments = filesystem.format_arguments(&Format { seed: 1, ..Format::default() });
    let run = |command: &mut Command| {
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
    };
    run(Command::new(filesystem.mkfs).args(arguments).arg(device));
    fs::create_dir_all(place).unwrap();
    // The lab kernel has no other driver for ext2 and ext3; the running kernel may.
    let kind = if name.starts_with("ext") { "ext4" } else { name };
    let flags = rustix::mount::MountFlags::NOATIME;
    rustix::mount::mount(device, place, kind, flags, None).unwrap();
    let times = operations(place, spent);
    rustix::mount::unmount(place, rustix::mount::UnmountFlags::empty()).unwrap();
    times
}

fn in_guest() {
    guest::prepare().unwrap();
    let line = Line::open(Path::new("/dev/vdb")).unwrap();
    let name: String = line.job().unwrap();
    let spent = || processor::computed().unwrap().processes_ns;
    let times = on_device(Path::new("/dev/vda"), Path::new("/tmp/mounted"), &name, &spent);
    line.tell(&Message::Done(serde_json::to_value(times).unwrap())).unwrap();
    let _ = guest::shut_down();
}

fn in_lab(kernel: &LabKernel, filesystem: &Filesystem) -> Times {
    let place = tempfile::tempdir().unwrap();
    let [root, folder] = ["root", "guest"].map(|name| place.path().join(name));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&folder).unwrap();
    let interrupt = Interrupt::default();
    let limit = Duration::from_mins(5);
    let rules = Rules { marker: "bench", limit, interrupt: &interrupt };
    let root = Root::make(&root, rules).unwrap();
    let mkfs = program::find(filesystem.mkfs, filesystem.package).unwrap();
    root.add_program(&mkfs, rules).unwrap();
    let host = HOSTS.iter().find(|host| host.name == HOST).unwrap();
    let memory = guest::room(host.memory_bytes).unwrap();
    let machine = Machine {
        kernel: &kernel.path,
        root: &root,
        folder: &folder,
        memory: &memory,
        host,
        seed: 1,
        limit: Nanos(3_600_000_000_000),
        patience: limit,
        marker: "bench",
    };
    let done = Mutex::new(None);
    let channel = Channel::new(&filesystem.name, |_, message| {
        if let Message::Done(times) = message {
            *done.lock().unwrap() = Some(times);
        }
    });
    let specification = Specification::parse(presets::find(DRIVE).unwrap().text).unwrap();
    let mut flash = Flash::new(Drive::new(specification, 1));
    let mut disks = [
        Disk::new("drive", machine.door("drive").unwrap(), &mut flash, Shape::default()).unwrap(),
        Disk::new("channel", machine.door("channel").unwrap(), channel, Shape::default()).unwrap(),
    ];
    let ended = machine.run(&mut disks, &interrupt).unwrap();
    drop(disks);
    let done = done.into_inner().unwrap();
    serde_json::from_value(done.unwrap_or_else(|| panic!("{}", ended.console))).unwrap()
}

/// On a loop device in memory; the least of a few rounds.
fn here(filesystem: &Filesystem) -> Times {
    let mut least: Option<Times> = None;
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(DRIVE_BYTES).unwrap();
        let attached = LoopDevice::attach(&image);
        let spent = || thread::used().cpu_ns;
        let place = folder.path().join("mounted");
        let times = on_device(&attached.0, &place, filesystem.name, &spent);
        match &mut least {
            None => least = Some(times),
            Some(least) => {
                for (least, time) in least.iter_mut().zip(times) {
                    least.1 = least.1.min(time.1);
                }
            }
        }
    }
    least.unwrap()
}

/// A loop device that is given back, whatever happens.
struct LoopDevice(PathBuf);

impl LoopDevice {
    fn attach(image: &Path) -> Self {
        let output =
            Command::new("losetup").args(["--find", "--show"]).arg(image).output().unwrap();
        assert!(output.status.success(), "losetup: {output:?}");
        Self(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}
