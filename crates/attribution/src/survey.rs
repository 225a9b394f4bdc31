//! What is to be watched: disks, the filesystems on them, and the loop devices whose files are on
//! those. Everything is only read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ssdlab_causes::{
    BtrfsChunk, BtrfsGeometry, DeviceSpec, FilesystemSpec, Member, ModelSpec, Watch, bdi_number,
};
use ssdlab_filesystem::{self as filesystem, InodePlaces, Layout};
use ssdlab_host::btrfs;
use ssdlab_host::file_handle::HandleKind;
use ssdlab_host::file_id::FileId;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::block;
use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::program::{self, Rules};
use ssdlab_host::sysfs::{self, BlockDevice, block_number};
use ssdlab_host::{extents, loop_device};

use crate::names::{NameSource, Names, Naming};

const SECTOR_BYTES: u64 = 512;
/// How long a filesystem's tool may take to describe it.
const TOOL_LIMIT: Duration = Duration::from_mins(1);

/// A disk or partition whose counter is compared.
#[derive(Debug, Clone)]
pub struct WatchTarget {
    /// Its place in the watch.
    pub device: usize,
    /// The kernel's name.
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// What it lies on, nearest first.
    pub below: Vec<StackedPair>,
}

/// A device on another, directly or through layers.
#[derive(Debug, Clone)]
pub struct StackedPair {
    /// The upper, by name and number.
    pub upper: (String, String),
    pub lower: (String, String),
    /// Whether another device of the stack is on the lower, too, as a thin pool's metadata are.
    pub is_one_of_several: bool,
}

/// A btrfs filesystem, whose chunks change.
#[derive(Debug)]
pub struct BtrfsSource {
    pub filesystem: usize,
    path: PathBuf,
    node_bytes: u64,
}

/// What was found.
pub struct WatchSurvey {
    pub watch: Watch,
    pub targets: Vec<WatchTarget>,
    pub names: Names,
    pub btrfs: Vec<BtrfsSource>,
    /// What is not known, and why.
    pub notes: Vec<String>,
    /// Every mount, and where this process finds it.
    mounts: Vec<(Mount, PathBuf)>,
    disks: Vec<(BlockDevice, usize)>,
    /// The numbers of the devices whose filesystems were added.
    mounted: BTreeSet<String>,
    /// The numbers of devices whose filesystems have events of their own.
    with_events: BTreeSet<String>,
    /// The loop devices that were added, and their files.
    loops: BTreeMap<String, (usize, FileId)>,
    /// What the machine had before it was surveyed.
    pub seen: String,
}

impl WatchSurvey {
    /// Surveys devices and what is mounted from them, and may look up what people call files and
    /// cgroups.
    pub fn of(devices: &[BlockDevice], naming: Naming, interrupt: &Interrupt) -> io::Result<Self> {
        let seen = changing();
        let mut survey = Self {
            watch: Watch::default(),
            targets: Vec::new(),
            names: Names::new(naming),
            btrfs: Vec::new(),
            notes: Vec::new(),
            mounts: all_mounts()?,
            disks: Vec::new(),
            mounted: BTreeSet::new(),
            with_events: BTreeSet::new(),
            loops: BTreeMap::new(),
            seen,
        };
        for device in devices {
            survey.add_target(device, interrupt)?;
        }
        survey.add_loops(interrupt)?;
        Ok(survey)
    }

    /// Adds the loop devices that were attached meanwhile, and the filesystems that were mounted.
    pub fn update(
        &mut self,
        mounts: Vec<(Mount, PathBuf)>,
        interrupt: &Interrupt,
    ) -> io::Result<()> {
        self.mounts = mounts;
        let numbers: BTreeSet<String> =
            self.mounts.iter().flat_map(|(mount, _)| devices_of_mount(mount)).collect();
        self.mounted.retain(|number| numbers.contains(number));
        for (disk, place) in self.disks.clone() {
            // One that is gone has no more filesystems.
            let _ = self.add_filesystems(&disk, place, interrupt);
        }
        self.add_loops(interrupt)
    }

    /// Adds filesystems anew that were unmounted and mounted again.
    pub fn remounted(&mut self, interrupt: &Interrupt) -> io::Result<()> {
        self.mounted.clear();
        self.update(all_mounts()?, interrupt)
    }

