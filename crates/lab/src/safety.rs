//! Which devices may be written to. Pure: a [`Survey`] of the machine goes in, refusals come
//! out, so that every rule is tested without a disk at stake.
//!
//! There is only one override: data on an unused device may be destroyed by typing that device's
//! own serial or by-id name. A device in use is never written to.

use std::fmt;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::mounts::{self, MountElsewhere};
use ssdlab_host::open_files::OpenFileHolder;
use ssdlab_plan::Bytes;
use thiserror::Error;

/// Everything about a device that decides whether it may be wiped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// The node, as named by the user.
    pub node: PathBuf,
    pub name: String,
    /// What distinguishes it from every other device.
    pub identity: Identity,
    /// It is a partition, not a whole disk.
    pub is_partition: bool,
    /// The drive's model, if known.
    pub model: Option<String>,
    /// The names that identify only this device: its by-id names; a whole disk's serial, a
    /// partition's PARTUUID, or the path of a loop device's file.
    pub names: Vec<String>,
    /// The kernel says it is read-only.
    pub read_only: bool,
    /// Opening it exclusively failed: the kernel itself uses it.
    pub busy: bool,
    /// Uses of the device, its partitions, its disk, or what lies below it.
    pub uses: Vec<DeviceUse>,
    /// Filesystems, partition tables and other signatures on it and on its partitions.
    pub signatures: Vec<Signature>,
}

/// What distinguishes a device from every other one until the next boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// `major:minor`.
    pub number: String,
    pub size_bytes: u64,
    /// The kernel's sequence number of its disk and medium (Linux 5.15). It changes if the device
    /// number is reused, or the medium is exchanged.
    pub sequence: Option<u64>,
}

/// Something in use on or around the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceUse {
    /// The kernel name of the device in use.
    pub name: String,
    /// Its relation to the named one.
    pub relation: Relation,
    /// What it is used for.
    pub purpose: Purpose,
}

/// The relation of a device to the named one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It is the named one.
    Itself,
    Partition,
    /// The whole disk it is a partition of.
    Disk,
    /// Another partition of the same disk.
    Sibling,
    /// It lies below it: a loop device's backing device.
    Below,
}

/// What a device is used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// It is mounted, or a device stacked on it is.
    Mounted(PathBuf),
    /// No disk was found below `/`, so that it may be this one.
    PerhapsRoot,
    /// It is mounted in the mount namespace of another process.
    MountedElsewhere {
        /// The mount point there.
        target: PathBuf,
        pid: u32,
        command: String,
    },
    /// It swaps, or a device stacked on it does.
    Swap,
    /// LVM, RAID, LUKS, a loop device ...: another device is built on it.
    Holder(String),
    /// It is itself built on another device, which it shares with others.
    BuiltOn(String),
    Open(OpenFileHolder),
    /// It is a loop device, and a process has its file open.
    FileOpen(OpenFileHolder),
    /// It may be in use: a clause that ends with what cannot be seen.
    Unseen(String),
    /// Another disk is a second path to the same drive.
    SecondPath {
        /// The other disk.
        disk: String,
        /// The proof (`WWID naa.5000c500a1b2c3d4`).
        proof: String,
    },
}

impl Purpose {
    /// The use by a mount in another mount namespace.
    pub(super) fn mounted_elsewhere(found: &MountElsewhere) -> Self {
        let MountElsewhere { mount, pid, command } = found.clone();
        Self::MountedElsewhere { target: mount.target, pid, command }
    }
}

/// A signature that libblkid knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The kernel's name of the device that carries it.
    pub device: String,
    /// What it is (`ext4`, `gpt`, `LVM2_member`).
    pub kind: String,
    /// The label, if it has one.
    pub label: Option<String>,
}

/// A device that must not be written to, with every reason.
#[derive(Debug, Error, Diagnostic)]
#[error("{} must not be written to{}", node.display(), list(reasons))]
pub struct UnsafeDevice {
    node: PathBuf,
    reasons: Vec<String>,
    #[help]
    help: String,
}

/// Refuses a device that is in use or cannot be written to, whatever it carries.
pub fn judge_use(survey: &Survey) -> Result<(), UnsafeDevice> {
    let mut reasons: Vec<String> = survey.uses.iter().map(|used| explain(survey, used)).collect();
    if survey.busy && reasons.is_empty() {
        reasons.push("the kernel has it open exclusively: something uses it".to_owned());
    }
    if survey.read_only {
        reasons.push("it is read-only".to_owned());
    }
    if survey.identity.size_bytes == 0 {
        reasons.push("it has no medium, or no size".to_owned());
    }
    if reasons.is_empty() {
        return Ok(());
    }
    Err(UnsafeDevice { node: survey.node.clone(), reasons, help: use_help(survey) })
}

/// Judges a device; `wipe` is the name the user typed to confirm. Returns what will be destroyed,
/// to be shown first.
pub fn judge(survey: &Survey, wipe: Option<&str>) -> Result<Vec<String>, UnsafeDevice> {
    judge_use(survey)?;
    let refused = |reasons, help| Err(UnsafeDevice { node: survey.node.clone(), reasons, help });
    if let Some(typed) = wipe
        && !survey.names.iter().any(|name| name == typed)
    {
        let reason = if survey.is_partition {
            format!("`{typed}` is not a name of this partition; the disk's names do not count")
        } else {
            format!("`{typed}` is not its serial or by-id name")
        };
        return refused(vec![reason], names_help(survey));
    }
    let carried: Vec<String> = survey.signatures.iter().map(describe).collect();
    if !carried.is_empty() && wipe.is_none() {
        return refused(carried, names_help(survey));
    }
    Ok(carried)
}

