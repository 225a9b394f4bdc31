//! The lab's processor against this machine's: the processor time that a process needs for the same
//! operations on each filesystem, relative to ext4, and what checksums add, in the virtual lab and
//! on a loop device in memory under the running kernel. The cost of a block is fitted to ext4 here,
//! all others are measured here.
//!
//! It needs a lab kernel (`ssdlab kernel build` or `SSDLAB_TEST_KERNEL`), root and 2 GB in
//! /dev/shm. This program is also the guest's first process, as ssdlab is in a trial. The programs
//! compute next to nothing on both sides: the kernels are compared. With filesystems as its
//! arguments it compares these and ext4; with `checksums`, only what checksums add.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_conductor::ComputingLab;
use ssdlab_conductor::computing::{self, MeasuredCosts, Times};
use ssdlab_filesystem::{self as filesystem, Filesystem, SettingLevel};
use ssdlab_flash::evidence::Value;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::thread;
use ssdlab_host::undo;
use ssdlab_kernel::{self as kernel, LabKernel};
use ssdlab_plan::{HostModel, find_host};

const FILESYSTEMS: [&str; 5] = ["ext4", "ext3", "ext2", "xfs", "btrfs"];

/// Those whose checksums can be switched off.
const CHECKSUMMED: [&str; 3] = ["ext4", "xfs", "btrfs"];

/// The size of the loop device.
const DRIVE_BYTES: u64 = 16 << 30;

/// The filesystem that the host is fitted to and the others are compared with.
const BASE: &str = "ext4";

/// The host whose memory it has.
const HOST: &str = "modern-2020s";

/// How often this machine is measured; the minimum of each operation counts.
const ROUNDS: usize = 10;

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
    let sides = Sides::fitted(kernel);
    if asked.first().is_none_or(|word| word != "checksums") {
        compare_filesystems(&sides, &asked);
    }
    if asked.is_empty() || asked[0] == "checksums" {
        compare_checksums(&sides);
    }
}

/// Where the operations are performed: in the lab, and here.
struct Sides {
    kernel: LabKernel,
    interrupt: Interrupt,
    host: HostModel,
}

impl Sides {
    /// The lab with a host fitted to this machine.
    fn fitted(kernel: LabKernel) -> Self {
        let host = find_host(HOST).unwrap().clone();
        let mut sides = Self { kernel, interrupt: Interrupt::default(), host };
        let filesystem = filesystem::find(BASE).unwrap();
        let counts = sides.in_lab(filesystem, |lab, _| lab.counts().unwrap());
        let here = here(filesystem, None).unwrap();
        let operations: Vec<_> =
            counts.into_iter().zip(here).map(|(counts, (_, ns))| (counts, ns as f64)).collect();
        let measured = MeasuredCosts::here();
        let block_ns = computing::fit_block(&operations, &measured).unwrap();
        println!("fitted to {BASE} here: {block_ns:.3} ns a block; measured: {measured:.0?}");
        let by_kib = measured.per_kib.by_key().map(|(key, ns)| (format!("ns_per_kib.{key}"), ns));
        let others = [("ns_per_block", block_ns), ("ns_per_call", measured.call)];
        let costs = others.map(|(key, ns)| (key.to_owned(), ns)).into_iter().chain(by_kib);
        sides.host = sides.host.with(&costs.map(|(key, ns)| (key, Value::Number(ns))).collect());
        sides
    }

    fn in_lab<T>(
        &self,
        filesystem: &'static Filesystem,
        work: impl FnOnce(&mut ComputingLab, &HostModel) -> T,
    ) -> T {
        let mut journal = undo::start().unwrap();
        let (kernel, memory_bytes) = (self.kernel.clone(), self.host.memory_bytes);
        let lab =
            ComputingLab::open(kernel, filesystem, memory_bytes, &self.interrupt, &mut journal);
        let result = work(&mut lab.unwrap(), &self.host);
        journal.finish().unwrap();
        result
    }

    fn perform(&self, name: &str, level: Option<&SettingLevel>) -> Result<[Times; 2], String> {
        let filesystem = filesystem::find(name).unwrap();
        let level_name = level.map(|level| level.name);
        let in_lab = self.in_lab(filesystem, |lab, host| lab.perform(host, level_name));
        let here = here(filesystem, level).map_err(|error| format!("here: {error}"))?;
        Ok([in_lab.map_err(|error| format!("in the lab: {error}"))?, here])
    }
}

