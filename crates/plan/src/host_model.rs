//! The computers that the virtual lab can stand in for: what a system call costs them.
//!
//! A guest computes in no time; without these costs, deleting a tree that is in memory would take
//! microseconds, and every ratio to it would be nonsense. Which calls are of which kind, and what
//! is not charged at all, kernel/README.md says.

/// A computer, as the virtual lab knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostModel {
    /// The name in plans.
    pub name: &'static str,
    /// What it stands for, and where its costs come from.
    pub description: &'static str,
    /// A call that changes a name or an attribute (`open` with `O_CREAT`, `unlink`), in ns.
    pub metadata_ns: u64,
    /// A call that moves data, in ns.
    pub io_ns: u64,
    /// The same, for each KiB it moves, in ns.
    pub io_ns_per_kib: u64,
    /// Any other call, in ns.
    pub other_ns: u64,
    /// The memory of the guest in bytes; how much may be dirty follows from it.
    pub memory_bytes: u64,
}

/// Every host there is, in the order they are listed.
pub const HOSTS: [HostModel; 3] = [
    HostModel {
        name: "phenom-ii-x4-965",
        description: "AMD Phenom II X4 965 of 2009, fitted to the 1.21 s and 0.47 s in which \
                      founding post 1 unpacks and deletes 36,706 files",
        metadata_ns: 11_650,
        io_ns: 1_500,
        io_ns_per_kib: 600,
        other_ns: 300,
        memory_bytes: 3 << 30,
    },
    HostModel {
        name: "modern-2020s",
        description: "a virtual machine of the 2020s, fitted to the 1.04 s and 0.85 s of processor \
            time in which it unpacks and deletes the same tree in the image lab, to within about a \
            quarter each: one cost covers both creating and deleting",
        metadata_ns: 16_000,
        io_ns: 500,
        io_ns_per_kib: 100,
        other_ns: 200,
        memory_bytes: 4 << 30,
    },
    HostModel {
        name: "infinite",
        description: "computes in no time, so that only the drive and waiting in the kernel count",
        metadata_ns: 0,
        io_ns: 0,
        io_ns_per_kib: 0,
        other_ns: 0,
        memory_bytes: 4 << 30,
    },
];

/// Finds a host by its name in plans.
#[must_use]
pub fn find(name: &str) -> Option<&'static HostModel> {
    HOSTS.iter().find(|host| host.name == name)
}
