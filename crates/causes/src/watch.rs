//! The whole watch: which filesystem is on which disk, and through which loop device it writes.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ssdlab_filesystem::{BlockKind, InodePlaces, Layout};

use crate::actor::Actor;
use crate::btrfs::{Btrfs, BtrfsGeometry};
use crate::device::{Device, DeviceSpec};
use crate::event::{
    BlockOperation, COMMON, CauseEvent, EventPoint, SECTOR_BYTES, SourceKey, WantedEvent,
};
use crate::ext::Ext;
use crate::f2fs::F2fs;
use crate::generic::GenericModel;
use crate::ledger::{Inode, LedgerKey, WrittenKind};
use crate::readings::{CounterBalance, WrittenReading};
use crate::shares::CauseShares;
use crate::state::{FilesystemFinding, FilesystemModel, FilesystemState, Member, SectorMark};
use crate::tasks::{Causer, Tasks};
use crate::xfs::Xfs;

/// How often what is not needed any more is forgotten.
const FORGET_EVERY_NS: u64 = 60 * 1_000_000_000;
/// The major number of loop devices.
const LOOP_MAJOR: u64 = 7;
/// The most files that are remembered as known.
const MOST_KNOWN: usize = 1 << 20;

/// How a filesystem's events are understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSpec {
    /// ext2, ext3, ext4.
    Ext {
        /// Where inodes are, if its device can be read.
        places: Option<InodePlaces>,
    },
    Xfs {
        /// Where inodes are, if its device can be read.
        places: Option<InodePlaces>,
    },
    Btrfs(BtrfsGeometry),
    F2fs,
    /// Any other.
    Generic,
}

impl ModelSpec {
    /// One of each model, of a filesystem of which nothing is known.
    const EACH: [Self; 5] = [
        Self::Ext { places: None },
        Self::Xfs { places: None },
        Self::Btrfs(BtrfsGeometry { node_bytes: 0, chunks: Vec::new() }),
        Self::F2fs,
        Self::Generic,
    ];

    /// The model of a kind of filesystem, as mounts name the kind.
    pub fn of_kind(kind: &str) -> Self {
        let of_kind = |model: &Self| model.kinds().contains(&kind);
        Self::EACH.into_iter().find(of_kind).unwrap_or(Self::Generic)
    }

    fn kinds(&self) -> &'static [&'static str] {
        match self {
            Self::Ext { .. } => &["ext2", "ext3", "ext4"],
            Self::Xfs { .. } => &["xfs"],
            Self::Btrfs(_) => &["btrfs"],
            Self::F2fs => &["f2fs"],
            Self::Generic => &[],
        }
    }

    /// The model of a filesystem with this number.
    fn model(&self, number: u64) -> Box<dyn FilesystemModel> {
        match self {
            Self::Ext { places } => Box::new(Ext::new(number, places.clone())),
            Self::Xfs { places } => Box::new(Xfs::new(places.clone())),
            Self::Btrfs(geometry) => Box::new(Btrfs::new(geometry.clone())),
            Self::F2fs => Box::new(F2fs),
            Self::Generic => Box::new(GenericModel),
        }
    }
}

/// What is known of a mounted filesystem before it is watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesystemSpec {
    /// How its events are understood.
    pub model: ModelSpec,
    /// Its devices.
    pub members: Vec<Member>,
    /// Its fixed areas.
    pub layout: Layout,
    /// Its number (`st_dev` as the kernel has it), as events of [`SourceKey::Device`] have it.
    pub number: u64,
    /// Its backing devices, by [`bdi_number`](crate::bdi_number).
    pub backing: Vec<u64>,
    /// The first eight bytes of its identifier, if it is btrfs.
    pub fsid: Option<u64>,
}

#[derive(Debug)]
struct Watched {
    spec: FilesystemSpec,
    state: FilesystemState,
    model: Box<dyn FilesystemModel>,
    /// Files behind loop devices: the device, and the first byte of the file that it shows.
    behind: BTreeMap<u64, (usize, u64)>,
}

/// A loop device above a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopLayer {
    /// The loop device, by its place in the watch.
    pub upper: usize,
    /// The device that its file is on.
    pub lower: usize,
    /// The bytes written to the loop device.
    pub bytes: u64,
    /// The bytes of its file written to the device below.
    pub below_bytes: u64,
}

