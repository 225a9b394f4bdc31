//! A corpus of devices that must not be written to, each with its refusal. Devices that need an
//! unavailable kernel or drive are surveys written by hand
//! (`crates/lab/src/safety/tests/corpus.rs`).

mod contents;
mod pools;
mod unseen;

use std::any::Any;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::safety::partitioned;
use super::support::{Loop, Mounted, Place, Process, said, sh, shown};
use super::{Case, Needs};
use crate::program::ssdlab;

/// One target.
struct Target {
    name: &'static str,
    needs: Needs,
    make: fn(&Place) -> Made,
    /// Part of the refusal, with placeholders for what is only known when the target is made.
    message: &'static str,
}

/// A target that has been made.
struct Made {
    /// The device named on the command line.
    device: String,
    wipe: Option<String>,
    /// Loop devices that must not be written to.
    untouched: Vec<String>,
    /// The values of the message's placeholders.
    words: Vec<(&'static str, String)>,
    /// The folder in which programs are looked up first.
    programs: Option<String>,
    /// The program that runs ssdlab, and its arguments; empty if it is run directly.
    within: &'static [&'static str],
    /// What makes it unsafe, in the order in which it is dropped.
    kept: Vec<Box<dyn Any>>,
}

impl Made {
    fn of(disk: Loop) -> Self {
        Self {
            device: disk.device.clone(),
            wipe: None,
            untouched: vec![disk.name().to_owned()],
            words: vec![("DISK", disk.name().to_owned())],
            programs: None,
            within: &[],
            kept: vec![Box::new(disk)],
        }
    }

    /// A target that is partly in use: no option permits writing to it.
    fn in_use(disk: Loop, by: impl Any) -> Self {
        let wipe = disk.backing.clone();
        Self::of(disk).before(by).given_up_by(wipe)
    }

    fn before(mut self, other: impl Any) -> Self {
        self.kept.insert(0, Box::new(other));
        self
    }

    fn given_up_by(self, wipe: String) -> Self {
        Self { wipe: Some(wipe), ..self }
    }

    fn named(self, device: String) -> Self {
        Self { device, ..self }
    }

    fn word(mut self, word: &'static str, meaning: String) -> Self {
        self.words.push((word, meaning));
        self
    }
}

pub fn cases() -> Vec<Case> {
    let all = [
        contents::signatures(),
        contents::unknown_data(),
        uses(),
        layers(),
        kept_back(),
        holders(),
        pools::targets(),
        unseen::targets(),
        changes(),
    ];
    let case = |target: Target| {
        Case::new(target.name, target.needs, move || check(target.make, target.message))
    };
    all.into_iter().flatten().map(case).collect()
}

