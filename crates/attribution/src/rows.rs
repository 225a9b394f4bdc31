//! The rows of a device, with names: the `--json` output.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_causes::{Amounts, CauserName, CounterBalance, Watch};

use crate::names::Names;

/// The version of the `--json` output.
const WHO_SCHEMA: u32 = 1;

/// Who wrote what, to each device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhoOutput {
    /// The version of this format.
    schema: u32,
    /// The devices.
    pub devices: Vec<DeviceWrites>,
    #[serde(skip)]
    is_named: bool,
}

/// Who wrote what to a device. All rows together, what is unseen included, are `counter_bytes`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeviceWrites {
    /// The version of this format.
    schema: u32,
    /// The kernel's name of it.
    pub device: String,
    /// How long was recorded.
    pub seconds: f64,
    /// What the device's counter grew by.
    pub counter_bytes: u64,
    /// The rows' bytes of which somebody is known, or the filesystem itself.
    pub attributed_bytes: u64,
    /// The bytes of which no event was seen, and any difference to the counter.
    pub unseen_bytes: u64,
    /// Events that the kernel could not record.
    pub lost_events: u64,
    /// The bytes discarded, which are outside the sum.
    pub discarded_bytes: u64,
    /// The stretches whose rows do not add up to the counter, or in which events were lost.
    pub inexact: Vec<InexactStretch>,
    /// The rows, the largest first.
    pub rows: Vec<WriteRow>,
    /// Commits that programs waited for, where the filesystem reports them.
    pub commits: Vec<CommitRow>,
    /// The loop devices above this one, and the devices below.
    pub layers: Vec<LayerCounts>,
    /// What is not known, and why.
    pub notes: Vec<String>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct WriteRow {
    /// The program, as the kernel names it; or a line in brackets.
    pub program: String,
    /// The path of its cgroup.
    pub cgroup: String,
    /// What people call that.
    pub service: String,
    /// What was written.
    pub kind: String,
    /// The file, if it is one's and its name was seen.
    pub path: Option<String>,
    /// Written to the device.
    pub bytes: u64,
    /// Asked for.
    pub asked_bytes: u64,
    /// Calls of fsync(2) and fdatasync(2).
    pub syncs: u64,
    /// Discarded; outside the sum.
    pub discarded_bytes: u64,
}

/// Commits of a journal that a program waited for; outside the sum.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitRow {
    /// The program.
    pub program: String,
    /// Its cgroup.
    pub cgroup: String,
    /// How many commits.
    pub commits: u64,
    /// The journal's bytes in them that others caused: an upper bound of what these syncs cost
    /// others.
    pub carried_bytes: u64,
}

/// A device on another, directly or through layers, and what was written to both.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LayerCounts {
    /// The kernel's name of the upper.
    pub device: String,
    /// That of the lower.
    pub on: String,
    /// Written to the upper.
    pub bytes: u64,
    /// Written to the lower for that: to the file of a loop device; where `is_shared`, by whoever.
    pub below_bytes: u64,
    /// Whether others may have written to the lower, too, and are counted.
    pub is_shared: bool,
    /// `below_bytes` by `bytes`; absent if nothing was written to the upper, or if another device
    /// of the stack is on the lower, too.
    pub amplification: Option<f64>,
}

impl LayerCounts {
    pub fn new(
        device: String,
        on: String,
        [bytes, below_bytes]: [u64; 2],
        is_shared: bool,
    ) -> Self {
        let amplification = (bytes > 0).then(|| below_bytes as f64 / bytes as f64);
        Self { device, on, bytes, below_bytes, is_shared, amplification }
    }
}

/// A stretch of time, of about a minute at most, whose rows do not add up to the counter, or in
/// which events were lost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct InexactStretch {
    /// When it began, in s from the beginning of the recording.
    pub from_seconds: f64,
    /// Its length.
    pub seconds: f64,
    /// What the counter grew by.
    pub counter_bytes: u64,
    /// The sum of its rows.
    pub attributed_bytes: u64,
    /// Events that the kernel could not record.
    pub lost_events: u64,
}