/// Everything that is watched.
#[derive(Debug, Default)]
pub struct Watch {
    /// Who threads are.
    pub tasks: Tasks,
    devices: Vec<Device>,
    filesystems: Vec<Watched>,
    known: BTreeSet<Inode>,
    fresh: Vec<Inode>,
    deleted: Vec<(Inode, u64)>,
    now_ns: u64,
    forgot_ns: u64,
}

impl Watch {
    /// Adds a disk, and returns its place.
    pub fn add_device(&mut self, spec: DeviceSpec) -> usize {
        self.devices.push(Device::new(spec));
        self.devices.len() - 1
    }

    /// Adds a filesystem on devices that were added, and returns its place.
    pub fn add_filesystem(&mut self, spec: FilesystemSpec) -> usize {
        let number = self.filesystems.len();
        let state = FilesystemState::new(number, spec.members.clone(), spec.layout.clone());
        let model = spec.model.model(spec.number);
        self.filesystems.push(Watched { spec, state, model, behind: BTreeMap::new() });
        number
    }

    /// A loop device shows a file from an offset on: who writes to the device is behind what its
    /// worker writes to the file.
    pub fn add_loop(&mut self, device: usize, filesystem: usize, inode: u64, offset_bytes: u64) {
        if let Some(watched) = self.filesystems.get_mut(filesystem) {
            watched.behind.insert(inode, (device, offset_bytes));
        }
    }

    /// Sectors of a device hold another filesystem now: nothing is of the former any more.
    pub fn retire(&mut self, device: usize, sectors: &Range<u64>) {
        for Watched { spec, state, .. } in &mut self.filesystems {
            let mut members = state.members.iter();
            if members.any(|own| own.device == device && own.sectors.start == sectors.start) {
                (spec.number, spec.fsid) = (u64::MAX, None);
                spec.backing.clear();
                state.members.clear();
            }
        }
    }

    /// The loop devices above a device, at any height.
    pub fn loops_above(&self, lower: usize) -> Vec<LoopLayer> {
        let mut found = Vec::new();
        for (filesystem, watched) in self.filesystems.iter().enumerate() {
            if !watched.state.members.iter().any(|member| member.device == lower) {
                continue;
            }
            for (number, (upper, _)) in &watched.behind {
                let is_file =
                    |inode: Inode| inode.filesystem == filesystem && inode.number == *number;
                let rows = self.devices[lower].ledger.rows();
                let of_file = rows.filter(|(key, _)| key.inode.is_some_and(is_file));
                let below_bytes = of_file.map(|(_, amounts)| amounts.bytes).sum();
                let bytes = self.devices[*upper].ledger.bytes();
                found.push(LoopLayer { upper: *upper, lower, bytes, below_bytes });
                found.extend(self.loops_above(*upper));
            }
        }
        found
    }

    /// The devices, as they were added.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The events to record, each with its `filter`; empty for all.
    pub fn events(&self) -> Vec<(WantedEvent, String)> {
        let own = self.filesystems.iter().flat_map(|watched| watched.model.events());
        self.filtered(COMMON.iter().copied().chain(own))
    }

    /// The events of filesystems that may be mounted from loop devices later.
    pub fn later_events(&self) -> Vec<(WantedEvent, String)> {
        let of_each = ModelSpec::EACH.into_iter().flat_map(|spec| spec.model(0).events());
        let mut later = self.filtered(of_each);
        let known = self.events();
        later.retain(|event| !known.contains(event));
        later
    }

    fn filtered(&self, wanted: impl Iterator<Item = WantedEvent>) -> Vec<(WantedEvent, String)> {
        let mut events: Vec<WantedEvent> = Vec::new();
        for event in wanted {
            if !events.contains(&event) {
                events.push(event);
            }
        }
        let filter = |event: &WantedEvent| match event.key {
            SourceKey::Thread | SourceKey::Fsid => String::new(),
            SourceKey::Backing => self.backing_filter(),
            SourceKey::Device => self.device_filter(),
        };
        events.into_iter().map(|event| (event, filter(&event))).collect()
    }