    /// Whether a filesystem on a device has events of its own, which say who is behind what it
    /// writes.
    pub fn has_own_events(&self, number: &str) -> bool {
        self.with_events.contains(number)
    }

    /// Adds a note, once.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The kernel's name of a disk, by its place in the watch.
    pub fn disk_name(&self, device: usize) -> Option<&str> {
        let mut disks = self.disks.iter();
        disks.find(|(_, place)| *place == device).map(|(disk, _)| disk.name.as_str())
    }

    /// Where the recorded filesystems are mounted.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.names.filesystems.values().map(|found| found.path.clone()).collect()
    }

    fn add_target(&mut self, device: &BlockDevice, interrupt: &Interrupt) -> io::Result<()> {
        let disk = device.disk()?;
        let place = self.add_disk(&disk, Some(device), interrupt)?;
        if sysfs::read(&device.queue_attribute("iostats")).is_ok_and(|on| on == "0") {
            self.notes.push(format!(
                "{}: its counter stands still; `echo 1 > {}` turns it on",
                device.name,
                device.queue_attribute("iostats").display()
            ));
        }
        self.targets.push(WatchTarget {
            device: place,
            name: device.name.clone(),
            number: device.number.clone(),
            below: below(&disk),
        });
        Ok(())
    }

    /// Adds a disk with its filesystems, once.
    fn add_disk(
        &mut self,
        disk: &BlockDevice,
        counted: Option<&BlockDevice>,
        interrupt: &Interrupt,
    ) -> io::Result<usize> {
        if let Some((_, place)) = self.disks.iter().find(|(own, _)| own.number == disk.number) {
            return Ok(*place);
        }
        let partitions = partitions(disk);
        // Another file may be attached to a loop device later.
        let all = 0..u64::MAX / SECTOR_BYTES;
        let counted = counted.filter(|device| device.is_partition());
        let counted = counted
            .and_then(|device| partitions.iter().find(|(own, _)| own.number == device.number));
        let place = self.watch.add_device(DeviceSpec {
            number: bdi_number(&disk.number),
            partitions: partitions.iter().map(|(own, _)| bdi_number(&own.number)).collect(),
            counted: counted.map_or(all, |(_, sectors)| sectors.clone()),
            in_flight: block::writes_in_flight(&disk.number).unwrap_or(0),
            swap: swap_on(disk, &partitions),
            has_no_requests: !disk.folder.join("mq").exists(),
        });
        self.disks.push((disk.clone(), place));
        self.add_filesystems(disk, place, interrupt)?;
        // What is queued to a device of the device mapper or md is remapped to those below.
        for device in std::iter::once(disk).chain(partitions.iter().map(|(device, _)| device)) {
            for holder in in_folder(&device.folder.join("holders")) {
                self.add_disk(&holder, None, interrupt)?;
            }
        }
        Ok(place)
    }

    /// Adds the filesystems that are mounted from a disk and were not added yet.
    fn add_filesystems(
        &mut self,
        disk: &BlockDevice,
        place: usize,
        interrupt: &Interrupt,
    ) -> io::Result<()> {
        let whole = (disk.clone(), disk.sectors()?);
        for (device, sectors) in partitions(disk).into_iter().chain([whole]) {
            let of_device =
                |mount: &&(Mount, PathBuf)| devices_of_mount(&mount.0).contains(&device.number);
            if !self.mounted.contains(&device.number)
                && let Some((mount, path)) = self.mounts.iter().find(of_device).cloned()
            {
                self.watch.retire(place, &sectors);
                let member = Member { device: place, sectors, id: 0 };
                self.add_filesystem(&device, &disk.number, &mount, path, member, interrupt);
                self.mounted.insert(device.number);
            }
        }
        Ok(())
    }

    fn add_filesystem(
        &mut self,
        device: &BlockDevice,
        disk: &str,
        mount: &Mount,
        path: PathBuf,
        mut member: Member,
        interrupt: &Interrupt,
    ) {
        let mut fsid = None;
        let mut backing = vec![bdi_number(disk)];
        let mut source = NameSource::Handles(HandleKind::AnyGeneration);
        let mut layout = Layout::unknown();
        let mut model = ModelSpec::of_kind(&mount.kind);
        match &mut model {
            ModelSpec::Ext { places } => {
                (layout, *places) = self.layout(&mount.kind, device, interrupt);
                // A driver of ext2 alone has no events.
                if !is_of_ext4(device) {
                    model = ModelSpec::Generic;
                }
            }
            ModelSpec::Xfs { places } => {
                (layout, *places) = self.layout(&mount.kind, device, interrupt);
                source = NameSource::Handles(HandleKind::Xfs);
            }
            ModelSpec::Btrfs(geometry) => match self.btrfs_of(&path, device, &mut member) {
                Ok((facts, known)) => {
                    source = NameSource::Btrfs;
                    fsid = facts.fsid.first_chunk().map(|first| u64::from_le_bytes(*first));
                    backing = facts.backing.iter().map(|name| bdi_number(name)).collect();
                    *geometry = known;
                }
                Err(error) => {
                    self.notes.push(format!("{}: {error}", path.display()));
                    model = ModelSpec::Generic;
                }
            },
            ModelSpec::F2fs | ModelSpec::Generic => {}
        }
        if model != ModelSpec::Generic {
            self.with_events.insert(device.number.clone());
        }
        let is_other = model == ModelSpec::Generic && mount.kind != "btrfs";
        if is_other {
            self.notes.push(format!(
                "{} is {}, which has no events of its own: data is charged by file, metadata to \
                 whoever submits it",
                path.display(),
                mount.kind
            ));
        }
        let number = bdi_number(&device.number);
        let members = vec![member];
        let node_bytes = match &model {
            ModelSpec::Btrfs(geometry) => Some(geometry.node_bytes),
            _ => None,
        };
        let spec = FilesystemSpec { model, members, layout, number, backing, fsid };
        let place = self.watch.add_filesystem(spec);
        if let Some(node_bytes) = node_bytes {
            let path = path.clone();
            self.btrfs.push(BtrfsSource { filesystem: place, path, node_bytes });
        }
        self.names.add_filesystem(place, path, mount, source);
    }

    fn btrfs_of(
        &mut self,
        path: &Path,
        device: &BlockDevice,
        member: &mut Member,
    ) -> io::Result<(btrfs::BtrfsFacts, BtrfsGeometry)> {
        let root = File::open(path)?;
        let facts = btrfs::facts(&root)?;
        let is_it = |node: &Path| block_number(node).is_some_and(|own| own == device.number);
        let own = facts.devices.iter().find(|(_, node)| is_it(node));
        member.id = own.map_or(1, |(id, _)| *id);
        if facts.devices.len() > 1 {
            self.notes.push(format!(
                "{}: btrfs on {} devices; bytes asked for are shown with the first",
                path.display(),
                facts.devices.len()
            ));
        }
        let known = geometry(path, facts.node_bytes)?;
        Ok((facts, known))
    }

    /// The fixed areas of a filesystem, by its own tools, which only read.
    fn layout(
        &mut self,
        kind: &str,
        device: &BlockDevice,
        interrupt: &Interrupt,
    ) -> (Layout, Option<InodePlaces>) {
        let known = filesystem::find(kind).and_then(|found| Some((found, found.layout?)));
        let Some((found, query)) = known else {
            return (Layout::unknown(), None);
        };
        let ask = |question: &filesystem::layout::ToolQuery| -> Result<String, String> {
            let program = program::find(question.call.program, found.package)
                .map_err(|error| error.to_string())?;
            let mut command = Command::new(program);
            command.args(question.call.arguments).arg(&device.node);
            command.env("DEBUGFS_PAGER", "__none__").env("PAGER", "__none__");
            let rules = Rules { marker: "who", limit: TOOL_LIMIT, interrupt };
            let done = program::run_with_input(command, question.input, rules);
            done.map(|done| done.stdout).map_err(|error| error.to_string())
        };
        let answers: Result<Vec<String>, String> = query.questions.iter().map(ask).collect();
        let read = answers.and_then(|answers| {
            let layout = (query.parse)(&answers).map_err(|fault| fault.to_string())?;
            let places = filesystem::layout::inode_places(kind, &answers)
                .map_err(|fault| fault.to_string())?;
            Ok((layout, places))
        });
        read.unwrap_or_else(|reason| {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            self.notes.push(format!(
                "{}: its layout is unknown, so kinds of metadata are not told apart ({reason})",
                device.name
            ));
            (Layout::unknown(), None)
        })
    }

    /// Adds the loop devices whose files are on what is watched, and those on these.
    fn add_loops(&mut self, interrupt: &Interrupt) -> io::Result<()> {
        let mut names = loop_names();
        loop {
            let before = names.len();
            let mut left = Vec::new();
            for name in names {
                if !self.add_loop(&name, interrupt)? {
                    left.push(name);
                }
            }
            names = left;
            if names.len() == before {
                return Ok(());
            }
        }
    }

    fn add_loop(&mut self, name: &str, interrupt: &Interrupt) -> io::Result<bool> {
        let node = Path::new("/dev").join(name);
        let Ok(Some(backing)) = loop_device::backing(&node) else { return Ok(false) };
        let number = sysfs::major_minor(backing.file.filesystem);
        let mut filesystems = self.names.filesystems.iter().rev();
        let found = filesystems.find(|(_, found)| found.numbers.contains(&number));
        let Some((&filesystem, _)) = found else { return Ok(false) };
        let Ok(device) = BlockDevice::open(&node) else { return Ok(false) };
        let attached = (filesystem, backing.file);
        if self.loops.get(name) == Some(&attached) {
            return Ok(true);
        }
        if self.loops.insert(name.to_owned(), attached).is_some() {
            // What was mounted from another file is gone.
            self.mounted.remove(&device.number);
        }
        let offset = sysfs::read(&device.folder.join("loop/offset"));
        let offset = offset.ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let place = self.add_disk(&device, None, interrupt)?;
        self.add_filesystems(&device, place, interrupt)?;
        self.watch.add_loop(place, filesystem, backing.file.inode, offset);
        Ok(true)
    }
}

