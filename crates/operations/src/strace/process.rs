//! Defines what processes share and inherit: descriptors, the open files behind them, the working
//! directory and the umask (clone(2), execve(2)).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::tree::Node;
use crate::{Handle, RelativePath};

/// A process or a thread.
#[derive(Debug, Clone)]
pub struct TracedProcess {
    pub descriptors: Rc<RefCell<Descriptors>>,
    pub place: Rc<RefCell<ProcessContext>>,
}

/// The descriptors of something in the recorded directory, by number.
pub type Descriptors = BTreeMap<u32, Descriptor>;

/// The working directory and the umask of a process.
#[derive(Debug, Clone)]
pub struct ProcessContext {
    /// The absolute path of its working directory.
    pub directory: Vec<u8>,
    pub umask: u32,
}

#[derive(Debug, Clone)]
pub struct Descriptor {
    pub description: Rc<OpenFileDescription>,
    pub closes_on_exec: bool,
    /// Whether its number was in use when it was created: another thread has closed the previous
    /// descriptor, but strace has not printed that yet.
    pub awaits_close: bool,
}

/// An open file, closed with its last descriptor.
#[derive(Debug)]
pub struct OpenFileDescription {
    /// Its handle in the log; `None` if it was opened with `O_PATH`.
    pub handle: Option<Handle>,
    pub node: Node,
    /// The name by which it was opened.
    pub path: RelativePath,
    /// The offset of the next read or write without an explicit one, in bytes.
    pub position: Cell<u64>,
    /// Whether every write goes to the file's end.
    pub appends: bool,
}

impl TracedProcess {
    /// A process with nothing in the directory open.
    pub fn new(place: ProcessContext) -> Self {
        Self {
            descriptors: Rc::new(RefCell::new(Descriptors::new())),
            place: Rc::new(RefCell::new(place)),
        }
    }

    /// The child that clone(2) creates.
    pub fn child(&self, shares_descriptors: bool, shares_place: bool) -> Self {
        let mut child = self.clone();
        if !shares_descriptors {
            child.descriptors = Rc::new(RefCell::new(self.descriptors.borrow().clone()));
        }
        if !shares_place {
            child.place = Rc::new(RefCell::new(self.place.borrow().clone()));
        }
        child
    }

    /// The open file behind a descriptor.
    pub fn description(&self, number: u32) -> Option<Rc<OpenFileDescription>> {
        let descriptors = self.descriptors.borrow();
        descriptors.get(&number).map(|descriptor| Rc::clone(&descriptor.description))
    }
}