    fn device_filter(&self) -> String {
        let of_device = |device: &Device| {
            let numbers = std::iter::once(device.spec.number);
            numbers.chain(device.spec.partitions.iter().copied()).collect::<Vec<_>>()
        };
        let numbers = self.devices.iter().flat_map(of_device);
        let mounted = self.filesystems.iter().map(|watched| watched.spec.number);
        let loops = (LOOP_MAJOR << 20)..(LOOP_MAJOR + 1) << 20;
        let numbers: BTreeSet<u64> = numbers.chain(mounted).collect();
        let others = numbers.iter().filter(|number| !loops.contains(number));
        let terms = others.map(|number| format!("dev == {number}"));
        // Loop devices may be attached later.
        let later = format!("(dev >= {} && dev < {})", loops.start, loops.end);
        terms.chain([later]).collect::<Vec<_>>().join(" || ")
    }

    fn backing_filter(&self) -> String {
        let numbers = self.filesystems.iter().flat_map(|watched| &watched.spec.backing);
        let numbers: BTreeSet<u64> = numbers.copied().collect();
        let disks = numbers.iter().filter(|number| **number < 1 << 32);
        let name = |number: &u64| format!("name == \"{}:{}\"", number >> 20, number & 0xf_ffff);
        let later = [format!("name ~ \"{LOOP_MAJOR}:*\""), "name ~ \"btrfs-*\"".to_owned()];
        disks.map(name).chain(later).collect::<Vec<_>>().join(" || ")
    }

    /// Begins at a reading of a device's counter.
    pub fn begin(&mut self, device: usize, reading: WrittenReading) {
        self.devices[device].readings.begin(reading);
    }

    /// Sets the next reading of a device's counter, before events from its time are taken.
    pub fn set_next(&mut self, device: usize, reading: WrittenReading) {
        self.devices[device].readings.set_next(reading);
    }

    /// Compares the rows with the counter at the reading that was set, once all events up to it
    /// were taken. The rows then have what the reading includes, and no more until
    /// [`Self::resume`].
    pub fn settle(&mut self, device: usize) -> Option<CounterBalance> {
        let Device { readings, ledger, .. } = &mut self.devices[device];
        readings.settle(ledger)
    }

    /// Goes on after a reading was settled.
    pub fn resume(&mut self, device: usize) {
        let Device { readings, ledger, .. } = &mut self.devices[device];
        readings.resume(ledger);
    }

    /// What was written to a device so far, by who caused it.
    pub fn bytes_by_causer(&self, device: usize) -> BTreeMap<Causer, u64> {
        let mut bytes = BTreeMap::new();
        for (key, amounts) in self.devices[device].ledger.rows() {
            *bytes.entry(key.causer).or_default() += amounts.bytes;
        }
        bytes
    }

    /// Replaces what is known of the chunks of a btrfs filesystem.
    pub fn update_btrfs(&mut self, filesystem: usize, geometry: BtrfsGeometry) {
        let watched = self.filesystems.get_mut(filesystem);
        let model = watched.map(|watched| watched.model.as_mut() as &mut dyn Any);
        if let Some(btrfs) = model.and_then(|model| model.downcast_mut::<Btrfs>()) {
            btrfs.update(geometry);
        }
    }

    /// The files that were met for the first time since the last call.
    pub fn take_fresh(&mut self) -> Vec<Inode> {
        std::mem::take(&mut self.fresh)
    }

    /// The files that were deleted since the last call, and when: a name that was looked up since
    /// then is another file's.
    pub fn take_deleted(&mut self) -> Vec<(Inode, u64)> {
        std::mem::take(&mut self.deleted)
    }

    /// Takes an event. Events must come in order of time.
    pub fn take(&mut self, event: &CauseEvent) {
        self.now_ns = event.time_ns;
        match event.point {
            EventPoint::NewTask
            | EventPoint::Executed
            | EventPoint::Attached
            | EventPoint::SyncEntered
            | EventPoint::SyncLeft => self.tasks.take(event),
            EventPoint::Queued => self.queued(event),
            EventPoint::Completed => self.completed(event),
            EventPoint::Remapped => self.remapped(event),
            _ => self.of_filesystem(event),
        }
        if event.time_ns > self.forgot_ns.saturating_add(FORGET_EVERY_NS) {
            self.forgot_ns = event.time_ns;
            for watched in &mut self.filesystems {
                watched.state.files.forget();
            }
        }
    }

