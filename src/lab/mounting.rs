//! Mounting with a treatment's options, and checking that the kernel took every one.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::mount::MountFlags;

use super::LabError;
use crate::filesystem::{Driver, Filesystem, Journal};
use crate::host::block_ioctl;
use crate::host::mounts::{self, Mount};
use crate::host::sysfs::BlockDevice;
use crate::plan::{Atime, Chosen, Discard, Setup};

/// Words of a free `mount` option that are flags of mount(2), not options of a filesystem.
const FLAGS: [(&str, MountFlags); 11] = [
    ("noatime", MountFlags::NOATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("lazytime", MountFlags::LAZYTIME),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("nodev", MountFlags::NODEV),
    ("nosuid", MountFlags::NOSUID),
    ("noexec", MountFlags::NOEXEC),
    ("silent", MountFlags::SILENT),
];

/// Mounts the device and returns what the kernel says about the mount.
pub(super) fn mount(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
) -> Result<BTreeMap<String, String>, LabError> {
    let (flags, data) = options(setup);
    let filesystem = made(setup);
    let kind = filesystem.name;
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
                    options => format!(" with the options `{options}`"),
                };
                let refusal = format!("{kind} refuses it{options} (the kernel log says why)");
                let cause = io::Error::new(io::ErrorKind::InvalidInput, refusal);
                LabError::step("mount", target)(cause)
            }
            errno => LabError::step("mount on", target)(errno.into()),
        }
    })?;
    let mount = mounts::at(target)
        .and_then(|mount| mount.ok_or_else(|| io::Error::other("it is not in the mount table")))
        .map_err(LabError::step("read back the mount on", target))?;
    let driver = driver_options(filesystem.driver, device);
    check(setup, &mount, &driver, Maker::Us)?;
    check_journal(setup, device)?;
    Ok(BTreeMap::from([
        ("mount_type".to_owned(), mount.kind),
        ("mount_options".to_owned(), mount.options.join(",")),
        ("driver_options".to_owned(), driver.join(",")),
    ]))
}

/// Whether a filesystem compresses, by its mount options or the properties of its pool, which are
/// listed also where they are off.
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

/// The flags and the filesystem's options a setup stands for.
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
    let is_default = |option: &&String| matches!(option.as_str(), "defaults" | "rw");
    for option in setup.mount.iter().filter(|option| !is_default(option)) {
        match FLAGS.iter().find(|(word, _)| word == option) {
            Some((_, flag)) => flags |= *flag,
            None => data.push(option.clone()),
        }
    }
    (flags, data)
}