impl StackedPair {
    /// What was written to both so far.
    pub fn written_bytes(&self) -> [u64; 2] {
        let written =
            |number: &str| block::read(number).map_or(0, |now| now.counters.written_bytes);
        [&self.upper, &self.lower].map(|(_, number)| written(number))
    }
}

impl BtrfsSource {
    /// The chunks as they are now.
    pub fn geometry(&self) -> io::Result<BtrfsGeometry> {
        geometry(&self.path, self.node_bytes)
    }
}

/// The chunks of the btrfs that is mounted somewhere, as they are now.
fn geometry(path: &Path, node_bytes: u64) -> io::Result<BtrfsGeometry> {
    // Kept open, it could not be unmounted.
    let chunks = btrfs::chunks(&File::open(path)?)?.into_iter();
    let chunks = chunks.map(|chunk| BtrfsChunk { logical: chunk.logical, copies: chunk.copies });
    Ok(BtrfsGeometry { node_bytes, chunks: chunks.collect() })
}

/// The swap areas on a disk, in its sectors.
fn swap_on(disk: &BlockDevice, partitions: &[(BlockDevice, Range<u64>)]) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    for area in mounts::swap_areas().unwrap_or_default() {
        let number = block_number(&area);
        let mut parts = partitions.iter();
        if let Some((_, sectors)) = parts.find(|(own, _)| number.as_ref() == Some(&own.number)) {
            found.push(sectors.clone());
        } else if number.as_ref() == Some(&disk.number) {
            found.push(0..u64::MAX);
        } else if number.is_none()
            && let Ok(Some(mount)) = mounts::containing(&area)
            && let Some(start) = start_on(&mount, disk, partitions)
            && let Ok(Some(places)) =
                File::open(&area).and_then(|file| extents::extents(&file, 4096))
        {
            let sectors = |range: &Range<u64>| {
                start + range.start / SECTOR_BYTES..start + range.end / SECTOR_BYTES
            };
            found.extend(places.iter().map(sectors));
        }
    }
    found
}

