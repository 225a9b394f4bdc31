//! No device that is in use or carries data is ever written to.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use ssdlab_host::{block_ioctl, sysfs};

use super::support::{Loop, Mounted, Place, file, sh, shown};
use super::{Case, Needs, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("a_mounted_device_is_refused", mounted),
        case("fio_1007_a_disk_with_a_mounted_partition_is_refused", mounted_partition),
        case("a_partition_is_refused_while_a_sibling_is_in_use", mounted_sibling),
        case("a_device_that_a_loop_device_stands_on_is_refused", stacked_loop),
        case("two_loop_devices_over_one_file_are_refused", shared_backing),
        case("swap_space_is_refused", swap),
        Case::new("the_root_disk_is_refused", Needs::RootOnDisk, root_disk),
        case("what_carries_data_needs_its_own_name", signatures),
        case("data_without_a_signature_is_data", unknown_data),
        case("what_is_no_block_device_is_refused", no_device),
        case("a_partition_is_given_up_by_a_name_of_its_own", own_name),
        case("an_open_device_has_the_kernels_disk_sequence_number", sequence),
    ]
}

fn runs(place: &Place) -> usize {
    fs::read_dir(place.path("data/ssdlab")).map_or(0, Iterator::count)
}

/// Runs on a device and expects the refusal; not one byte may have changed.
fn refused(place: &Place, device: &Loop, arguments: &[&str], because: &str) {
    let sum = || sh(&format!("sync; sha256sum < {}", device.backing));
    let before = sum();
    refused_unread(place, arguments, because);
    assert_eq!(sum(), before);
}

/// A short run on a device, which is the first argument.
fn run(place: &Place, arguments: &[&str]) -> Output {
    let mut command =
        place.ssdlab(&["run", "discard", "--scale", "0.01", "--runs", "1", "--device"]);
    command.args(arguments).output().unwrap()
}

/// Runs on a device that others may write to, and expects the refusal.
fn refused_unread(place: &Place, arguments: &[&str], because: &str) {
    let runs_before = runs(place);
    let output = run(place, arguments);
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains(because), "{message}");
    assert_eq!(runs(place), runs_before);
}

fn mounted() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 64);
    sh(&format!("mkfs.ext4 -q {}", device.device));
    let _mounted = Mounted::new(&device.device, &place);
    refused(&place, &device, &[&device.device], "is mounted on");
    refused(&place, &device, &[&device.device, "--wipe", &device.backing], "is mounted on");
}

/// A disk with two partitions that the kernel knows even if it does not read partition tables, and
/// that have nodes even if there is no udev to make them.
pub fn partitioned(place: &Place) -> Loop {
    let device = Loop::new(place, "disk", 96);
    for (number, start) in [(1, 2048), (2, 100_000)] {
        sh(&format!("addpart {} {number} {start} 80000", device.device));
        let node = format!("{}p{number}", device.device);
        let numbers = format!("/sys/class/block/{}p{number}/dev", device.name());
        sh(&format!("[ -b {node} ] || mknod {node} b $(tr : ' ' < {numbers})"));
    }
    device
}

fn mounted_partition() {
    let place = Place::new();
    let device = partitioned(&place);
    let first = format!("{}p1", device.device);
    sh(&format!("mkfs.ext4 -q {first}"));
    let _mounted = Mounted::new(&first, &place);
    refused(&place, &device, &[&device.device], "its partition");
    refused(&place, &device, &[&device.device, "--wipe", &device.backing], "its partition");
}

fn mounted_sibling() {
    let place = Place::new();
    let device = partitioned(&place);
    let [first, second] = [1, 2].map(|n| format!("{}p{n}", device.device));
    sh(&format!("mkfs.ext4 -q {first}"));
    let _mounted = Mounted::new(&first, &place);
    refused(&place, &device, &[&second], "on the same disk is mounted");
}

fn stacked_loop() {
    let place = Place::new();
    let below = Loop::new(&place, "disk", 64);
    let above = Loop::over(&below.device);
    sh(&format!("mkfs.ext4 -q {}", above.device));
    let mounted = Mounted::new(&above.device, &place);
    refused(&place, &below, &[&below.device, "--wipe", &below.backing], "mounted");
    drop(mounted);
    refused(&place, &below, &[&below.device, "--wipe", &below.backing], "is used by");
    // And from above: the device below it is in use.
    let other = Loop::over(&below.device);
    refused(&place, &below, &[&other.device, "--wipe", &below.device], "");
}