fn check(make: fn(&Place) -> Made, message: &str) {
    let place = Place::new();
    let target = make(&place);
    let before: Vec<String> = target.untouched.iter().map(|name| written(name)).collect();
    let mut command = place.program(target.within.first().copied().unwrap_or(ssdlab()));
    if let Some((_, arguments)) = target.within.split_first() {
        command.args(arguments).arg(ssdlab());
    }
    command.args(["run", "discard", "--scale", "0.01", "--runs", "1"]);
    command.arg("--device").arg(&target.device);
    if let Some(wipe) = &target.wipe {
        command.arg("--wipe").arg(wipe);
    }
    if let Some(folder) = &target.programs {
        command.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    }
    let output = command.output().unwrap();
    let after: Vec<String> = target.untouched.iter().map(|name| written(name)).collect();
    let words = target.words.iter();
    let message = words.fold(message.to_owned(), |text, (word, is)| text.replace(word, is));
    drop(target);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    assert!(said(&output).contains(&message), "no `{message}` in: {}", shown(&output));
    assert_eq!(before, after);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

/// How much has been written to and discarded from a disk.
fn written(name: &str) -> String {
    let counters = sh(&format!("cat /sys/block/{name}/stat"));
    let counters: Vec<&str> = counters.split_whitespace().collect();
    [4, 6, 11, 13].map(|index| counters[index]).join(" ")
}

fn root(name: &'static str, make: fn(&Place) -> Made, message: &'static str) -> Target {
    Target { name, needs: Needs::Root, make, message }
}

fn uses() -> Vec<Target> {
    vec![
        root("unsafe_mounted", mounted, "it is mounted on"),
        root(
            "unsafe_disk_of_a_mounted_partition",
            |place| {
                let disk = partitioned(place);
                let first = format!("{}p1", disk.device);
                sh(&format!("mkfs.ext4 -q {first}"));
                let mounted = Mounted::new(&first, place);
                Made::in_use(disk, mounted)
            },
            "its partition DISKp1 is mounted on",
        ),
        root(
            "unsafe_partition_of_a_mounted_disk",
            |place| {
                let disk = partitioned(place);
                sh(&format!("mkfs.ext4 -q {0} && sync", disk.device));
                let mounted = Mounted::new(&disk.device, place);
                let partition = format!("{}p2", disk.device);
                Made::in_use(disk, mounted).named(partition)
            },
            "the whole disk DISK is mounted on",
        ),
        root(
            "unsafe_mounted_in_another_namespace",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                sh(&format!("mkfs.ext4 -q {0}; mkdir {1}", disk.device, place.path("m").display()));
                let script = format!(
                    "exec unshare --mount sh -ec 'mount -o ro {} {}; exec sleep 600'",
                    disk.device,
                    place.path("m").display()
                );
                let process = Process::holding(&script);
                let holder = process.named();
                Made::in_use(disk, process).word("HOLDER", holder)
            },
            "in the mount namespace of HOLDER",
        ),
        root(
            "unsafe_unmounted_lazily",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let target = place.path("m").display().to_string();
                sh(&format!(
                    "mkfs.ext4 -q {0}; mkdir {target}; mount -o ro {0} {target}",
                    disk.device
                ));
                let process = Process::holding(&format!("cd {target}"));
                sh(&format!("umount --lazy {target}"));
                Made::in_use(disk, process)
            },
            "the kernel has it open exclusively",
        ),
        Target {
            name: "unsafe_second_member_of_a_btrfs",
            needs: Needs::RootAnd("mkfs.btrfs"),
            make: |place| {
                let [first, second] = ["one", "two"].map(|name| Loop::new(place, name, 128));
                sh(&format!("mkfs.btrfs -q {} {}", first.device, second.device));
                sh(&format!("btrfs device scan {} {}", first.device, second.device));
                let mounted = Mounted::new(&first.device, place);
                Made::in_use(second, (mounted, first))
            },
            message: "it is used by the mounted btrfs",
        },
        root(
            "unsafe_swapping",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                sh(&format!("mkswap {0} 2>&1; swapon {0}", disk.device));
                let swap = Swap(disk.device.clone());
                let mut made = Made::in_use(disk, swap);
                // The kernel may swap whenever it likes.
                made.untouched.clear();
                made
            },
            "it is swap space",
        ),
        Target {
            name: "unsafe_zram_swapping",
            needs: Needs::RootAndFile("/sys/class/zram-control"),
            make: |_| {
                let zram = Zram::new();
                let node = zram.0.clone();
                sh(&format!("mkswap {node} 2>&1; swapon {node}"));
                let kept: Vec<Box<dyn Any>> = vec![Box::new(Swap(node.clone())), Box::new(zram)];
                let (wipe, programs) = (Some("yes".to_owned()), None);
                let (untouched, words, within) = (vec![], vec![], &[][..]);
                Made { device: node, wipe, untouched, words, programs, within, kept }
            },
            message: "it is swap space",
        },
    ]
}

/// A compressed disk in memory, made by the test.
struct Zram(String);

impl Zram {
    fn new() -> Self {
        let number = sh("cat /sys/class/zram-control/hot_add");
        sh(&format!("echo 64M > /sys/block/zram{number}/disksize"));
        Self(format!("/dev/zram{number}"))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let number = self.0.strip_prefix("/dev/zram").unwrap();
        sh(&format!("echo {number} > /sys/class/zram-control/hot_remove"));
    }
}

fn layers() -> Vec<Target> {
    vec![
        root(
            "unsafe_below_a_loop_device",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let above = Loop::over(&disk.device);
                let name = above.name().to_owned();
                Made::in_use(disk, above).word("OTHER", name)
            },
            "it is used by OTHER",
        ),
        root(
            "unsafe_above_a_mounted_disk",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                sh(&format!("mkfs.ext4 -q {}", disk.device));
                let mounted = Mounted::new(&disk.device, place);
                let above = Loop::over(&disk.device);
                let (device, name) = (above.device.clone(), above.name().to_owned());
                Made::in_use(disk, (above, mounted)).named(device).word("OTHER", name)
            },
            "DISK, which lies under OTHER, is mounted on",
        ),
        root(
            "unsafe_second_path_by_a_loop_device",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let other = Loop::over(&disk.backing);
                let name = other.name().to_owned();
                Made::in_use(disk, other).word("OTHER", name)
            },
            "it is used by OTHER",
        ),
        root(
            "unsafe_partition_with_a_second_path",
            |place| {
                let disk = partitioned(place);
                let other = Loop::over(&disk.backing);
                let (name, partition) = (other.name().to_owned(), format!("{}p1", disk.device));
                Made::in_use(disk, other).named(partition).word("OTHER", name)
            },
            "it is used by OTHER",
        ),
    ]
}

