//! Who a thread is: its program and its cgroup, as `/proc` had them at the start and events
//! changed them since.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{CauseEvent, EventPoint};

/// Who caused bytes: a program in a cgroup, or one of the lines that are always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Causer(u32);

impl Causer {
    /// Whoever dirtied it before the recording began.
    pub const BEFORE: Self = Self(0);
    /// The filesystem itself: a journal's own superblock, a checkpoint that nobody is behind.
    pub const FILESYSTEM: Self = Self(1);
    /// Bytes of which no event was seen.
    pub const UNSEEN: Self = Self(2);
    /// The workload of an experiment, whatever its programs.
    pub const WORKLOAD: Self = Self(3);
    /// What reads beside the workload, to see how long that takes.
    pub const READER: Self = Self(4);
}

/// Who a causer is to an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauserRole {
    Workload,
    Reader,
    /// The kernel on nobody's behalf: the filesystem itself, and threads of the kernel.
    Kernel,
    /// Whoever dirtied it before the recording began.
    Before,
    Others,
    Unseen,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CauserName {
    /// The program as the kernel names it (`comm`, at most 15 bytes), or a line in brackets.
    pub program: String,
    /// The path of its cgroup in the unified hierarchy; empty for a line in brackets.
    pub cgroup: String,
}

impl CauserName {
    /// The program of what no event was seen of.
    pub const UNSEEN: &str = "(unseen)";
}

/// A thread that ran when the recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningTask {
    pub thread: u32,
    pub process: u32,
    /// The process's `comm`.
    pub program: String,
    /// The process's path in the unified hierarchy.
    pub cgroup: String,
    /// Whether it is a thread of the kernel.
    pub is_kernel: bool,
}

/// The parent of all kernel threads.
const KTHREADD: u32 = 2;
/// `CLONE_THREAD` of clone(2).
const CLONE_THREAD: u64 = 0x10000;
/// `CLONE_INTO_CGROUP` of clone(2): the child begins in a cgroup that no event names.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
/// The number of the unified hierarchy.
const UNIFIED: u64 = 0;
const LONGEST_COMM: usize = 15;
/// The program of workers that serve many: their `comm` is that of whatever they did last.
const WORKER: &str = "(kernel worker)";
/// How many tasks and names are kept at most; numbers of processes end at 2^22.
const MOST_TASKS: usize = 1 << 22;

#[derive(Debug, Clone)]
struct Task {
    process: u32,
    causer: Causer,
    is_kernel: bool,
    is_syncing: bool,
    /// Whether what it executes and starts is charged to its causer, too.
    is_charged: bool,
}

impl Task {
    fn new(process: u32, causer: Causer) -> Self {
        Self { process, causer, is_kernel: false, is_syncing: false, is_charged: false }
    }
}

/// All threads.
#[derive(Debug)]
pub struct Tasks {
    threads: BTreeMap<u32, Task>,
    names: Vec<CauserName>,
    by_name: BTreeMap<CauserName, Causer>,
    /// How many names [`Self::take_fresh_names`] has given.
    known: usize,
    /// The causers that are threads of the kernel.
    kernel: BTreeSet<Causer>,
    /// Threads that are charged to a causer before the event that they began is taken.
    charged: BTreeMap<u32, Causer>,
    /// Threads that have ended.
    ended: BTreeSet<u32>,
    /// Processes whose cgroup has to be looked up.
    strays: BTreeSet<u32>,
}

impl Default for Tasks {
    fn default() -> Self {
        let (threads, by_name, kernel, charged, ended, strays) = Default::default();
        let names = Vec::new();
        let mut tasks = Self { threads, names, by_name, known: 0, kernel, charged, ended, strays };
        let before = "(written before the recording)";
        for line in [before, "(filesystem itself)", CauserName::UNSEEN, "(workload)", "(reader)"] {
            tasks.causer(line, "");
        }
        let idle = tasks.kernel_task(0, "swapper");
        tasks.threads.insert(0, idle);
        tasks
    }
}

impl Tasks {
    /// Adds a thread that was running when the recording began.
    pub fn add(&mut self, running: &RunningTask) {
        let RunningTask { thread, process, program, cgroup, is_kernel } = running;
        let task = if *is_kernel {
            self.kernel_task(*thread, program)
        } else {
            let causer = self.causer(program, cgroup);
            Task::new(*process, causer)
        };
        self.threads.insert(*thread, task);
    }

    /// Charges what the threads of a process do to a causer, and what is done by all that they
    /// start.
    pub fn charge_process(&mut self, process: u32, causer: Causer) {
        for task in self.threads.values_mut().filter(|task| task.process == process) {
            (task.causer, task.is_charged) = (causer, true);
        }
    }

    /// Charges what a thread does to a causer.
    pub fn charge_thread(&mut self, thread: u32, causer: Causer) {
        if let Some(task) = self.threads.get_mut(&thread) {
            (task.causer, task.is_charged) = (causer, true);
        }
        // It may be another's that ended.
        self.charged.insert(thread, causer);
    }

    /// Who a causer is to an experiment, whose processes and threads were charged to it.
    pub fn role(&self, causer: Causer) -> CauserRole {
        match causer {
            Causer::WORKLOAD => CauserRole::Workload,
            Causer::READER => CauserRole::Reader,
            Causer::BEFORE => CauserRole::Before,
            Causer::UNSEEN => CauserRole::Unseen,
            Causer::FILESYSTEM => CauserRole::Kernel,
            other if self.kernel.contains(&other) => CauserRole::Kernel,
            _ => CauserRole::Others,
        }
    }