    fn of_filesystem(&mut self, event: &CauseEvent) {
        for index in 0..self.filesystems.len() {
            if !self.filesystems[index].is_about(event) {
                continue;
            }
            let actor = self.actor(Some(index), event);
            let Watched { state, model, .. } = &mut self.filesystems[index];
            state.files.now_ns = event.time_ns;
            if !state.take_common(&actor, event) {
                model.take(state, &actor, event);
            }
            self.enter_findings(index);
        }
    }

    /// Who is behind an event: for a worker that writes a loop device's file, those behind the
    /// device.
    fn actor(&mut self, filesystem: Option<usize>, event: &CauseEvent) -> Actor {
        let causer = self.tasks.causer_of(event.thread);
        let is_kernel = self.tasks.is_kernel(event.thread);
        let mut actor = Actor {
            thread: event.thread,
            causer,
            is_kernel,
            is_syncing: self.tasks.is_syncing(event.thread),
            is_journal: is_kernel && self.tasks.name(causer).program.starts_with("jbd2/"),
            above: Vec::new(),
        };
        if is_kernel
            && let Some(watched) = filesystem.and_then(|index| self.filesystems.get(index))
            && let Some((inode, range)) = event.changed_range()
            && let Some((device, offset)) = watched.behind.get(&inode)
            && let Some(device) = self.devices.get(*device)
            && let Some(start) = range.start.checked_sub(*offset)
        {
            let sectors = start / SECTOR_BYTES..(range.end - offset).div_ceil(SECTOR_BYTES);
            let bytes = |sector: u64| sector * SECTOR_BYTES + offset;
            let pieces = device.causes_within(&sectors).into_iter();
            actor.above = pieces
                .filter(|(_, causes)| !causes.is_empty())
                .map(|(range, causes)| (bytes(range.start)..bytes(range.end), causes))
                .collect();
        }
        actor
    }

    fn queued(&mut self, event: &CauseEvent) {
        let [sector, sectors, letters, ..] = event.numbers;
        let Some(device) = self.device(event.key) else { return };
        let Some(range) = sector_range(sector, sectors) else { return };
        let place = self.place(device, &range);
        let actor = self.actor(place.map(|(filesystem, _)| filesystem), event);
        match BlockOperation::of(letters) {
            BlockOperation::Other => {}
            BlockOperation::Discard => {
                let state = place.and_then(|(filesystem, _)| self.filesystems.get(filesystem));
                let causes =
                    state.map_or_else(|| actor.own(), |watched| watched.state.cause(&actor));
                self.devices[device].discarded(&range, &causes);
            }
            BlockOperation::Write { .. } if self.devices[device].is_swap(&range) => {
                let mark = SectorMark { kind: WrittenKind::Swap, inode: None, causes: actor.own() };
                self.devices[device].mark(range.clone(), mark);
            }
            BlockOperation::Write { is_metadata } => match place {
                Some((filesystem, member)) => {
                    self.write_queued(filesystem, member, &actor, range.clone(), is_metadata);
                }
                None => {
                    // A layer above may have marked it.
                    for gap in self.devices[device].marks.gaps(&range) {
                        let causes = CauseShares::all(actor.causer);
                        let mark = SectorMark { kind: WrittenKind::Raw, inode: None, causes };
                        self.devices[device].mark(gap, mark);
                    }
                }
            },
        }
        let is_write = matches!(BlockOperation::of(letters), BlockOperation::Write { .. });
        if is_write && self.devices[device].spec.has_no_requests {
            self.devices[device].passed(event.time_ns, &range);
        }
    }

    fn write_queued(
        &mut self,
        filesystem: usize,
        member: usize,
        actor: &Actor,
        range: Range<u64>,
        is_metadata: bool,
    ) {
        let Watched { state, model, .. } = &mut self.filesystems[filesystem];
        let place = state.members[member].clone();
        if !is_metadata {
            state.direct_writes(actor);
        }
        let ranges = if model.marks_early() {
            self.devices[place.device].marks.gaps(&range)
        } else {
            vec![range]
        };
        let start = place.sectors.start;
        for range in ranges {
            for part in state.parts(member, range.start - start..range.end - start, is_metadata) {
                model.queued(state, actor, &part);
            }
        }
        self.enter_findings(filesystem);
    }