/// A device's recording.
pub struct RecordedDevice<'a> {
    pub name: &'a str,
    pub device: usize,
    pub counter_bytes: u64,
    pub inexact: &'a [InexactStretch],
    pub discarded_bytes: u64,
    pub layers: Vec<LayerCounts>,
    pub seconds: f64,
    pub lost_events: u64,
    pub notes: &'a [String],
}

impl WhoOutput {
    pub fn new(devices: Vec<DeviceWrites>, is_named: bool) -> Self {
        Self { schema: WHO_SCHEMA, devices, is_named }
    }

    /// The device, if one was named.
    pub fn only(&self) -> Option<&DeviceWrites> {
        match &self.devices[..] {
            [device] if self.is_named => Some(device),
            _ => None,
        }
    }
}

impl DeviceWrites {
    /// What a device's counter grew by in some time, in rows, with nothing beside them.
    pub fn new(device: &str, seconds: f64, counter_bytes: u64, mut rows: Vec<WriteRow>) -> Self {
        rows.sort_by_key(|row| std::cmp::Reverse(row.bytes));
        let unseen = rows.iter().filter(|row| row.program == CauserName::UNSEEN);
        let unseen_bytes: u64 = unseen.map(|row| row.bytes).sum();
        let sum: u64 = rows.iter().map(|row| row.bytes).sum();
        Self {
            schema: WHO_SCHEMA,
            device: device.to_owned(),
            seconds,
            counter_bytes,
            attributed_bytes: sum - unseen_bytes,
            unseen_bytes,
            lost_events: 0,
            discarded_bytes: 0,
            inexact: Vec::new(),
            rows,
            commits: Vec::new(),
            layers: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Makes the rows of a device.
pub fn of_device(watch: &Watch, names: &Names, recorded: &RecordedDevice<'_>) -> DeviceWrites {
    let ledger = &watch.devices()[recorded.device].ledger;
    let mut by_name: BTreeMap<(String, String, &str, Option<String>), Amounts> = BTreeMap::new();
    for (key, amounts) in ledger.rows() {
        let name = watch.tasks.name(key.causer).clone();
        let path = key.inode.and_then(|inode| names.path(&inode));
        let row = by_name.entry((name.program, name.cgroup, key.kind.name(), path)).or_default();
        row.add(amounts);
    }
    let row = |((program, cgroup, kind, path), amounts): (_, Amounts)| {
        let (cgroup, kind): (String, &str) = (cgroup, kind);
        WriteRow {
            program,
            service: names.service(&cgroup),
            cgroup,
            kind: kind.to_owned(),
            path,
            bytes: amounts.bytes,
            asked_bytes: amounts.asked_bytes,
            syncs: amounts.syncs,
            discarded_bytes: amounts.discarded_bytes,
        }
    };
    let rows = by_name.into_iter().map(row).collect();
    let commits = ledger.commits.iter().map(|(causer, commits)| {
        let name = watch.tasks.name(*causer).clone();
        CommitRow {
            program: name.program,
            cgroup: name.cgroup,
            commits: commits.commits,
            carried_bytes: commits.carried_bytes,
        }
    });
    DeviceWrites {
        lost_events: recorded.lost_events,
        discarded_bytes: recorded.discarded_bytes,
        inexact: recorded.inexact.to_vec(),
        commits: commits.collect(),
        layers: recorded.layers.clone(),
        notes: recorded.notes.to_vec(),
        ..DeviceWrites::new(recorded.name, recorded.seconds, recorded.counter_bytes, rows)
    }
}

impl InexactStretch {
    pub fn of(balance: &CounterBalance, lost_events: u64, began_ns: u64) -> Self {
        let seconds = |from_ns: u64, to_ns: u64| to_ns.saturating_sub(from_ns) as f64 / 1e9;
        Self {
            from_seconds: seconds(began_ns, balance.from_ns),
            seconds: seconds(balance.from_ns, balance.to_ns),
            lost_events,
            counter_bytes: balance.counter_bytes,
            attributed_bytes: balance.attributed_bytes,
        }
    }
}
