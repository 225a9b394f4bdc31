//! The lab's processor against this machine's: the processor time that a process needs for the same
//! operations on each filesystem, relative to ext4, in the virtual lab and on a loop device in
//! memory under the running kernel.
//!
//! It needs a lab kernel (`ssdlab kernel build` or `SSDLAB_TEST_KERNEL`), root and 2 GB in
//! /dev/shm. This program is also the guest's first process, as ssdlab is in a trial. The programs
//! compute next to nothing on both sides: the kernels are compared. With a filesystem as its
//! argument it compares that and ext4.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_conductor::ComputingLab;
use ssdlab_conductor::computing::{self, Times};
use ssdlab_filesystem::{self as filesystem, Filesystem};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::thread;
use ssdlab_kernel as kernel;
use ssdlab_plan::find_host;
use ssdlab_undo as undo;

/// The others are compared with the first.
const FILESYSTEMS: [&str; 5] = ["ext4", "ext3", "ext2", "xfs", "btrfs"];

/// The size of the loop device.
const DRIVE_BYTES: u64 = 16 << 30;

/// The host whose ratios are compared with this machine's.
const HOST: &str = "modern-2020s";

/// How often this machine is measured; the minimum of each operation counts.
const ROUNDS: usize = 5;

fn main() {
    if std::process::id() == 1 {
        eprintln!("{}", ssdlab_conductor::guest());
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
    let host = find_host(HOST).unwrap();
    let interrupt = Interrupt::default();
    let mut measured = BTreeMap::new();
    for name in &names {
        let filesystem = filesystem::find(name).unwrap();
        let mut journal = undo::start().unwrap();
        let memory_bytes = host.memory_bytes;
        let mut lab =
            ComputingLab::open(kernel.clone(), filesystem, memory_bytes, &interrupt, &mut journal)
                .unwrap();
        measured.insert(*name, (lab.perform(host).unwrap(), here(filesystem)));
        journal.finish().unwrap();
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

/// On a loop device in memory; the minimum of a few rounds.
fn here(filesystem: &Filesystem) -> Times {
    let mut least: Option<Times> = None;
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(DRIVE_BYTES).unwrap();
        let attached = LoopDevice::attach(&image);
        let spent = || thread::used().cpu_ns;
        let place = folder.path().join("mounted");
        let times = computing::on_device(&attached.0, &place, filesystem, &spent).unwrap();
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

/// A loop device, detached when dropped.
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