    fn completed(&mut self, event: &CauseEvent) {
        let [sector, sectors, letters, ..] = event.numbers;
        if let Some(device) = self.device(event.key)
            && let Some(range) = sector_range(sector, sectors)
            && let BlockOperation::Write { .. } = BlockOperation::of(letters)
        {
            self.devices[device].completed(event.time_ns, &range);
        }
    }

    /// A bio of a device above goes on: its marks go with it.
    fn remapped(&mut self, event: &CauseEvent) {
        let [sector, sectors, above, above_sector, ..] = event.numbers;
        let Some((below, above)) = self.device(event.key).zip(self.device(above)) else { return };
        let Some(range) = sector_range(above_sector, sectors).filter(|_| above != below) else {
            return;
        };
        let marked = self.devices[above].in_flight_within(&range);
        let moved = |found: Range<u64>| {
            sector + (found.start - range.start)..sector + (found.end - range.start)
        };
        let marked: Vec<_> =
            marked.into_iter().map(|(found, mark)| (moved(found), mark.clone())).collect();
        for (range, mark) in marked {
            self.devices[below].mark(range, mark);
        }
    }

    fn device(&self, number: u64) -> Option<usize> {
        self.devices.iter().position(|device| device.has_number(number))
    }

    /// The filesystem and its member that hold sectors of a disk.
    fn place(&self, device: usize, range: &Range<u64>) -> Option<(usize, usize)> {
        let holds = |member: &Member| {
            member.device == device
                && member.sectors.start <= range.start
                && range.end <= member.sectors.end
        };
        self.filesystems.iter().enumerate().find_map(|(index, watched)| {
            watched.state.members.iter().position(holds).map(|member| (index, member))
        })
    }

    /// Enters what a filesystem has found into the devices.
    fn enter_findings(&mut self, filesystem: usize) {
        let findings = self.filesystems[filesystem].state.take_findings();
        for finding in findings {
            let members = &self.filesystems[filesystem].state.members;
            let first = members.first().map_or(0, |member| member.device);
            match finding {
                FilesystemFinding::Marked { member, sectors, mark } => {
                    let Some(place) = members.get(member) else { continue };
                    let (device, start) = (place.device, place.sectors.start);
                    let inode = mark.inode;
                    let end = sectors.end.saturating_add(start);
                    self.devices[device].mark(sectors.start.saturating_add(start)..end, mark);
                    self.meet(inode);
                }
                FilesystemFinding::Asked { causer, inode, bytes } => {
                    let key = data_of(causer, inode);
                    self.devices[first].ledger.row(key).asked_bytes += bytes;
                    self.meet(Some(inode));
                }
                FilesystemFinding::Synced { causer, inode } => {
                    self.devices[first].ledger.row(data_of(causer, inode)).syncs += 1;
                    self.meet(Some(inode));
                }
                FilesystemFinding::Deleted { inode } => {
                    self.deleted.push((inode, self.now_ns));
                }
                FilesystemFinding::Committed { causer, carried_bytes } => {
                    let commits = self.devices[first].ledger.commits.entry(causer).or_default();
                    commits.commits += 1;
                    commits.carried_bytes += carried_bytes;
                }
            }
        }
    }

    fn meet(&mut self, inode: Option<Inode>) {
        let Some(inode) = inode else { return };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        if self.known.insert(inode) {
            self.fresh.push(inode);
        }
    }
}

impl Watched {
    fn is_about(&self, event: &CauseEvent) -> bool {
        match event.point.source() {
            SourceKey::Thread => false,
            SourceKey::Device => self.spec.number == event.key,
            SourceKey::Fsid => self.spec.fsid == Some(event.key),
            SourceKey::Backing => self.spec.backing.contains(&event.key),
        }
    }
}

fn data_of(causer: Causer, inode: Inode) -> LedgerKey {
    LedgerKey { causer, kind: BlockKind::Data.into(), inode: Some(inode) }
}

/// The sectors of a bio; none for one that moves nothing or lies nowhere.
fn sector_range(first: u64, count: u64) -> Option<Range<u64>> {
    let end = first.checked_add(count).filter(|end| *end <= u64::MAX / SECTOR_BYTES)?;
    (count > 0).then_some(first..end)
}
