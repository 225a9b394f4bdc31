//! Defines the state of a followed program, and dispatches calls.
//!
//! An operation must be valid in the state left by those before it; otherwise it is counted as
//! omitted, so that a log can always be replayed.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use memchr::memmem;

use super::call::{ShownDescriptor, SystemCall, has};
use super::process::{Descriptors, OpenFileDescription, ProcessContext, TracedProcess};
use crate::{LeftOut, Omission, Operation, RelativePath, Tree};

/// The maximum number of symbolic links followed in a path (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// Calls that change nothing in a directory, and read nothing that is not cached, or only advise.
const WITHOUT_EFFECT: [&str; 29] = [
    "epoll_ctl",
    "epoll_ctl_old",
    "fadvise64",
    "fadvise64_64",
    "fgetxattr",
    "flistxattr",
    "flock",
    "fstat",
    "fstat64",
    "fstatfs",
    "fstatfs64",
    "getcwd",
    "getxattr",
    "inotify_add_watch",
    "lgetxattr",
    "listxattr",
    "llistxattr",
    "name_to_handle_at",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "pselect6",
    "readahead",
    "select",
    "_newselect",
    "statfs",
    "statfs64",
    "oldfstat",
];

/// Where and how a recorded program was started.
#[derive(Debug, Clone, Copy)]
pub struct ProgramStart<'a> {
    /// The recorded directory: an absolute path without symbolic links, in which it was started.
    pub directory: &'a [u8],
    /// The umask it was started with.
    pub umask: u32,
}

/// A followed program.
#[derive(Debug)]
pub struct StraceSession {
    pub tree: Tree,
    pub left_out: LeftOut,
    processes: BTreeMap<u64, TracedProcess>,
    has_begun: bool,
    /// Where and how the first process was started.
    start: ProcessContext,
    /// The names along the path of the recorded directory.
    names: Vec<Vec<u8>>,
    /// The path of the recorded directory as strace prints it.
    shown: Vec<u8>,
    /// The operations; the last may still be merged with the next.
    operations: VecDeque<Operation>,
}

impl StraceSession {
    pub fn new(setting: ProgramStart<'_>, before: Tree) -> Self {
        let names: Vec<_> = names(setting.directory).map(<[u8]>::to_vec).collect();
        let path = names.iter().flat_map(|name| [b"/", name.as_slice()].concat());
        let shown = path.flat_map(|byte| format!("\\x{byte:02x}").into_bytes()).collect();
        let start = ProcessContext { directory: setting.directory.to_vec(), umask: setting.umask };
        Self {
            tree: before,
            left_out: LeftOut::default(),
            processes: BTreeMap::new(),
            has_begun: false,
            start,
            names,
            shown,
            operations: VecDeque::new(),
        }
    }

    /// The next operation that cannot be merged any more.
    pub fn take(&mut self, at_end: bool) -> Option<Operation> {
        if self.operations.len() > 1 || at_end { self.operations.pop_front() } else { None }
    }

