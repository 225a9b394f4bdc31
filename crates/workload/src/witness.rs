//! Follows the calls by which programs change the files of the directory under test, and makes the
//! syncs for them that a plan asks for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{OFlags, open};
use ssdlab_host::program::CallWatcher;
use ssdlab_host::ptrace::{WatchedCall, opened};
use ssdlab_operations::calls::{CallEffect, FileCall, ProgramActivity, Unsynced};
use ssdlab_plan::SyncRemedy;

use super::history::TrialReporter;

/// The standard output of a program.
const STDOUT: i32 = 1;

/// Flags of a file that is written durably (open(2)): `O_DSYNC`, and with it `O_SYNC`.
const DURABLE: u32 = 0o10000;

/// Hears the calls of programs.
pub(super) struct Witness<'a> {
    /// Where the directory under test is mounted.
    tested: &'a Path,
    teller: &'a TrialReporter,
    remedy: Option<SyncRemedy>,
    /// What no sync has made durable so far.
    unsynced: Unsynced,
    /// What threads are about to do, as far as it is known before.
    begun: BTreeMap<i32, CallEffect>,
    /// Files of the system that threads are about to open.
    opening: BTreeMap<i32, String>,
    /// What the programs have done so far.
    pub activity: ProgramActivity,
}

impl<'a> Witness<'a> {
    pub fn new(tested: &'a Path, teller: &'a TrialReporter, remedy: Option<SyncRemedy>) -> Self {
        Self {
            tested,
            teller,
            remedy,
            unsynced: Unsynced::default(),
            begun: BTreeMap::new(),
            opening: BTreeMap::new(),
            activity: ProgramActivity::default(),
        }
    }

    /// The name below the directory under test that a path in the guest has.
    fn name(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(self.tested).ok()?;
        let name = below.to_str()?.trim_end_matches(" (deleted)");
        Some(if name.is_empty() { ".".to_owned() } else { name.to_owned() })
    }

    /// The file or directory of a descriptor, if it is under test.
    fn of_descriptor(&self, call: &WatchedCall, argument: usize) -> Option<String> {
        self.name(&opened(call, call.descriptor(argument))?)
    }

    /// The name that a path in a call means, if it is under test; `at` is the argument with the
    /// folder that it starts from.
    fn of_path(&self, call: &WatchedCall, at: Option<usize>, argument: usize) -> Option<String> {
        self.name(&path_of(call, at, argument)?)
    }

    /// The path in the system of one in the guest.
    fn in_system(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(self.tested.parent()?).ok()?;
        Some(format!("/{}", name.to_str()?))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.tested.join(name)
    }

    /// What a call is going to do to names, given the path that it is going to open.
    fn names(&self, call: &WatchedCall, opens: Option<&Path>) -> Option<CallEffect> {
        let renamed = |at: [Option<usize>; 2], names: [usize; 2]| {
            let to = self.of_path(call, at[1], names[1])?;
            let path = self.of_path(call, at[0], names[0]);
            let to = Some(to);
            Some(match path {
                Some(path) => CallEffect::Names { path, to },
                None => CallEffect::Names { path: to?, to: None },
            })
        };
        let one =
            |at, name| Some(CallEffect::Names { path: self.of_path(call, at, name)?, to: None });
        let makes = |flags: u64| {
            let path = self.name(opens?)?;
            let has = |flag: i32| flags & u64::from(flag.unsigned_abs()) != 0;
            match fs::symlink_metadata(self.place(&path)) {
                Err(_) if has(libc::O_CREAT) => Some(CallEffect::Names { path, to: None }),
                Ok(file) if has(libc::O_TRUNC) && file.len() > 0 => {
                    Some(CallEffect::Truncate { path, length_bytes: 0 })
                }
                _ => None,
            }
        };
        let arguments = &call.arguments;
        match call.number {
            libc::SYS_rename | libc::SYS_link => renamed([None, None], [0, 1]),
            libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => {
                renamed([Some(0), Some(2)], [1, 3])
            }
            libc::SYS_unlink | libc::SYS_rmdir | libc::SYS_mkdir => one(None, 0),
            libc::SYS_symlink => one(None, 1),
            libc::SYS_unlinkat | libc::SYS_mkdirat => one(Some(0), 1),
            libc::SYS_symlinkat => one(Some(1), 2),
            libc::SYS_creat => makes((libc::O_CREAT | libc::O_TRUNC) as u64),
            libc::SYS_open => makes(arguments[1]),
            libc::SYS_openat => makes(arguments[2]),
            _ => None,
        }
    }