fn shared_backing() {
    let place = Place::new();
    let one = Loop::new(&place, "disk", 64);
    let other = Loop::over(&one.backing);
    refused(&place, &one, &[&one.device], &format!("is used by {}", other.name()));
    drop(other);
    // The same file by another name, from another offset.
    let link = place.path("link").display().to_string();
    sh(&format!("ln {} {link}", one.backing));
    let device = sh(&format!("losetup --offset 4194304 --find --show {link}"));
    let other = Loop { device, backing: link };
    refused(&place, &one, &[&one.device], &format!("is used by {}", other.name()));
}

/// Swap space, disabled when dropped.
struct Swap<'a>(&'a str);

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        sh(&format!("swapoff {}", self.0));
    }
}

fn swap() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 64);
    sh(&format!("mkswap --quiet {0} 2>/dev/null || mkswap {0} >/dev/null", device.device));
    sh(&format!("swapon {}", device.device));
    let _swap = Swap(&device.device);
    // The kernel may swap whenever it likes.
    refused_unread(&place, &[&device.device], "is swap space");
}

/// What is mounted as the root filesystem, without the subvolume of btrfs.
fn root_source() -> String {
    sh("findmnt --noheadings --output SOURCE / | sed 's/\\[.*//'")
}

/// Whether that is a disk: an overlay or network filesystem has none to protect.
pub fn root_is_on_a_disk() -> bool {
    fs::metadata(root_source()).is_ok_and(|source| source.file_type().is_block_device())
}

/// The check precedes any opening for writing; this test only reads.
fn root_disk() {
    let place = Place::new();
    let output = place.ssdlab(&["run", "discard", "--device", &root_source()]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("root filesystem"));
}

fn signatures() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 64);
    sh(&format!("mkfs.ext4 -q -L Photos {}", device.device));
    refused(&place, &device, &[&device.device], "carries ext4 \"Photos\"");
    for wrong in ["", "yes", device.name(), "PHOTOS", &device.device] {
        refused(&place, &device, &[&device.device, "--wipe", wrong], "is not its serial");
    }
    let output = run(&place, &[&device.device, "--wipe", &device.backing]);
    assert!(output.status.success(), "{}", shown(&output));
    // What will be destroyed is shown first.
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("will be destroyed"));
    // A partition table is data too.
    sh(&format!("printf 'size=40M\\n' | sfdisk --quiet {}", device.device));
    refused(&place, &device, &[&device.device], "carries dos");
}

/// Plain dm-crypt looks like this.
fn unknown_data() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 64);
    sh(&format!(
        "dd if=/dev/urandom of={} bs=4k count=1 conv=notrunc status=none; sync",
        device.backing
    ));
    refused(&place, &device, &[&device.device], "data of an unknown kind");
}

fn no_device() {
    let place = Place::new();
    let plain = file(&place.path("plain"), "data");
    for path in [plain.as_str(), "/dev/null", "/", "/no/such/device"] {
        let output = place.ssdlab(&["run", "discard", "--device", path]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{path}: {}", shown(&output));
    }
    assert_eq!(fs::read_to_string(&plain).unwrap(), "data");
}

/// Names of devices by their ids, removed with the folders that had to be made for them.
struct Names {
    links: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Names {
    fn new(names: [(&str, &str); 2]) -> Self {
        let folder = Path::new("/dev/disk/by-id");
        let missing = folder.ancestors().take_while(|folder| !folder.exists());
        let folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        fs::create_dir_all(folder).unwrap();
        let links = names.map(|(name, device)| {
            let link = folder.join(name);
            symlink(device, &link).unwrap();
            link
        });
        Self { links: links.into(), folders }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        for link in &self.links {
            let _ = fs::remove_file(link);
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn own_name() {
    let place = Place::new();
    let disk = partitioned(&place);
    let partition = format!("{}p1", disk.device);
    sh(&format!("mkfs.ext4 -q {partition}"));
    let own = format!("loop-{}-part1", std::process::id());
    let other = own.replace("part1", "part2");
    let _names = Names::new([(&own, &partition), (&other, &format!("{}p2", disk.device))]);
    refused(&place, &disk, &[&partition, "--wipe", &other], "is not a name of this partition");
    let output = run(&place, &[&partition, "--wipe", &own]);
    assert!(output.status.success(), "{}", shown(&output));
}

fn sequence() {
    let place = Place::new();
    let disk = Loop::new(&place, "disk", 1);
    let held = fs::File::open(&disk.device).unwrap();
    // Kernels before Linux 5.15 have neither.
    let number = sysfs::disk_sequence(&Path::new("/sys/block").join(disk.name()));
    assert_eq!(block_ioctl::disk_sequence(&held).map(|number| number.to_string()), number);
}