/// Devices that nothing uses, but that must not be written to.
fn kept_back() -> Vec<Target> {
    vec![
        root(
            "unsafe_read_only",
            |place| {
                let backing = place.path("disk").display().to_string();
                sh(&format!("truncate -s 64M {backing}"));
                let device = sh(&format!("losetup --read-only --find --show {backing}"));
                Made::of(Loop { device, backing })
            },
            "it is read-only",
        ),
        root(
            "unsafe_without_a_medium",
            |place| Made::of(Loop::new(place, "disk", 0)),
            "it has no medium, or no size",
        ),
        root(
            "unsafe_partition_by_the_name_of_its_disk",
            |place| {
                let disk = partitioned(place);
                let (partition, wipe) = (format!("{}p1", disk.device), disk.backing.clone());
                sh(&format!("mkfs.ext4 -q {partition} && sync"));
                Made::of(disk).named(partition).given_up_by(wipe)
            },
            "is not a name of this partition; the disk's names do not count",
        ),
        root(
            "unsafe_disk_by_another_name",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                sh(&format!("mkfs.ext4 -q {}", disk.device));
                Made::of(disk).given_up_by("yes".to_owned())
            },
            "`yes` is not its serial or by-id name",
        ),
    ]
}

fn mounted(place: &Place) -> Made {
    let disk = Loop::new(place, "disk", 64);
    sh(&format!("mkfs.ext4 -q {}", disk.device));
    let mounted = Mounted::new(&disk.device, place);
    Made::in_use(disk, mounted)
}

/// Swap space, disabled when dropped.
struct Swap(String);

impl Drop for Swap {
    fn drop(&mut self) {
        sh(&format!("swapoff {}", self.0));
    }
}

/// A blank disk, and a process that has run a script on it.
fn held(place: &Place, script: &str) -> Made {
    let disk = Loop::new(place, "disk", 64);
    let script = script.replace("DISK", &disk.device).replace("FILE", &disk.backing);
    let process = Process::holding(&script);
    let named = process.named();
    Made::in_use(disk, process).word("HOLDER", named)
}

fn holders() -> Vec<Target> {
    vec![
        root(
            "unsafe_held_open_for_writing",
            |place| held(place, "exec 3<>DISK"),
            "it is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_held_open_for_reading",
            |place| held(place, "exec 3<DISK"),
            "it is held open by HOLDER, for reading",
        ),
        root(
            "unsafe_held_open_by_a_node_that_is_gone",
            |place| {
                let node = place.path("node").display().to_string();
                let made = "mknod NODE b $(stat --format '0x%t 0x%T' DISK); exec 3<>NODE; rm NODE";
                held(place, &made.replace("NODE", &node))
            },
            "it is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_held_open_in_other_namespaces",
            |place| held(place, "exec 3<>DISK; exec unshare --mount --net --ipc sleep 600"),
            "it is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_file_held_open",
            |place| held(place, "exec 3<>FILE"),
            "it is backed by a file that is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_file_held_open_in_a_layer_of_its_overlay",
            |place| {
                let (overlay, upper) = Mounted::overlay(place);
                let backing = overlay.path("disk").display().to_string();
                sh(&format!("truncate -s 64M {backing}"));
                let disk = Loop::over(&backing);
                let process =
                    Process::holding(&format!("exec 3<>{}", upper.join("disk").display()));
                let named = process.named();
                // What is made first is dropped last.
                let mut made = Made::in_use(disk, process).word("HOLDER", named);
                made.kept.push(Box::new(overlay));
                made
            },
            "it is backed by a file that is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_mapped",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let mapping = Mapping::of(&disk.device);
                let own = fs::read_to_string("/proc/self/comm").unwrap();
                let named = format!("{} (pid {})", own.trim(), std::process::id());
                Made::in_use(disk, mapping).word("HOLDER", named)
            },
            "it is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_disk_of_a_held_partition",
            |place| {
                let disk = partitioned(place);
                let process = Process::holding(&format!("exec 3<>{}p2", disk.device));
                let named = process.named();
                Made::in_use(disk, process).word("HOLDER", named)
            },
            "its partition DISKp2 is held open by HOLDER, for writing",
        ),
        root(
            "unsafe_partition_of_a_held_disk",
            |place| {
                let disk = partitioned(place);
                let process = Process::holding(&format!("exec 3<{}", disk.device));
                let (named, partition) = (process.named(), format!("{}p1", disk.device));
                Made::in_use(disk, process).named(partition).word("HOLDER", named)
            },
            "the whole disk DISK is held open by HOLDER, for reading",
        ),
        root(
            "unsafe_above_a_held_disk",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let process = Process::holding(&format!("exec 3<>{}", disk.device));
                let above = Loop::over(&disk.device);
                let (device, name) = (above.device.clone(), above.name().to_owned());
                let named = process.named();
                let made = Made::in_use(disk, (above, process)).named(device);
                made.word("HOLDER", named).word("OTHER", name)
            },
            "DISK, which lies under OTHER, is held open by HOLDER, for writing",
        ),
    ]
}