    /// What a call has done to the contents of a file, given what it returned.
    fn contents(&mut self, call: &WatchedCall, result: i64) -> Option<CallEffect> {
        let length_bytes = u64::try_from(result).unwrap_or(0);
        match call.number {
            libc::SYS_write | libc::SYS_writev | libc::SYS_sendfile => {
                self.written(call, 0, None, length_bytes)
            }
            libc::SYS_pwrite64 | libc::SYS_pwritev | libc::SYS_pwritev2 => {
                self.written(call, 0, Some(call.arguments[3]), length_bytes)
            }
            libc::SYS_copy_file_range | libc::SYS_splice => {
                self.written(call, 2, None, length_bytes)
            }
            libc::SYS_fallocate => {
                let at = call.arguments[2];
                self.written(call, 0, Some(at), call.arguments[3])
            }
            libc::SYS_ftruncate => {
                let path = self.of_descriptor(call, 0)?;
                Some(CallEffect::Truncate { path, length_bytes: call.arguments[1] })
            }
            libc::SYS_truncate => {
                let path = self.of_path(call, None, 0)?;
                Some(CallEffect::Truncate { path, length_bytes: call.arguments[1] })
            }
            libc::SYS_fsync | libc::SYS_fdatasync => {
                Some(CallEffect::Sync { path: self.of_descriptor(call, 0)? })
            }
            libc::SYS_sync => Some(CallEffect::SyncAll),
            libc::SYS_syncfs => self.of_descriptor(call, 0).map(|_| CallEffect::SyncAll),
            _ => None,
        }
    }

    fn written(
        &self,
        call: &WatchedCall,
        argument: usize,
        at: Option<u64>,
        length_bytes: u64,
    ) -> Option<CallEffect> {
        let path = self.of_descriptor(call, argument)?;
        let descriptor = call.descriptor(argument);
        let told = fs::read_to_string(call.of_process(&format!("fdinfo/{descriptor}"))).ok()?;
        let field = |name: &str| told.lines().find_map(|line| line.strip_prefix(name));
        let flags = field("flags:").and_then(|text| u32::from_str_radix(text.trim(), 8).ok());
        let position: u64 = field("pos:")?.trim().parse().ok()?;
        let offset_bytes = at.unwrap_or(position.saturating_sub(length_bytes));
        let durable = flags.is_some_and(|flags| flags & DURABLE != 0);
        Some(CallEffect::Write { path, offset_bytes, length_bytes, durable })
    }

    /// Tells of a call, and counts with it from now on.
    fn tell(&mut self, call: FileCall) {
        self.unsynced.add(&call);
        self.teller.call(call);
    }

    /// Syncs a file or a directory in the program's stead.
    fn sync(&mut self, name: &str) {
        let file =
            open(self.place(name), OFlags::RDONLY | OFlags::CLOEXEC, rustix::fs::Mode::empty());
        let Ok(file) = file else { return };
        if File::from(file).sync_all().is_ok() {
            let effect = CallEffect::Sync { path: name.to_owned() };
            self.tell(FileCall { name: "remedy".to_owned(), effect, error: None });
        }
    }

    fn sync_files(&mut self, but: Option<&str>) {
        let files: Vec<String> = self.unsynced.files.keys().cloned().collect();
        for file in files.iter().filter(|file| Some(file.as_str()) != but) {
            self.sync(file);
        }
        if but.is_none() {
            self.sync_directories();
        }
    }

    fn sync_directories(&mut self) {
        let changed = self.unsynced.names.iter().flat_map(FileCall::directories);
        let changed: BTreeSet<String> = changed.map(str::to_owned).collect();
        for directory in changed {
            self.sync(&directory);
        }
    }

