//! ZFS: a copy-on-write pool with checksums of everything and its own cache; served by zfs-fuse if
//! the kernel has no `OpenZFS`.
//!
//! sync(2) commits nothing under zfs-fuse 0.7.0: of 50 MB written before it, 2 MB were on the
//! device after it. Setting any property, even to its current value, waits for the transaction
//! group with all earlier writes; after that the device had counted all of them, and nothing more
//! until the pool was exported. zfs-fuse sends no discards, and has neither `relatime` nor mount
//! options.
//!
//! Sources: zpool(8), zfs(8), zdb(8), zfs-fuse(8) of zfs-fuse 0.7.0, pool version 23. `OpenZFS`
//! takes the same commands, but no test tries that.

use super::facts::{OFFSETS, feature, limit};
use super::{
    Facts, Filesystem, JournalSupport, MkfsCall, MountOptions, Pool, PoolDaemon, Setting,
    SettingLevel, SnapshotSupport,
};

const SOURCE: &str = "observed with zfs-fuse 0.7.0";

/// The algorithms cover data and metadata; `off` affects only data.
const CHECKSUMS: Setting = Setting {
    levels: &[
        SettingLevel::made("on", &["-Ochecksum=on"], 0),
        SettingLevel::made("off", &["-Ochecksum=off"], 0),
        SettingLevel::made("fletcher2", &["-Ochecksum=fletcher2"], 0),
        SettingLevel::made("fletcher4", &["-Ochecksum=fletcher4"], 0),
        SettingLevel::made("sha256", &["-Ochecksum=sha256"], 0),
    ],
    words: &["checksum"],
    superblock: None,
};

const COMPRESSION: Setting = Setting {
    levels: &[
        SettingLevel::made("on", &["-Ocompression=on"], 0),
        SettingLevel::made("off", &["-Ocompression=off"], 0),
        SettingLevel::made("lzjb", &["-Ocompression=lzjb"], 0),
        SettingLevel::made("gzip", &["-Ocompression=gzip"], 0),
        SettingLevel::made("zle", &["-Ocompression=zle"], 0),
    ],
    words: &["compression"],
    superblock: None,
};

pub(super) const FILESYSTEM: Filesystem = Filesystem {
    name: "zfs",
    mkfs: "zpool",
    package: "zfs-fuse",
    // Each includes the property, so that a plan cannot set one that would mount the pool
    // elsewhere, share it, or keep it in the machine's list of pools.
    mkfs_options: &[
        "-oashift=",
        "-oversion=",
        "-Ochecksum=",
        "-Ocompression=",
        "-Ocopies=",
        "-Odedup=",
        "-Ologbias=",
        "-Oprimarycache=",
        "-Orecordsize=",
    ],
    mount_options: MountOptions::UNKNOWN,
    pool: Some(&Pool {
        // The package's /etc/zfs/zfsrc sets these, but a guest does not have it. Nothing is mounted
        // for statistics.
        daemon: PoolDaemon {
            call: MkfsCall {
                program: "zfs-fuse",
                arguments: &[
                    "--no-daemon",
                    "--no-kstat-mount",
                    "--max-arc-size=100",
                    "--vdev-cache-size=10",
                    "--zfs-prefetch-disable",
                    "--fuse-attr-timeout=3600",
                    "--fuse-entry-timeout=3600",
                    "--fuse-mount-options=default_permissions",
                ],
            },
            folders: &["/var/run/zfs", "/var/lock/zfs"],
            socket: "/var/run/zfs/zfs_socket",
            own_pools: "/var/lib/zfs/zpool.cache",
        },
        import: MkfsCall {
            program: "zpool",
            arguments: &["import", "-d", ".", "-o", "cachefile=none"],
        },
        export: MkfsCall { program: "zpool", arguments: &["export"] },
        commit: MkfsCall { program: "zfs", arguments: &["set", "ssdlab:commit=now"] },
        properties: MkfsCall {
            program: "zfs",
            arguments: &["get", "-H", "-o", "property,value", "version,atime,checksum,compression"],
        },
        property_option: "-O",
        kinds: ["fuse.zfs", "zfs"],
    }),
    journal: JournalSupport::NotApplicable,
    checksums: CHECKSUMS,
    compression: COMPRESSION,
    drivers: &[],
    discard_on: None,
    discard_off: None,
    postponed: None,
    // FUSE has no direct writes unless its server enables them.
    writes_directly: false,
    // zpool(8): a device of at least 64 MiB.
    smallest_bytes: 64 << 20,
    made_bytes: Some(|_| 11_000_000),
    // -cc: checks data, too. It reads the pool without importing it.
    check: Some(MkfsCall { program: "zdb", arguments: &["-e", "-p", ".", "-cc"] }),
    replay: None,
    format: |format| {
        let mut arguments = ["create", "-o", "cachefile=none"].map(str::to_owned).to_vec();
        if let Some(atime) = format.atime {
            arguments.push(if atime { "-Oatime=on" } else { "-Oatime=off" }.to_owned());
        }
        arguments.extend(format.extra.iter().cloned());
        let own = ["-m", &format.mounted_at, &format.pool].map(str::to_owned);
        arguments.into_iter().chain(own).collect()
    },
    layout: None,
    snapshot: Some(SnapshotSupport::Pool(MkfsCall { program: "zfs", arguments: &["snapshot"] })),
    facts: Facts {
        longest_name: limit(255, SOURCE),
        largest_file: limit(OFFSETS, SOURCE),
        has_holes: true,
        largest_volume: limit(u128::MAX, "On-Disk Specification of ZFS, Sun Microsystems 2006"),
        checksums: feature("of data and metadata", "zfs(8) of zfs-fuse 0.7.0"),
        snapshots: feature("read-only; clones", "zfs(8) of zfs-fuse 0.7.0"),
        devices: feature("mirroring, striping, RAID-Z", "zpool(8) of zfs-fuse 0.7.0"),
        compression: feature("lzjb, gzip, zle", "zfs(8) of zfs-fuse 0.7.0"),
        journal: feature("no: copy-on-write, with an fsync log", "zpool(8) of zfs-fuse 0.7.0"),
        discard: feature("no", SOURCE),
        reflink: feature("no", SOURCE),
        encryption: feature("no", "zfs(8) of zfs-fuse 0.7.0"),
    },
};