/// The first sector on a disk of the filesystem that is mounted.
fn start_on(
    mount: &Mount,
    disk: &BlockDevice,
    partitions: &[(BlockDevice, Range<u64>)],
) -> Option<u64> {
    let numbers = devices_of_mount(mount);
    if numbers.contains(&disk.number) {
        return Some(0);
    }
    let found = partitions.iter().find(|(own, _)| numbers.contains(&own.number));
    found.map(|(_, sectors)| sectors.start)
}

/// The numbers of the devices of a mounted filesystem. One on several devices has a number that is
/// none of theirs.
pub fn devices_of_mount(mount: &Mount) -> Vec<String> {
    if mount.kind == "btrfs"
        && let Ok(facts) = File::open(&mount.target).and_then(|root| btrfs::facts(&root))
    {
        return facts.devices.iter().filter_map(|(_, node)| block_number(node)).collect();
    }
    if Path::new("/sys/dev/block").join(&mount.device).exists() {
        return vec![mount.device.clone()];
    }
    block_number(Path::new(&mount.source)).into_iter().collect()
}

/// The partitions of a disk, with their sectors.
fn partitions(disk: &BlockDevice) -> Vec<(BlockDevice, Range<u64>)> {
    let with_sectors = |part: BlockDevice| Some((part.clone(), part.sectors().ok()?));
    disk.partitions().unwrap_or_default().into_iter().filter_map(with_sectors).collect()
}

