//! Mounts with a treatment's options, and checks that all of them took effect.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::mount::MountFlags;
use ssdlab_filesystem::{EXT4, Filesystem, JournalSupport};
use ssdlab_host::block_ioctl;
use ssdlab_host::mounts::{self, FLAGS, Mount};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::{Atime, ChosenLevel, Discard, MOUNT_TYPE, Setup};

use super::LabError;

/// Words that mount(8) turns into the absence of a flag, so that nothing is asked for and nothing
/// is listed.
const DEFAULTS: [&str; 15] = [
    "async",
    "atime",
    "defaults",
    "dev",
    "diratime",
    "exec",
    "loud",
    "noiversion",
    "nolazytime",
    "nomand",
    "norelatime",
    "nostrictatime",
    "rw",
    "suid",
    "symfollow",
];

/// Mounts the device and returns what the kernel says about the mount.
pub(super) fn mount(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
) -> Result<BTreeMap<String, String>, LabError> {
    let (flags, data) = options(setup);
    let filesystem = made(setup);
    let kind = kind(setup, filesystem);
    let text = CString::new(data.join(",")).map_err(|_| LabError::Unavailable {
        reason: "a mount option contains a zero byte".to_owned(),
    })?;
    rustix::mount::mount(&device.node, target, kind, flags, text.as_c_str()).map_err(|errno| {
        match errno {
            rustix::io::Errno::NODEV => {
                LabError::Unavailable { reason: format!("this kernel has no {kind}") }
            }
            rustix::io::Errno::INVAL => {
                let options = match data.join(",") {
                    none if none.is_empty() => none,
                    options => {
                        format!(
                            " with the options `{options}`: is one misspelt, or of another {kind}?"
                        )
                    }
                };
                let refusal = format!("{kind} refused it{options} (the kernel log says why)");
                let cause = io::Error::new(io::ErrorKind::InvalidInput, refusal);
                LabError::step("mount", target)(cause)
            }
            errno => LabError::step("mount on", target)(errno.into()),
        }
    })?;
    let mount = mounts::at(target)
        .and_then(|mount| mount.ok_or_else(|| io::Error::other("it is not in the mount table")))
        .map_err(LabError::step("read back the mount on", target))?;
    let options = driver_options(filesystem, device);
    check(setup, &mount, &options, MountedBy::Us)?;
    let driver = driver_of(&mount, device);
    check_driver(setup, &driver)?;
    check_journal(setup, device)?;
    let own = [("driver", driver), ("driver_options", options.join(","))];
    let own = own.map(|(name, value)| (name.to_owned(), value));
    Ok(reported(&mount).into_iter().chain(own).collect())
}

/// What a record has of a mount as the kernel reports it.
pub(super) fn reported(mount: &Mount) -> [(String, String); 2] {
    [
        (MOUNT_TYPE.to_owned(), mount.kind.clone()),
        ("mount_options".to_owned(), mount.options.join(",")),
    ]
}

/// The type to ask mount(2) for.
fn kind(setup: &Setup, filesystem: &Filesystem) -> &'static str {
    setup.driver.map_or(filesystem.name, |driver| driver.kind)
}

/// The driver that serves a mount. A kernel may mount ext2 and ext3 with the driver of ext4, which
/// the mount table does not show; only that driver has an entry for the device in its folder.
fn driver_of(mount: &Mount, device: &BlockDevice) -> String {
    let of_ext4 = Path::new("/sys/fs/ext4").join(&device.name);
    if of_ext4.exists() { EXT4.to_owned() } else { mount.kind.clone() }
}

fn check_driver(setup: &Setup, found: &str) -> Result<(), LabError> {
    match setup.driver.filter(|asked| asked.name != found) {
        None => Ok(()),
        Some(asked) => Err(LabError::Unavailable {
            reason: format!(
                "this kernel has no driver {} of its own: {} is mounted by the one of {found}",
                asked.name,
                made(setup).name
            ),
        }),
    }
}

/// Whether a filesystem compresses, by its mount options or the properties of its pool, which are
/// listed even if off.
pub(super) fn compresses(applied: &BTreeMap<String, String>) -> bool {
    let texts = ["mount_options", "properties"].into_iter().filter_map(|what| applied.get(what));
    texts.flat_map(|text| text.split(',')).any(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, "on"));
        name.starts_with("compress") && !matches!(value, "off" | "none")
    })
}

/// The filesystem that was made: a schedule for a lab with a device always names one.
pub(super) fn made(setup: &Setup) -> &'static Filesystem {
    setup.filesystem.expect("a lab that makes a filesystem knows which")
}

/// The mount flags and the filesystem's options for a setup.
fn options(setup: &Setup) -> (MountFlags, Vec<String>) {
    let mut flags = match setup.atime {
        Some(Atime::Strict | Atime::Attribute) => MountFlags::STRICTATIME,
        Some(Atime::Relative) => MountFlags::RELATIME,
        Some(Atime::None) => MountFlags::NOATIME,
        None => MountFlags::empty(),
    };
    let mut data = Vec::new();
    match setup.discard {
        Some(Discard::On) => data.extend(made(setup).discard_on.map(str::to_owned)),
        Some(Discard::Off | Discard::Fstrim) => {
            data.extend(made(setup).discard_off.map(str::to_owned));
        }
        None => {}
    }
    data.extend(setup.mount_of_settings());
    for option in setup.mount.iter().filter(|option| !DEFAULTS.contains(&option.as_str())) {
        match FLAGS.iter().find(|(word, _)| word == option) {
            Some((_, flag)) => flags |= *flag,
            None => data.push(option.clone()),
        }
    }
    (flags, data)
}