    /// Whether any process was ever followed.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub fn knows(&self, process: u64) -> bool {
        self.processes.contains_key(&process)
    }

    /// Assumes that a process has nothing in the directory open.
    pub fn start(&mut self, process: u64) {
        self.has_begun = true;
        self.processes.insert(process, TracedProcess::new(self.start.clone()));
    }

    pub fn exit(&mut self, process: u64) {
        if let Some(process) = self.processes.remove(&process)
            && let Some(descriptors) = Rc::into_inner(process.descriptors)
        {
            for (_, descriptor) in descriptors.into_inner() {
                self.release(descriptor.description);
            }
        }
    }

    /// A thread has executed a program, which ends its process, and continues under its number.
    pub fn supersede(&mut self, process: u64, thread: u64) {
        if let Some(state) = self.processes.remove(&thread) {
            self.exit(process);
            self.processes.insert(process, state);
        }
    }

    /// Applies a call; returns the child if it created one.
    pub fn call(&mut self, process: u64, text: &[u8]) -> Option<u64> {
        let caller = self.processes.get(&process)?.clone();
        let call = SystemCall::parse(text);
        let Some((call, result)) = call.as_ref().and_then(|call| Some((call, call.result()?)))
        else {
            // Failed calls are ignored.
            if call.is_none() {
                self.unknown(text);
            }
            return None;
        };
        if let Some(ShownDescriptor { number: None, path: Some(directory) }) = call.descriptor(0) {
            // It is the working directory, with links outside resolved.
            caller.place.borrow_mut().directory = directory;
        }
        match call.name {
            "clone" | "clone2" | "clone3" | "fork" | "vfork" => {
                let flags = call.field("flags").unwrap_or_default();
                let child = caller.child(has(flags, "CLONE_FILES"), has(flags, "CLONE_FS"));
                self.processes.insert(result, child);
                return Some(result);
            }
            "execve" => {
                let is_inside = self.at(&caller, call, None, 0, true).is_some();
                self.execute(process, caller, is_inside);
            }
            "execveat" => {
                let is_inside = self.at(&caller, call, Some(0), 1, true).is_some();
                self.execute(process, caller, is_inside);
            }
            "umask" => caller.place.borrow_mut().umask = mask(call),
            "chdir" => self.change_directory(&caller, call),
            "fchdir" => {
                if let Some(path) = call.descriptor(0).and_then(|shown| shown.path) {
                    caller.place.borrow_mut().directory = path;
                }
            }
            "io_uring_enter" | "io_submit" => self.left_out.add(Omission::AsynchronousIo, 1),
            "ioctl" if is_query(call.argument(1)) => {}
            name if WITHOUT_EFFECT.contains(&name) => {}
            _ => {
                let is_known = self.name_call(&caller, call)
                    || self.file_call(&caller, call)
                    || self.transfer_call(&caller, call, result);
                if !is_known {
                    self.unknown(text);
                }
            }
        }
        None
    }

    /// Records an operation; returns whether it is valid.
    pub fn record(&mut self, operation: Operation) -> bool {
        if self.tree.apply(&operation).is_err() {
            self.left_out.add(Omission::DoesNotFit, 1);
            return false;
        }
        if !self.operations.back_mut().is_some_and(|last| join(last, &operation)) {
            self.operations.push_back(operation);
        }
        true
    }

    /// Releases a reference to an open file; the last one closes it.
    pub fn release(&mut self, description: Rc<OpenFileDescription>) {
        if let Some(description) = Rc::into_inner(description)
            && let Some(handle) = description.handle
        {
            self.record(Operation::Close { handle });
        }
    }

    /// The open file of the recorded directory that a call works on.
    pub fn used(
        &mut self,
        caller: &TracedProcess,
        shown: Option<ShownDescriptor>,
    ) -> Option<Rc<OpenFileDescription>> {
        let ShownDescriptor { number, path } = shown?;
        let description = caller.description(number?);
        if description.is_none() && path.is_some_and(|path| self.relative(&path).is_some()) {
            self.left_out.add(Omission::UnknownDescriptor, 1);
        }
        description
    }

    /// The path in the recorded directory that two arguments resolve to: a directory's descriptor,
    /// if any, and a path. `None` if it is elsewhere.
    pub fn at(
        &self,
        caller: &TracedProcess,
        call: &SystemCall<'_>,
        directory: Option<usize>,
        path: usize,
        follows: bool,
    ) -> Option<RelativePath> {
        let path = call.string(path).filter(|path| !path.is_empty())?;
        if let Some(number) = descriptor_in_proc(&path) {
            let description = caller.description(number).filter(|_| follows)?;
            let is_there = self.tree.find(&description.path) == Some(description.node);
            return is_there.then(|| description.path.clone());
        }
        let base = match directory.map(|place| call.descriptor(place)) {
            _ if path.starts_with(b"/") => Vec::new(),
            Some(Some(ShownDescriptor { path: Some(base), .. })) => base,
            None | Some(Some(ShownDescriptor { number: None, .. })) => {
                caller.place.borrow().directory.clone()
            }
            Some(_) => return None,
        };
        self.resolve(&base, &path, follows)
    }

    /// An absolute path without links, relative to the recorded directory.
    pub fn relative(&self, path: &[u8]) -> Option<RelativePath> {
        path.strip_prefix(b"/")?;
        self.below(&names(path).collect::<Vec<_>>())
    }

    fn below(&self, names: &[&[u8]]) -> Option<RelativePath> {
        let (above, below) = names.split_at_checked(self.names.len())?;
        if above.iter().ne(self.names.iter()) {
            return None;
        }
        if below.is_empty() {
            Some(RelativePath::top())
        } else {
            RelativePath::new(&below.join(&b'/'))
        }
    }

    /// Resolves a path, following symbolic links in the recorded directory, to the names of the
    /// resulting absolute path.
    fn follow(&self, base: &[u8], path: &[u8], follows: bool) -> Option<Vec<Vec<u8>>> {
        let mut reached: Vec<&[u8]> = Vec::new();
        // The names still to be resolved, the next at the end.
        let mut left: Vec<&[u8]> = names(path).collect();
        left.reverse();
        if !path.starts_with(b"/") {
            reached.extend(names(base));
        }
        let mut links = 0;
        while let Some(name) = left.pop() {
            if name == b".." {
                reached.pop();
                continue;
            }
            reached.push(name);
            let is_followed = follows || !left.is_empty();
            let Some(target) = self
                .below(&reached)
                .filter(|_| is_followed)
                .and_then(|path| self.tree.symlink_target(&path))
            else {
                continue;
            };
            links += 1;
            if links > MOST_LINKS {
                return None;
            }
            reached.pop();
            if target.starts_with(b"/") {
                reached.clear();
            }
            let before = left.len();
            left.extend(names(target));
            left.get_mut(before..)?.reverse();
        }
        Some(reached.into_iter().map(<[u8]>::to_vec).collect())
    }

    /// The path in the recorded directory that a path resolves to.
    fn resolve(&self, base: &[u8], path: &[u8], follows: bool) -> Option<RelativePath> {
        let reached = self.follow(base, path, follows)?;
        self.below(&reached.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    fn change_directory(&mut self, caller: &TracedProcess, call: &SystemCall<'_>) {
        let mut place = caller.place.borrow_mut();
        let path = call.string(0);
        if let Some(reached) = path.and_then(|path| self.follow(&place.directory, &path, true)) {
            place.directory = [b"/", reached.join(&b'/').as_slice()].concat();
        }
    }

    /// Applies execve(2) to descriptors: they are no longer shared, and some are closed.
    fn execute(&mut self, number: u64, caller: TracedProcess, is_inside: bool) {
        if is_inside {
            self.left_out.add(Omission::Executed, 1);
        }
        let (kept, closed): (Descriptors, Descriptors) = (caller.descriptors.borrow().clone())
            .into_iter()
            .partition(|(_, descriptor)| !descriptor.closes_on_exec);
        let descriptors = Rc::new(RefCell::new(kept));
        let place = Rc::clone(&caller.place);
        drop(caller);
        self.exit(number);
        self.processes.insert(number, TracedProcess { descriptors, place });
        for descriptor in closed.into_values() {
            self.release(descriptor.description);
        }
    }

    /// Counts an unknown call, if it concerns the directory.
    fn unknown(&mut self, text: &[u8]) {
        if memmem::find(text, &self.shown).is_some() {
            self.left_out.add(Omission::UnknownCall, 1);
        }
    }
}

/// Merges two operations if the second is the same system call on the following range.
fn join(last: &mut Operation, next: &Operation) -> bool {
    let ((Operation::Read(last), Operation::Read(next))
    | (Operation::Write(last), Operation::Write(next))) = (last, next)
    else {
        return false;
    };
    let continues =
        last.handle == next.handle && last.length == next.length && last.end() == next.offset;
    last.count += if continues { next.count } else { 0 };
    continues
}

/// The names along a path.
fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."))
}

/// The descriptor that a path in `/proc` or `/dev` stands for.
fn descriptor_in_proc(path: &[u8]) -> Option<u32> {
    let number = path.strip_prefix(b"/proc/self/fd/").or_else(|| path.strip_prefix(b"/dev/fd/"))?;
    str::from_utf8(number).ok()?.parse().ok()
}

fn mask(call: &SystemCall<'_>) -> u32 {
    call.number(0).and_then(|mask| u32::try_from(mask & 0o777).ok()).unwrap_or(0)
}

/// Whether an ioctl(2) is a mere query, by its name in strace's output.
fn is_query(request: &[u8]) -> bool {
    memmem::find(request, b"GET").is_some()
        || matches!(request, b"FIONREAD" | b"FIBMAP" | b"FS_IOC_FIEMAP")
}
