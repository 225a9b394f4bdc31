//! The running machine: thin calls into the kernel and its tables, without policy but for
//! `measurement_lock`, the lock by which all measurements on it take turns.
//!
//! Rooms that change the machine (lab) and rooms that read it (doctor, workload) share these, so
//! that each fact about the kernel's interfaces is written once.

pub mod base_folder;
pub mod block_ioctl;
pub mod bounded;
pub mod btrfs;
pub mod cgroup_io;
pub mod cgroup_name;
pub mod drive_identity;
pub mod extents;
pub mod file_handle;
pub mod file_id;
pub mod files;
pub mod interrupt;
pub mod kernel;
pub mod lock;
pub mod loop_device;
pub mod machine;
pub mod measurement_lock;
pub mod memory;
pub mod meter;
pub mod missing;
pub mod mounts;
pub mod name_watch;
pub mod open_files;
pub mod process_io;
pub mod processes;
pub mod program;
pub mod ptrace;
pub mod regular_file;
pub mod remount;
pub mod sysfs;
pub mod task_table;
pub mod thread;
pub mod toolbox;
pub mod tracefs;
pub mod trust;
pub mod undo;
pub mod wear;
pub mod whole_disk;
pub mod whole_file;