/// Who mounted a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountedBy {
    /// This program, with the options asked for.
    Us,
    /// Somebody else.
    Other,
}

/// Checks the options of a mount against the treatment. `driver` holds what the filesystem's
/// driver lists beyond the mount table.
pub(super) fn check(
    setup: &Setup,
    mount: &Mount,
    driver: &[String],
    maker: MountedBy,
) -> Result<(), LabError> {
    let shown = |word: &str| {
        mount.options.iter().chain(driver).any(|option| {
            // Kernels add a detail to some: `discard=async`, `compress=zstd:3`.
            let detail = option.strip_prefix(word);
            detail.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '=']))
        })
    };
    let mismatch = |what: &str, asked: &str| LabError::Mismatch {
        what: what.to_owned(),
        asked: asked.to_owned(),
        found: mount.options.join(","),
    };
    if let Some(asked) = setup.filesystem.map(|filesystem| kind(setup, filesystem))
        && mount.kind != asked
    {
        return Err(LabError::Mismatch {
            what: "the filesystem".to_owned(),
            asked: asked.to_owned(),
            found: mount.kind.clone(),
        });
    }
    let atime = match setup.atime {
        Some(Atime::Strict | Atime::Attribute) => {
            (!shown("noatime") && !shown("relatime"), "strictatime")
        }
        Some(Atime::Relative) => (shown("relatime"), "relatime"),
        Some(Atime::None) => (shown("noatime"), "noatime"),
        None => (true, ""),
    };
    let discards = shown("discard");
    let discard = match setup.discard {
        Some(Discard::On) => (discards, "discard"),
        Some(Discard::Off | Discard::Fstrim) => (!discards, "no discard"),
        None => (true, ""),
    };
    for (what, (is_as_asked, asked)) in [("atime", atime), ("discard", discard)] {
        if !is_as_asked {
            return Err(mismatch(what, asked));
        }
    }
    for ChosenLevel { factor, setting, level } in &setup.settings {
        let is_as_asked = match level.mount {
            [] => !mount.options.iter().any(|option| setting.is_said_by(option)),
            asked => asked.iter().all(|option| shown(option)),
        };
        if !is_as_asked {
            return Err(mismatch(factor.name(), level.name));
        }
    }
    for option in setup.driver.into_iter().flat_map(|driver| driver.mount) {
        if !shown(option) {
            return Err(mismatch(&format!("the mount option {option}"), option));
        }
    }
    let listed: Vec<&str> = mount.options.iter().chain(driver).map(String::as_str).collect();
    // Its own words, where the kernel lists an option by another name or as a default.
    let filesystem = setup.filesystem.or_else(|| ssdlab_filesystem::find(&mount.kind));
    let is_in_force = |option: &str| match filesystem {
        Some(filesystem) => {
            filesystem.mount_options.lists(option, &listed)
                || (maker == MountedBy::Us
                    && filesystem.mount_options.may_leave_out(option, &listed))
        }
        None => shown(option),
    };
    for option in &setup.mount {
        let positive = option.strip_prefix("no").filter(|rest| !rest.is_empty());
        // The kernel accepted it when we mounted, and omits options that are off by default.
        let is_flag = FLAGS.iter().any(|(word, _)| word == option);
        let is_switched_off =
            maker == MountedBy::Us && !is_flag && positive.is_some_and(|word| !shown(word));
        let is_strict = option == "strictatime" && !shown("relatime") && !shown("noatime");
        let is_hidden = DEFAULTS.contains(&option.as_str()) || option == "silent";
        if !is_in_force(option) && !is_switched_off && !is_strict && !is_hidden {
            return Err(mismatch(&format!("the mount option {option}"), option));
        }
    }
    Ok(())
}

/// A mounted ext filesystem with a journal has an entry in jbd2's folder.
fn check_journal(setup: &Setup, device: &BlockDevice) -> Result<(), LabError> {
    let filesystem = made(setup);
    if filesystem.driver(EXT4).is_none() {
        return Ok(());
    }
    let asked = match (filesystem.journal, setup.journal) {
        (JournalSupport::Always, _) => true,
        (JournalSupport::Never, _) => false,
        (_, Some(journal)) => journal,
        (_, None) => return Ok(()),
    };
    let prefix = format!("{}-", device.name);
    let found = fs::read_dir("/proc/fs/jbd2").is_ok_and(|entries| {
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
    });
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    if asked == found {
        return Ok(());
    }
    Err(LabError::Mismatch {
        what: "the journal".to_owned(),
        asked: word(asked),
        found: word(found),
    })
}

/// Active options that the mount table omits because they are defaults.
pub(super) fn driver_options(filesystem: &Filesystem, device: &BlockDevice) -> Vec<String> {
    if filesystem.driver(EXT4).is_none() {
        return Vec::new();
    }
    let path = Path::new("/proc/fs/ext4").join(&device.name).join("options");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Drops the block device's own cache. The filesystem's cache ended with unmounting; other
/// filesystems' caches are left alone.
pub(super) fn drop_caches(device: &BlockDevice) -> Result<(), LabError> {
    File::open(&device.node)
        .and_then(|node| block_ioctl::drop_caches(&node))
        .map_err(LabError::step("drop the caches of", &device.node))
}

#[cfg(test)]
mod tests;