    /// Makes the syncs that are asked for before a call.
    fn heal_before(&mut self, call: &WatchedCall) {
        let is_line = matches!(call.number, libc::SYS_write | libc::SYS_writev)
            && call.descriptor(0) == STDOUT
            && self.of_descriptor(call, 0).is_none();
        let renamed = match self.begun.get(&call.process) {
            Some(CallEffect::Names { path, to: Some(_) }) => Some(path.clone()),
            _ => None,
        };
        match (self.remedy, renamed) {
            (Some(SyncRemedy::FilesBeforeLine), _) if is_line => self.sync_files(None),
            (Some(SyncRemedy::FileBeforeRename), Some(renamed)) => self.sync(&renamed),
            (Some(SyncRemedy::OthersBeforeSync), Some(renamed)) => self.sync_files(Some(&renamed)),
            (Some(SyncRemedy::OthersBeforeSync), None)
                if matches!(call.number, libc::SYS_fsync | libc::SYS_fdatasync) =>
            {
                let own = self.of_descriptor(call, 0).unwrap_or_default();
                self.sync_files(Some(&own));
            }
            _ => {}
        }
    }
}

impl CallWatcher for Witness<'_> {
    fn enters(&mut self, call: &WatchedCall) {
        let opens = match call.number {
            libc::SYS_creat | libc::SYS_open => path_of(call, None, 0),
            libc::SYS_openat => path_of(call, Some(0), 1),
            _ => None,
        };
        if let Some(effect) = self.names(call, opens.as_deref()) {
            self.begun.insert(call.process, effect);
        }
        if let Some(path) = opens.and_then(|path| self.in_system(&path)) {
            self.opening.insert(call.process, path);
        }
        if self.remedy.is_some() {
            self.heal_before(call);
        }
    }

    fn leaves(&mut self, call: &WatchedCall, result: i64) {
        let begun = self.begun.remove(&call.process);
        if let Some(opened) = self.opening.remove(&call.process).filter(|_| result >= 0) {
            self.activity.open(&opened);
        }
        let Some(effect) = begun.or_else(|| self.contents(call, result)) else { return };
        let error = i32::try_from(-result).ok().filter(|error| *error > 0);
        let is_sync = matches!(effect, CallEffect::Sync { .. } | CallEffect::SyncAll);
        // What failed and promised nothing changed nothing.
        if error.is_some() && !is_sync {
            return;
        }
        let changes_names = matches!(effect, CallEffect::Names { .. });
        let call = FileCall { name: call_name(call.number).to_owned(), effect, error };
        self.activity.add(&call);
        self.tell(call);
        if changes_names && self.remedy == Some(SyncRemedy::DirectoryAfterChange) {
            self.sync_directories();
        }
    }

    fn said(&mut self, line: &str) {
        self.teller.say(line);
    }
}

/// The path in the guest that one in a call means.
fn path_of(call: &WatchedCall, at: Option<usize>, argument: usize) -> Option<PathBuf> {
    let text = call.text(argument).ok()?;
    let path = Path::new(text.to_str().ok()?);
    let base = match at.map(|at| call.descriptor(at)) {
        _ if path.is_absolute() => fs::read_link(call.of_process("root")).ok()?,
        None | Some(libc::AT_FDCWD) => fs::read_link(call.of_process("cwd")).ok()?,
        Some(descriptor) => opened(call, descriptor)?,
    };
    let mut plain = base;
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::Normal(name) => plain.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Some(plain)
}

/// The name of a call that changes or syncs files.
const fn call_name(number: i64) -> &'static str {
    match number {
        libc::SYS_write => "write",
        libc::SYS_writev => "writev",
        libc::SYS_pwrite64 => "pwrite64",
        libc::SYS_pwritev | libc::SYS_pwritev2 => "pwritev",
        libc::SYS_sendfile => "sendfile",
        libc::SYS_copy_file_range => "copy_file_range",
        libc::SYS_splice => "splice",
        libc::SYS_fallocate => "fallocate",
        libc::SYS_ftruncate => "ftruncate",
        libc::SYS_truncate => "truncate",
        libc::SYS_fsync => "fsync",
        libc::SYS_fdatasync => "fdatasync",
        libc::SYS_sync => "sync",
        libc::SYS_syncfs => "syncfs",
        libc::SYS_rename | libc::SYS_renameat | libc::SYS_renameat2 => "rename",
        libc::SYS_link | libc::SYS_linkat => "link",
        libc::SYS_unlink | libc::SYS_unlinkat => "unlink",
        libc::SYS_rmdir => "rmdir",
        libc::SYS_mkdir | libc::SYS_mkdirat => "mkdir",
        libc::SYS_symlink | libc::SYS_symlinkat => "symlink",
        libc::SYS_creat | libc::SYS_open | libc::SYS_openat => "open",
        _ => "call",
    }
}