/// Compares a device after claiming it with the one that was judged: only what was shown may be
/// destroyed.
pub fn compare(judged: &Survey, claimed: &Survey) -> Result<(), UnsafeDevice> {
    same_device(&judged.node, &judged.identity, &claimed.identity)?;
    if judged.signatures == claimed.signatures {
        return Ok(());
    }
    let found = claimed.signatures.iter().map(describe);
    let changed = "its contents have changed since they were checked".to_owned();
    let help = "find out which program wrote to it, then start again".to_owned();
    let reasons = std::iter::once(changed).chain(found).collect();
    Err(UnsafeDevice { node: judged.node.clone(), reasons, help })
}

/// Compares the device that a node refers to now with the one that was judged.
pub fn same_device(node: &Path, judged: &Identity, found: &Identity) -> Result<(), UnsafeDevice> {
    if judged == found {
        return Ok(());
    }
    let reason =
        format!("it is no longer the device that was checked: that was {judged}, this is {found}");
    let help = "check which device has this name now, then start again".to_owned();
    Err(UnsafeDevice { node: node.to_owned(), reasons: vec![reason], help })
}

fn explain(survey: &Survey, used: &DeviceUse) -> String {
    let what = match &used.purpose {
        Purpose::Mounted(target) if target.as_os_str() == "/" => {
            "carries the root filesystem".to_owned()
        }
        Purpose::Mounted(target) => format!("is mounted on {}", mounts::printable(target)),
        Purpose::MountedElsewhere { target, pid, command } => format!(
            "is mounted on {} in the mount namespace of {command} (pid {pid})",
            mounts::printable(target)
        ),
        Purpose::PerhapsRoot => {
            "may carry the root filesystem, for which no block device is found".to_owned()
        }
        Purpose::Swap => "is swap space".to_owned(),
        Purpose::Holder(holder) => format!("is used by {holder}"),
        Purpose::BuiltOn(slave) => format!("is stacked on {slave}; name a drive or a partition"),
        Purpose::Open(holder) => format!("is held open by {}", process(holder)),
        Purpose::FileOpen(holder) => {
            format!("is backed by a file that is held open by {}", process(holder))
        }
        Purpose::Unseen(what) => format!("{what} cannot be seen from here"),
        Purpose::SecondPath { disk, proof } => {
            format!("has the same {proof} as {disk}: both are paths to one drive")
        }
    };
    let name = &used.name;
    match used.relation {
        Relation::Itself => format!("it {what}"),
        Relation::Partition => format!("its partition {name} {what}"),
        Relation::Disk => format!("the whole disk {name} {what}"),
        Relation::Sibling => format!("{name} on the same disk {what}"),
        Relation::Below => format!("{name}, which lies under {}, {what}", survey.name),
    }
}

fn process(holder: &OpenFileHolder) -> String {
    let access = if holder.writes { "writing" } else { "reading" };
    format!("{} (pid {}), for {access}", holder.command, holder.pid)
}

fn use_help(survey: &Survey) -> String {
    let has = |wanted: fn(&Purpose) -> bool| survey.uses.iter().any(|used| wanted(&used.purpose));
    if has(|purpose| matches!(purpose, Purpose::PerhapsRoot)) {
        return "boot a system whose / is a filesystem on a block device (not ZFS, NFS, tmpfs or an \
                overlay), or use --lab image or directory"
            .to_owned();
    }
    if has(|purpose| matches!(purpose, Purpose::SecondPath { .. })) {
        return "name a drive with only one path; if they are in fact two drives, detach the other"
            .to_owned();
    }
    if has(|purpose| matches!(purpose, Purpose::Unseen(_))) {
        return "run ssdlab in the machine's own PID and mount namespaces (in a container: \
                --pid=host, nsenter --target 1 --mount), and detach loop devices whose files are \
                on unmounted filesystems"
            .to_owned();
    }
    if has(|purpose| matches!(purpose, Purpose::Open(_) | Purpose::FileOpen(_))) {
        return "stop the program that holds it open if it is yours, or name an unused device"
            .to_owned();
    }
    "name an unused device".to_owned()
}

fn describe(signature: &Signature) -> String {
    let label = signature.label.as_ref().filter(|label| !label.is_empty());
    // The label is untrusted: it must not control the terminal.
    let label = label.map(|label| format!(" \"{}\"", label.escape_debug())).unwrap_or_default();
    format!("{} carries {}{label}", signature.device, signature.kind)
}

fn names_help(survey: &Survey) -> String {
    let mut names = survey.names.iter().filter(|name| !name.contains(char::is_control));
    match names.next() {
        Some(name) => format!(
            "if all data on {survey} may be destroyed, confirm with its name: --wipe '{}'",
            name.replace('\'', "'\\''")
        ),
        None if survey.is_partition => format!(
            "the partition {} has no name of its own in /dev/disk/by-id or by-partuuid; if its \
             data may be destroyed, erase it yourself with wipefs and blkdiscard --zeroout",
            survey.node.display()
        ),
        None => format!(
            "{} has no serial or by-id name that could prove which device is meant; if its data \
             may be destroyed, erase it yourself with wipefs and blkdiscard --zeroout",
            survey.node.display()
        ),
    }
}

fn list(reasons: &[String]) -> String {
    reasons.iter().fold(String::new(), |list, reason| list + "\n  - " + reason)
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, size_bytes, sequence } = self;
        write!(f, "{number} of {size_bytes} bytes")?;
        sequence.map_or(Ok(()), |sequence| write!(f, ", disk {sequence} since the machine booted"))
    }
}

impl fmt::Display for Survey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node.display())?;
        let size = Bytes(self.identity.size_bytes);
        match &self.model {
            Some(model) => write!(f, " ({model}, {size})"),
            None => write!(f, " ({size})"),
        }
    }
}

#[cfg(test)]
mod tests;