    /// The process that watches works for others, as a thread of the kernel does: a file that is
    /// deleted while it looks up the name is removed by whoever closes it last.
    pub fn set_watcher(&mut self, process: u32) {
        for task in self.threads.values_mut().filter(|task| task.process == process) {
            task.is_kernel = true;
        }
    }

    pub fn name(&self, causer: Causer) -> &CauserName {
        &self.names[causer.0 as usize]
    }

    /// The names that are new since the last call.
    pub fn take_fresh_names(&mut self) -> &[CauserName] {
        let known = std::mem::replace(&mut self.known, self.names.len());
        &self.names[known..]
    }

    /// Forgets threads that had ended before the last call, too: events of theirs may come after
    /// they ended.
    pub fn forget_ended(&mut self, is_alive: impl Fn(u32) -> bool) {
        let mut ended = BTreeSet::new();
        self.threads.retain(|thread, _| {
            let has_ended = *thread != 0 && !is_alive(*thread);
            has_ended.then(|| ended.insert(*thread));
            !has_ended || !self.ended.contains(thread)
        });
        self.ended = ended;
    }

    /// The processes that began in a cgroup of which no event says the name, since the last call.
    pub fn take_strays(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.strays).into_iter().collect()
    }

    pub fn set_cgroup(&mut self, process: u32, cgroup: &str) {
        let is_own = |task: &Task| task.process == process && !task.is_charged;
        let of_process = self.threads.iter().filter(|(_, task)| is_own(task));
        let threads: Vec<u32> = of_process.map(|(thread, _)| *thread).collect();
        for thread in threads {
            let causer = self.causer_of(thread);
            let program = self.name(causer).program.clone();
            let causer = self.causer(&program, cgroup);
            if let Some(task) = self.threads.get_mut(&thread) {
                task.causer = causer;
            }
        }
    }

    pub(crate) fn take(&mut self, event: &CauseEvent) {
        let [first, second, ..] = event.numbers;
        let text = event.text.as_deref().unwrap_or_default();
        match event.point {
            EventPoint::NewTask => self.started(event.thread, number(first), second, text),
            EventPoint::Executed => self.executed(event.thread, text),
            EventPoint::Attached if second == UNIFIED => self.set_cgroup(number(first), text),
            EventPoint::SyncEntered | EventPoint::SyncLeft => {
                if let Some(task) = self.threads.get_mut(&event.thread) {
                    task.is_syncing = event.point == EventPoint::SyncEntered;
                }
            }
            _ => {}
        }
    }

    fn started(&mut self, parent: u32, child: u32, flags: u64, program: &str) {
        if self.threads.len() >= MOST_TASKS {
            self.threads.clear();
        }
        let task = if parent == KTHREADD {
            self.kernel_task(child, program)
        } else {
            let of_parent = self.threads.get(&parent).cloned();
            let parent = of_parent.unwrap_or_else(|| Task::new(parent, self.causer(program, "?")));
            let process = if flags & CLONE_THREAD == 0 { child } else { parent.process };
            let charged = self.charged.remove(&child);
            Task {
                process,
                is_syncing: false,
                is_kernel: false,
                causer: charged.unwrap_or(parent.causer),
                is_charged: parent.is_charged || charged.is_some(),
            }
        };
        if flags & CLONE_INTO_CGROUP != 0 {
            self.strays.insert(child);
        }
        self.ended.remove(&child);
        self.threads.insert(child, task);
    }

    fn executed(&mut self, thread: u32, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut end = name.len().min(LONGEST_COMM);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let causer = self.causer_of(thread);
        let cgroup = self.name(causer).cgroup.clone();
        let program = self.causer(&name[..end], &cgroup);
        let known = self.threads.get(&thread);
        let process = known.map_or(thread, |task| task.process);
        let is_charged = known.is_some_and(|task| task.is_charged);
        let causer = if is_charged { causer } else { program };
        self.threads.insert(thread, Task { is_charged, ..Task::new(process, causer) });
    }

    fn kernel_task(&mut self, thread: u32, program: &str) -> Task {
        let program = if program.starts_with("kworker") { WORKER } else { program };
        let causer = self.causer(program, "");
        self.kernel.insert(causer);
        Task { is_kernel: true, ..Task::new(thread, causer) }
    }

    fn causer(&mut self, program: &str, cgroup: &str) -> Causer {
        let name = CauserName { program: program.to_owned(), cgroup: cgroup.to_owned() };
        if let Some(causer) = self.by_name.get(&name) {
            return *causer;
        }
        let causer = Causer(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.clone());
        self.by_name.insert(name, causer);
        causer
    }

    /// The causer that a thread is. One that neither an event nor `/proc` named is a program `?`.
    pub(crate) fn causer_of(&mut self, thread: u32) -> Causer {
        if let Some(task) = self.threads.get(&thread) {
            return task.causer;
        }
        self.causer("?", "?")
    }

    pub(crate) fn is_kernel(&self, thread: u32) -> bool {
        self.threads.get(&thread).is_some_and(|task| task.is_kernel)
    }

    pub(crate) fn is_syncing(&self, thread: u32) -> bool {
        self.threads.get(&thread).is_some_and(|task| task.is_syncing)
    }
}

fn number(field: u64) -> u32 {
    u32::try_from(field).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