fn compare_filesystems(sides: &Sides, asked: &[String]) {
    let chosen = |name: &&str| asked.is_empty() || *name == BASE || asked.iter().any(|a| a == name);
    let names: Vec<&str> = FILESYSTEMS.into_iter().filter(chosen).collect();
    let measured: BTreeMap<&str, [Times; 2]> =
        names.iter().map(|name| (*name, sides.perform(name, None).unwrap())).collect();
    let [ext4_lab, ext4_here] = &measured[BASE];
    println!("operation             filesystem     lab    here   lab/ext4  here/ext4   lab:here");
    // The ratios of other filesystems to ext4, in the lab and here.
    let mut ratios = Vec::new();
    for (index, (operation, _)) in ext4_lab.iter().enumerate() {
        for name in &names {
            let [lab, here] = measured[name].each_ref().map(|times| times[index].1);
            let ratio = |of: u64, base: u64| of as f64 / base as f64;
            let of_lab = ratio(lab, ext4_lab[index].1);
            let of_here = ratio(here, ext4_here[index].1);
            if *name != BASE {
                ratios.push((*name, of_lab, of_here));
            }
            println!(
                "{operation:22}{name:10}{:8.1}{:8.1} ms{of_lab:9.2}{of_here:11.2}{:11.2}",
                lab as f64 / 1e6,
                here as f64 / 1e6,
                of_lab / of_here
            );
        }
    }
    println!("errors of the ratios to ext4     median   worst   median if all were as ext4");
    for name in names.iter().filter(|name| **name != BASE) {
        let own: Vec<_> = ratios.iter().filter(|(of, ..)| of == name).copied().collect();
        tell_errors(name, &own);
    }
    tell_errors("all", &ratios);
    ratios.retain(|(_, _, here)| here.ln().abs() > 1.1_f64.ln());
    tell_errors("all that differ by a tenth", &ratios);
}

/// The errors of the lab's ratios to ext4, and those of taking every filesystem for ext4.
fn tell_errors(what: &str, ratios: &[(&str, f64, f64)]) {
    let sorted = |error: fn(f64, f64) -> f64| {
        let mut errors: Vec<f64> =
            ratios.iter().map(|(_, lab, here)| 100.0 * (error(*lab, *here).exp() - 1.0)).collect();
        errors.sort_by(f64::total_cmp);
        errors
    };
    let [of_lab, of_none] =
        [sorted(|lab, here| (lab / here).ln().abs()), sorted(|_, here| here.ln().abs())];
    if let Some(worst) = of_lab.last() {
        let middle = of_lab.len() / 2;
        println!("{what:31}{:6.0} %{worst:6.0} %{:10.0} %", of_lab[middle], of_none[middle]);
    }
}

/// What each level of checksums adds to the same operations without. Data are checksummed by the
/// process only where it syncs; all else that it checksums is metadata.
fn compare_checksums(sides: &Sides) {
    println!("checksums             of               lab    here  more in the lab  more here");
    for name in CHECKSUMMED {
        let levels = filesystem::find(name).unwrap().checksums.levels;
        let (off, on): (Vec<&SettingLevel>, Vec<&SettingLevel>) =
            levels.iter().partition(|level| level.name == "off");
        let without = match sides.perform(name, Some(off[0])) {
            Ok(times) => times.each_ref().map(totals),
            Err(error) => {
                println!("{name}: not measured: {error}");
                continue;
            }
        };
        for level in on {
            let with = sides.perform(name, Some(level)).unwrap().each_ref().map(totals);
            for (index, of) in ["metadata", "synced data"].into_iter().enumerate() {
                let [lab, here] = with.map(|times| times[index]);
                let [lab_more, here_more] =
                    [0, 1].map(|side| 100.0 * (with[side][index] / without[side][index] - 1.0));
                let what = format!("{name}, {}", level.name);
                println!(
                    "{what:22}{of:12}{:8.1}{:8.1} ms{lab_more:12.0} %{here_more:9.0} %",
                    lab / 1e6,
                    here / 1e6,
                );
            }
        }
    }
}

/// The operations on metadata together, and the synced write, which is the last one.
fn totals(times: &Times) -> [f64; 2] {
    let is_metadata = |(name, _): &&(String, u64)| {
        ["create", "unlink", "unpack", "delete"].iter().any(|word| name.starts_with(word))
    };
    let metadata: u64 = times.iter().filter(is_metadata).map(|(_, ns)| ns).sum();
    [metadata as f64, times.last().unwrap().1 as f64]
}

/// On a loop device in memory; the minimum of a few rounds.
fn here(filesystem: &Filesystem, checksums: Option<&SettingLevel>) -> io::Result<Times> {
    let mut least: Option<Times> = None;
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let image = folder.path().join("image");
        File::create(&image).unwrap().set_len(DRIVE_BYTES).unwrap();
        let attached = LoopDevice::attach(&image);
        let spent = || thread::used().cpu_ns;
        let place = folder.path().join("mounted");
        let times = computing::on_device(&attached.0, &place, filesystem, checksums, &spent)?;
        match &mut least {
            None => least = Some(times),
            Some(least) => {
                for (least, time) in least.iter_mut().zip(times) {
                    least.1 = least.1.min(time.1);
                }
            }
        }
    }
    Ok(least.unwrap())
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