/// Who mounted a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
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
    maker: Maker,
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
    if let Some(filesystem) = setup.filesystem
        && mount.kind != filesystem.name
    {
        return Err(LabError::Mismatch {
            what: "the filesystem".to_owned(),
            asked: filesystem.name.to_owned(),
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
    for Chosen { factor, setting, level } in &setup.settings {
        let is_as_asked = match level.mount {
            [] => !mount.options.iter().any(|option| setting.is_said_by(option)),
            asked => asked.iter().all(|option| shown(option)),
        };
        if !is_as_asked {
            return Err(mismatch(factor.name(), level.name));
        }
    }
    for option in &setup.mount {
        let positive = option.strip_prefix("no").filter(|rest| !rest.is_empty());
        // The kernel accepted it when we mounted, and lists no default that is off.
        let is_flag = FLAGS.iter().any(|(word, _)| word == option);
        let is_switched_off =
            maker == Maker::Us && !is_flag && positive.is_some_and(|word| !shown(word));
        let is_strict = option == "strictatime" && !shown("relatime") && !shown("noatime");
        let is_hidden = matches!(option.as_str(), "defaults" | "rw" | "silent");
        if !shown(option) && !is_switched_off && !is_strict && !is_hidden {
            return Err(mismatch(&format!("the mount option {option}"), option));
        }
    }
    Ok(())
}

/// A mounted ext filesystem with a journal has an entry in jbd2's folder.
fn check_journal(setup: &Setup, device: &BlockDevice) -> Result<(), LabError> {
    let filesystem = made(setup);
    if filesystem.driver != Driver::Ext4 {
        return Ok(());
    }
    let asked = match (filesystem.journal, setup.journal) {
        (Journal::Always, _) => true,
        (Journal::Never, _) => false,
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

/// Options in force that the mount table leaves out because they are defaults.
pub(super) fn driver_options(driver: Driver, device: &BlockDevice) -> Vec<String> {
    match driver {
        Driver::Ext4 => {
            let path = Path::new("/proc/fs/ext4").join(&device.name).join("options");
            let text = fs::read_to_string(path).unwrap_or_default();
            text.lines().map(str::to_owned).collect()
        }
        Driver::Other => Vec::new(),
    }
}

/// Drops what the block device's own cache holds. The filesystem's cache went with its
/// unmounting; other filesystems' caches are nobody's business here.
pub(super) fn drop_caches(device: &BlockDevice) -> Result<(), LabError> {
    File::open(&device.node)
        .and_then(|node| block_ioctl::drop_caches(&node))
        .map_err(LabError::step("drop the caches of", &device.node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Factor, Levels};

    #[test]
    fn what_compresses_says_so_in_its_options_or_properties() {
        let compresses = |what: &str, text: &str| {
            super::compresses(&BTreeMap::from([(what.to_owned(), text.to_owned())]))
        };
        assert!(compresses("mount_options", "rw,compress=zstd:3"));
        assert!(compresses("mount_options", "rw,compress-force=lzo"));
        assert!(compresses("properties", "atime=on,compression=on"));
        assert!(!compresses("properties", "atime=on,compression=off"));
        assert!(!compresses("mount_options", "rw,nocompress"));
        assert!(!compresses("driver_options", "compress=zstd"));
    }

    fn setup(pairs: &[(Factor, &str)]) -> Setup {
        let levels = pairs.iter().map(|(factor, level)| (*factor, (*level).to_owned()));
        Setup::new(&Levels(levels.collect())).unwrap()
    }

    fn mounted(kind: &str, options: &str) -> Mount {
        Mount {
            device: "7:0".to_owned(),
            target: "/mnt".into(),
            source: "/dev/loop0".into(),
            kind: kind.to_owned(),
            options: options.split(',').map(str::to_owned).collect(),
        }
    }

    #[test]
    fn a_setting_that_did_not_take_is_reported_with_both_values() {
        let asked = setup(&[(Factor::Atime, "noatime")]);
        let error = check(&asked, &mounted("ext4", "rw,relatime"), &[], Maker::Us).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("noatime") && message.contains("rw,relatime"), "{message}");
        assert!(check(&asked, &mounted("ext4", "rw,noatime"), &[], Maker::Us).is_ok());
    }

    #[test]
    fn discard_off_is_checked_too() {
        let off = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Discard, "off")]);
        assert!(check(&off, &mounted("btrfs", "rw,discard=async"), &[], Maker::Us).is_err());
        assert_eq!(options(&off).1, ["nodiscard"]);
        let on = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Discard, "on")]);
        assert!(check(&on, &mounted("btrfs", "rw,discard=async"), &[], Maker::Us).is_ok());
        let ext4 = setup(&[(Factor::Filesystem, "ext4"), (Factor::Discard, "off")]);
        assert!(
            check(&ext4, &mounted("ext4", "rw,relatime"), &["nodiscard".to_owned()], Maker::Us)
                .is_ok()
        );
    }

    #[test]
    fn compression_and_its_absence_are_read_back() {
        let of = |level| setup(&[(Factor::Filesystem, "btrfs"), (Factor::Compression, level)]);
        let table = |options| mounted("btrfs", options);
        assert_eq!(options(&of("zstd")).1, ["compress=zstd"]);
        assert!(check(&of("zstd"), &table("rw,compress=zstd:3"), &[], Maker::Us).is_ok());
        assert!(check(&of("zstd"), &table("rw,compress=lzo"), &[], Maker::Us).is_err());
        assert!(check(&of("off"), &table("rw,compress-force=lzo"), &[], Maker::Other).is_err());
        assert!(check(&of("off"), &table("rw"), &[], Maker::Us).is_ok());
        let bare = setup(&[(Factor::Filesystem, "btrfs"), (Factor::Checksums, "off")]);
        assert!(check(&bare, &table("rw,nodatasum"), &[], Maker::Us).is_ok());
        assert!(check(&bare, &table("rw"), &[], Maker::Us).is_err());
    }

    #[test]
    fn free_options_are_looked_for_where_the_kernel_lists_them() {
        let free = setup(&[(Factor::Mount, "commit=60,data=ordered,noauto_da_alloc,lazytime")]);
        let driver = ["commit=60".to_owned(), "data=ordered".to_owned()];
        let options = "rw,relatime,lazytime,noauto_da_alloc";
        assert!(check(&free, &mounted("ext4", options), &driver, Maker::Us).is_ok());
        assert!(check(&free, &mounted("ext4", options), &driver[..1], Maker::Us).is_err());
    }

    #[test]
    fn an_option_we_did_not_give_must_be_listed() {
        let asked = setup(&[(Factor::Mount, "nosuchthing")]);
        assert!(check(&asked, &mounted("ext4", "rw"), &[], Maker::Other).is_err());
        let flag = setup(&[(Factor::Mount, "noatime")]);
        assert!(check(&flag, &mounted("ext4", "rw,relatime"), &[], Maker::Us).is_err());
    }

    #[test]
    fn flags_of_mount_are_not_handed_to_the_filesystem() {
        let (flags, data) = options(&setup(&[(Factor::Mount, "nodiratime,commit=60")]));
        assert_eq!(flags, MountFlags::NODIRATIME);
        assert_eq!(data, ["commit=60"]);
    }

    #[test]
    fn another_filesystem_than_asked_for_is_a_mismatch() {
        let error =
            check(&setup(&[(Factor::Filesystem, "ext4")]), &mounted("ext3", "rw"), &[], Maker::Us)
                .unwrap_err();
        assert!(error.to_string().contains("ext3"));
    }
}
