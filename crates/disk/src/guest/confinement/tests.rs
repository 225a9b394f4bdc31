//! The checks run between fork and exec of a program that is never started: what they find is the
//! error with which its start fails.

use std::ffi::{CString, OsStr};
use std::fs;
use std::net::{SocketAddr, SocketAddrV4, TcpListener};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, fcntl_getfd};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustix::process::{getpid, getrlimit, getuid, test_kill_process};
use rustix::thread::no_new_privs;
use tempfile::TempDir;

use super::*;

/// A guest's files, beside one that is not its own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["root", "sockets"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["kernel", "root/init", "others"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: impl AsRef<OsStr>) -> CString {
        CString::new(self.folder.path().join(name.as_ref()).as_os_str().as_bytes()).unwrap()
    }

    /// The error that a check finds in a confined process.
    fn finds(&self, mut check: impl FnMut() -> Result<(), Errno> + Send + Sync + 'static) -> Errno {
        let [kernel, root, sockets] =
            ["kernel", "root", "sockets"].map(|name| self.folder.path().join(name));
        let needs = GuestFiles {
            kernel: &kernel,
            root: &root,
            sockets: &sockets,
            memory: tempfile::tempfile().unwrap(),
        };
        let mut confinement = Confinement::new(needs).unwrap();
        let mut command = Command::new("/nowhere");
        // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                confinement.enter()?;
                Ok(check()?)
            });
        }
        Errno::from_io_error(&command.spawn().unwrap_err()).unwrap()
    }

    fn opens(&self, name: &str, flags: OFlags) -> Errno {
        let path = self.path(name);
        self.finds(move || open(&path, flags, Mode::RUSR | Mode::WUSR).map(drop))
    }
}

/// What a check finds that finds nothing: the program could not be started anyway.
const NOTHING: [Errno; 2] = [Errno::ACCESS, Errno::NOENT];

#[test]
fn a_confined_process_reads_its_root_and_no_other_file() {
    assert!(is_confined(), "this machine's kernel has no Landlock, which the test needs");
    let place = Place::new();
    let read = OFlags::RDONLY;
    let fine = place.path("root/init");
    let found = place
        .finds(move || open(&fine, read, Mode::empty()).map_err(|_| Errno::CANCELED).map(drop));
    assert!(NOTHING.contains(&found), "{found:?}");
    for name in ["others", "/etc/passwd", "/proc/self/status", "root/../others", "sockets"] {
        let path = place.path(name);
        let found = place.finds(move || match open(&path, read, Mode::empty()) {
            Ok(_) => Err(Errno::CANCELED),
            Err(error) => Err(error),
        });
        assert_eq!(found, Errno::ACCESS, "{name}");
    }
}

#[test]
fn a_confined_process_writes_no_file() {
    assert!(is_confined(), "this machine's kernel has no Landlock, which the test needs");
    let place = Place::new();
    for name in ["root/init", "kernel", "others"] {
        assert_eq!(place.opens(name, OFlags::WRONLY), Errno::ACCESS, "{name}");
    }
    for name in ["root/new", "sockets/new", "new"] {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        assert_eq!(place.opens(name, flags), Errno::ACCESS, "{name}");
        assert!(!place.folder.path().join(name).exists(), "{name}");
    }
}

#[test]
fn a_confined_process_has_no_privileges_and_gains_none() {
    let found = Place::new().finds(|| {
        let has = capabilities(None)?;
        let is_bare = KEPT.contains(has.permitted | has.effective) && has.inheritable.is_empty();
        // Or root would gain them again, and lose its fixed addresses.
        let gains = capability_is_in_bounding_set(CapabilitySet::SYS_ADMIN)?;
        let is_bare = is_bare && !(gains && getuid().is_root());
        let core = getrlimit(Resource::Core);
        let is_fine = is_bare && no_new_privs()? && core.maximum == Some(0);
        if is_fine { Ok(()) } else { Err(Errno::CANCELED) }
    });
    assert!(NOTHING.contains(&found), "{found:?}");
}

#[test]
fn a_confined_process_connects_to_no_tcp_port_and_takes_none() {
    let needed = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessNet::from_all(ABI::V4));
    assert!(needed.is_ok(), "this machine's kernel is older than Linux 6.7, which the test needs");
    // Without Landlock the connection is made.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let SocketAddr::V4(address) = server.local_addr().unwrap() else { panic!("it is of IPv4") };
    let free = SocketAddrV4::new(*address.ip(), 0);
    let tcp = || socket(AddressFamily::INET, SocketType::STREAM, None);
    let place = Place::new();
    let connects = place.finds(move || {
        let refused = connect(&tcp()?, &address).err();
        Err(refused.unwrap_or(Errno::CANCELED))
    });
    assert_eq!(connects, Errno::ACCESS);
    let binds = place.finds(move || {
        let refused = bind(&tcp()?, &free).err();
        Err(refused.unwrap_or(Errno::CANCELED))
    });
    assert_eq!(binds, Errno::ACCESS);
}

#[test]
fn a_confined_process_signals_no_other() {
    let needed =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal);
    assert!(needed.is_ok(), "this machine's kernel is older than Linux 6.12, which the test needs");
    // This process, of the same user, may be signalled without Landlock.
    let test = getpid();
    let found = Place::new().finds(move || {
        let refused = test_kill_process(test).err();
        Err(refused.unwrap_or(Errno::CANCELED))
    });
    assert_eq!(found, Errno::PERM);
}

#[test]
fn a_confined_process_inherits_the_memory() {
    let place = Place::new();
    let memory = tempfile::tempfile().unwrap();
    let number = memory.try_clone().unwrap();
    let needs = GuestFiles {
        kernel: place.folder.path(),
        root: place.folder.path(),
        sockets: place.folder.path(),
        memory,
    };
    let mut confinement = Confinement::new(needs).unwrap();
    assert!(fcntl_getfd(&number).unwrap().contains(FdFlags::CLOEXEC));
    let mut command = Command::new("/nowhere");
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            confinement.enter()?;
            let is_inherited = !fcntl_getfd(&confinement.memory)?.contains(FdFlags::CLOEXEC);
            if is_inherited { Ok(()) } else { Err(Errno::CANCELED.into()) }
        });
    }
    let found = Errno::from_io_error(&command.spawn().unwrap_err()).unwrap();
    assert!(NOTHING.contains(&found), "{found:?}");
}
