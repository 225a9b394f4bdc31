//! Targets that carry data: every filesystem that can be made, other software's disk formats, and
//! unknown data.

use super::super::Needs;
use super::super::support::{Loop, sh};
use super::{Made, Target};

/// A disk on which a command has run.
macro_rules! made_by {
    ($name:literal, $tool:literal, $megabytes:literal, $script:expr, $message:literal) => {
        Target {
            name: concat!("unsafe_", $name),
            needs: Needs::RootAnd($tool),
            make: |place| {
                let disk = Loop::new(place, "disk", $megabytes);
                sh(&$script.replace("DISK", &disk.device));
                sh(&format!("sync {}", disk.device));
                Made::of(disk)
            },
            message: $message,
        }
    };
}

/// A disk with these bytes, in `printf` notation, at an offset.
macro_rules! magic {
    ($name:literal, $offset:literal, $bytes:literal, $message:literal) => {
        made_by!(
            $name,
            "dd",
            64,
            concat!(
                "printf '",
                $bytes,
                "' | dd of=DISK bs=1 seek=$((",
                $offset,
                ")) conv=notrunc,fsync status=none"
            ),
            $message
        )
    };
}

pub fn signatures() -> Vec<Target> {
    vec![
        made_by!("ext2", "mkfs.ext2", 64, "mkfs.ext2 -q DISK", "DISK carries ext2"),
        made_by!("ext3", "mkfs.ext3", 64, "mkfs.ext3 -q DISK", "DISK carries ext3"),
        made_by!("ext4", "mkfs.ext4", 64, "mkfs.ext4 -q DISK", "DISK carries ext4"),
        made_by!("xfs", "mkfs.xfs", 320, "mkfs.xfs -q DISK", "DISK carries xfs"),
        made_by!("btrfs", "mkfs.btrfs", 128, "mkfs.btrfs -q DISK", "DISK carries btrfs"),
        made_by!("f2fs", "mkfs.f2fs", 64, "mkfs.f2fs -q DISK", "DISK carries f2fs"),
        made_by!("jfs", "mkfs.jfs", 64, "mkfs.jfs -q DISK", "DISK carries jfs"),
        made_by!("nilfs2", "mkfs.nilfs2", 160, "mkfs.nilfs2 -q DISK", "DISK carries nilfs2"),
        made_by!("reiserfs", "mkfs.reiserfs", 64, "mkfs.reiserfs -q DISK", "DISK carries reiserfs"),
        made_by!("reiser4", "mkfs.reiser4", 64, "mkfs.reiser4 -y DISK", "DISK carries reiser4"),
        made_by!("vfat", "mkfs.vfat", 64, "mkfs.vfat DISK", "DISK carries vfat"),
        made_by!("exfat", "mkfs.exfat", 64, "mkfs.exfat DISK", "DISK carries exfat"),
        made_by!("ntfs", "mkfs.ntfs", 64, "mkfs.ntfs --quick DISK", "DISK carries ntfs"),
        made_by!("udf", "mkudffs", 64, "mkudffs DISK", "DISK carries udf"),
        made_by!("minix", "mkfs.minix", 64, "mkfs.minix DISK", "DISK carries minix"),
        made_by!("bfs", "mkfs.bfs", 64, "mkfs.bfs DISK", "DISK carries bfs"),
        made_by!(
            "squashfs",
            "mksquashfs",
            64,
            "mksquashfs /etc/fstab DISK -noappend -quiet -no-progress",
            "DISK carries squashfs"
        ),
        made_by!("swap_space", "mkswap", 64, "mkswap DISK 2>&1", "DISK carries swap"),
        made_by!(
            "partition_table_dos",
            "sfdisk",
            64,
            "printf 'size=40M\\n' | sfdisk --quiet --no-reread DISK",
            "DISK carries dos"
        ),
        made_by!(
            "partition_table_gpt",
            "sfdisk",
            64,
            "printf 'label: gpt\\n' | sfdisk --quiet --no-reread DISK",
            "DISK carries gpt"
        ),
        made_by!(
            "lvm",
            "pvcreate",
            64,
            "pvcreate --yes --config 'devices { use_devicesfile=0 }' DISK 2>&1",
            "DISK carries LVM2_member"
        ),
        made_by!(
            "bcache",
            "make-bcache",
            64,
            "make-bcache --bdev DISK 2>&1",
            "DISK carries bcache"
        ),
        magic!("luks", "0", "LUKS\\272\\276\\000\\002", "DISK carries crypto_LUKS"),
        // Metadata 1.2: version 1, at sector 8.
        made_by!(
            "md",
            "dd",
            64,
            "at() { dd of=DISK bs=1 seek=$1 conv=notrunc,fsync status=none; }
             printf '\\374\\116\\053\\251\\001' | at 4096; printf '\\010' | at $((4096 + 144))",
            "DISK carries linux_raid_member"
        ),
        magic!("iso9660", "32768", "\\001CD001\\001", "DISK carries iso9660"),
        magic!("ceph", "0", "bluestore block device\\n", "DISK carries ceph_bluestore"),
        magic!("dm_integrity", "0", "integrt\\000\\001", "DISK carries DM_integrity"),
        magic!("dm_snapshot", "0", "SnAp\\001", "DISK carries DM_snapshot_cow"),
        magic!("hibernated", "4086", "S1SUSPEND\\000", "DISK carries swsuspend"),
        magic!("vmfs", "0x100000", "\\015\\320\\001\\300", "DISK carries VMFS_volume_member"),
        magic!(
            "fake_raid",
            "64 * 1048576 - 1024",
            "Intel Raid ISM Cfg Sig. 1.3.00",
            "DISK carries isw_raid_member"
        ),
    ]
}

pub fn unknown_data() -> Vec<Target> {
    vec![
        made_by!(
            "plain_dm_crypt",
            "dd",
            64,
            "dd if=/dev/urandom of=DISK bs=1M count=64 conv=fsync status=none",
            "DISK carries data of an unknown kind at byte 0"
        ),
        made_by!(
            "ext4_without_its_partition_table",
            "mkfs.ext4",
            64,
            "mkfs.ext4 -q -E offset=1048576 DISK 60M",
            "DISK carries data of an unknown kind at byte 1048576"
        ),
        magic!("data_at_3_mib", "3 << 20", "x", "unknown kind at byte 3145728"),
        made_by!(
            "data_in_the_middle",
            "dd",
            1024,
            "dd if=/dev/urandom of=DISK bs=1M seek=512 count=1 conv=notrunc,fsync status=none",
            // Which place is looked at first depends on the device.
            "unknown kind at byte "
        ),
        magic!("data_3_mib_before_the_end", "61 << 20", "x", "unknown kind at byte 63963136"),
        magic!("data_in_the_last_byte", "(64 << 20) - 1", "x", "unknown kind at byte 67104768"),
    ]
}