/// A device that this process has mapped, with no descriptor left.
struct Mapping(*mut std::ffi::c_void);

const MAPPED_BYTES: usize = 4096;

impl Mapping {
    fn of(device: &str) -> Self {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let file = fs::OpenOptions::new().read(true).write(true).open(device).unwrap();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let nowhere = std::ptr::null_mut();
        // SAFETY: the kernel chooses unused addresses.
        let mapped = unsafe { mmap(nowhere, MAPPED_BYTES, access, MapFlags::SHARED, &file, 0) };
        Self(mapped.unwrap())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nothing refers to it.
        unsafe { rustix::mm::munmap(self.0, MAPPED_BYTES) }.unwrap();
    }
}

/// A wipefs that changes the device when ssdlab calls it for the first or second time: the first
/// call is the survey's, the second is for the claimed device.
pub fn happens(place: &Place, time: u32, what: &str) -> String {
    let folder = place.path("programs");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("wipefs");
    let count = place.path("count").display().to_string();
    let real = sh("command -v wipefs || echo /usr/sbin/wipefs");
    let script = format!(
        "#!/bin/sh\n{real} \"$@\" || exit\necho >> {count}\n\
         [ $(wc -l < {count}) != {time} ] || {{ {what}; }} >&2\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder.display().to_string()
}

/// A device node that the kernel did not make and so does not remove.
struct Node(String);

impl Drop for Node {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

fn changes() -> Vec<Target> {
    vec![
        root(
            "unsafe_node_that_means_another_device_when_it_is_claimed",
            |place| {
                let disk = partitioned(place);
                let node = format!("{}p1", disk.device);
                let numbers = format!("$(stat --format '0x%t 0x%T' {}p2)", disk.device);
                let what = format!("rm {node}; mknod {node} b {numbers}");
                let programs = happens(place, 1, &what);
                let made = Made::of(disk).before(Node(node.clone())).named(node);
                Made { programs: Some(programs), ..made }
            },
            "it is no longer the device that was checked",
        ),
        root(
            "unsafe_size_that_changes_before_the_claim",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let what = format!("truncate -s 96M {}; losetup -c {}", disk.backing, disk.device);
                let programs = happens(place, 1, &what);
                Made { programs: Some(programs), ..Made::of(disk) }
            },
            "it is no longer the device that was checked",
        ),
        root(
            "unsafe_contents_that_change_before_the_claim",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                sh(&format!("mkfs.ext4 -q {0} && sync {0}", disk.device));
                let what = format!("mkswap {}", disk.backing);
                let (programs, wipe) = (happens(place, 1, &what), disk.backing.clone());
                Made { programs: Some(programs), ..Made::of(disk).given_up_by(wipe) }
            },
            "its contents have changed since they were checked",
        ),
        root(
            "unsafe_data_that_appears_before_the_claim",
            |place| {
                let disk = Loop::new(place, "disk", 64);
                let what = format!(
                    "dd if=/dev/urandom of={} bs=64k count=1 conv=notrunc,fsync status=none",
                    disk.backing
                );
                let programs = happens(place, 2, &what);
                Made { programs: Some(programs), ..Made::of(disk) }
            },
            "DISK carries data of an unknown kind at byte 0",
        ),
    ]
}