/// The devices that a folder of sysfs links to.
fn in_folder(folder: &Path) -> Vec<BlockDevice> {
    let links = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbers = links.filter_map(|link| sysfs::read(&link.path().join("dev")).ok());
    numbers.filter_map(|number| BlockDevice::numbered(&number).ok()).collect()
}

/// Every mount, and where this process finds it.
pub fn all_mounts() -> io::Result<Vec<(Mount, PathBuf)>> {
    let own = mounts::all()?.into_iter().map(|mount| {
        let path = mount.target.clone();
        (mount, path)
    });
    let elsewhere = mounts::elsewhere().into_iter().filter_map(|found| {
        let path = found.reach(&found.mount.target)?;
        Some((found.mount, path))
    });
    Ok(own.chain(elsewhere).collect())
}

/// What changes when a filesystem is mounted or a loop device is attached.
pub fn changing() -> String {
    let mut all = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for name in loop_names() {
        let folder = Path::new("/sys/block").join(name);
        for attribute in ["loop/backing_file", "diskseq"] {
            all += &sysfs::read(&folder.join(attribute)).unwrap_or_default();
        }
    }
    all
}

fn loop_names() -> Vec<String> {
    let disks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let names = disks.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("loop")).collect();
    names.sort();
    names
}

/// What a disk lies on, nearest first: a loop device's file, and devices of device mapper and md.
fn below(disk: &BlockDevice) -> Vec<StackedPair> {
    let mut found: Vec<StackedPair> = Vec::new();
    let mut next = vec![disk.clone()];
    while let Some(above) = next.pop() {
        let mut lower = in_folder(&above.folder.join("slaves"));
        if let Ok(Some(backing)) = loop_device::backing(&above.node) {
            let number =
                backing.device.unwrap_or_else(|| sysfs::major_minor(backing.file.filesystem));
            lower.extend(BlockDevice::numbered(&number));
        }
        for device in lower {
            found.push(StackedPair {
                upper: (above.name.clone(), above.number.clone()),
                lower: (device.name.clone(), device.number.clone()),
                is_one_of_several: false,
            });
            next.extend(device.disk().ok());
        }
    }
    for at in 0..found.len() {
        let StackedPair { upper, lower, .. } = found[at].clone();
        let mut others = found.iter().filter(|other| other.lower == lower);
        if others.any(|other| other.upper != upper) {
            found[at].is_one_of_several = true;
        }
    }
    let own = (disk.name.clone(), disk.number.clone());
    let shared: Vec<StackedPair> =
        found.iter().filter(|pair| pair.is_one_of_several).cloned().collect();
    for StackedPair { lower, .. } in shared {
        if !found.iter().any(|pair| (&pair.upper, &pair.lower) == (&own, &lower)) {
            found.push(StackedPair { upper: own.clone(), lower, is_one_of_several: false });
        }
    }
    found
}

/// Whether the driver of ext4 has a device mounted.
fn is_of_ext4(device: &BlockDevice) -> bool {
    Path::new("/sys/fs/ext4").join(&device.name).exists()
}
