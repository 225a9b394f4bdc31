//! Defines what processes share and inherit: descriptors, the open files behind them, the working
//! directory and the umask (clone(2), execve(2)).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::tree::Node;
use crate::{Handle, RelativePath};

/// A process or a thread.
#[derive(Debug, Clone)]
pub struct Process {
    pub descriptors: Rc<RefCell<Descriptors>>,
    pub place: Rc<RefCell<Place>>,
}

/// The descriptors of something in the recorded directory, by number.
pub type Descriptors = BTreeMap<u32, Descriptor>;

/// Where a process is, and what it takes off the modes of new files.
#[derive(Debug, Clone)]
pub struct Place {
    /// The absolute path of its working directory.
    pub directory: Vec<u8>,
    pub umask: u32,
}

/// A descriptor.
#[derive(Debug, Clone)]
pub struct Descriptor {
    pub description: Rc<Description>,
    pub closes_on_exec: bool,
    /// Whether its number was taken when it came to be: another thread has closed what had it, and
    /// strace is yet to say so.
    pub awaits_close: bool,
}

/// An open file; it is closed with the last descriptor of it.
#[derive(Debug)]
pub struct Description {
    /// Its handle in the log; none if it was opened only to name it (`O_PATH`).
    pub handle: Option<Handle>,
    /// What is open.
    pub node: Node,
    /// The name by which it was opened.
    pub path: RelativePath,
    /// Where the next read or write without an offset begins, in bytes.
    pub position: Cell<u64>,
    /// Whether every write goes to the file's end.
    pub appends: bool,
}

impl Process {
    /// A process that has nothing of the directory open.
    pub fn new(place: Place) -> Self {
        Self {
            descriptors: Rc::new(RefCell::new(Descriptors::new())),
            place: Rc::new(RefCell::new(place)),
        }
    }

    /// What clone(2) makes of it.
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
    pub fn description(&self, number: u32) -> Option<Rc<Description>> {
        let descriptors = self.descriptors.borrow();
        descriptors.get(&number).map(|descriptor| Rc::clone(&descriptor.description))
    }
}
