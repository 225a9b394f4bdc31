//! Models a directory under operations: names, sizes and modes, without a disk.
//!
//! It refuses what a filesystem would refuse, so a recorder can detect invalid operations, and a
//! replay knows the expected result.

use std::collections::BTreeMap;

use crate::{Allocation, Entry, Handle, Operation, OperationTarget, RelativePath};

/// The maximum number of files, directories and links in a tree, to bound memory.
const MOST_NODES: usize = 1 << 22;

/// An operation is impossible in the current state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit;

/// A directory under operations.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: BTreeMap<Node, Inode>,
    open: BTreeMap<Handle, Node>,
    next: Node,
    umask: u32,
}

/// A file, directory or link, regardless of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(u64);

const TOP: Node = Node(0);

#[derive(Debug, Clone)]
struct Inode {
    kind: Kind,
    mode: u32,
    /// The number of its names and handles. Without any it is removed.
    references: u64,
}

#[derive(Debug, Clone)]
enum Kind {
    Directory(BTreeMap<Box<[u8]>, Node>),
    File { size_bytes: u64 },
    Symlink(Box<[u8]>),
}

impl Default for Tree {
    /// An empty directory.
    fn default() -> Self {
        let top = Inode { kind: Kind::Directory(BTreeMap::new()), mode: 0, references: 1 };
        Self { nodes: BTreeMap::from([(TOP, top)]), open: BTreeMap::new(), next: Node(1), umask: 0 }
    }
}

impl Tree {
    /// The directory with these entries.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Unfit> {
        let mut tree = Self::default();
        for entry in entries {
            tree.add(entry)?;
        }
        Ok(tree)
    }

    /// Adds a name to the directory.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Unfit> {
        match entry {
            Entry::Directory { mode, path } => {
                self.insert(path, Kind::Directory(BTreeMap::new()), *mode).map(drop)
            }
            Entry::File { mode, size_bytes, path } => {
                self.insert(path, Kind::File { size_bytes: *size_bytes }, *mode).map(drop)
            }
            Entry::Symlink { target, path } => self.insert_symlink(target, path),
            Entry::Link { existing, path } => self.link(existing, path),
        }
    }

    /// All entries of the directory, without the directory itself: parents first, names in byte
    /// order, hard links after the first name of a file.
    ///
    /// Renamed directories can quickly make paths long, so memory is used only for the directories
    /// on the path to the next name, and for files with several names.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let mut first_names = BTreeMap::new();
        let top = self.children(TOP).map(|children| (RelativePath::top(), children.iter()));
        let mut way = Vec::from_iter(top);
        std::iter::from_fn(move || {
            loop {
                let (directory, names) = way.last_mut()?;
                let Some((name, node)) = names.next() else {
                    way.pop();
                    continue;
                };
                let Some(path) = directory.join(name) else { continue };
                let inode = &self.nodes[node];
                if inode.references > 1
                    && let Some(existing) = first_names.get(node).cloned()
                {
                    return Some(Entry::Link { existing, path });
                }
                let mode = inode.mode;
                let (entry, path) = match &inode.kind {
                    Kind::Directory(children) => {
                        way.push((path.clone(), children.iter()));
                        return Some(Entry::Directory { mode, path });
                    }
                    Kind::File { size_bytes } => {
                        (Entry::File { mode, size_bytes: *size_bytes, path: path.clone() }, path)
                    }
                    Kind::Symlink(target) => {
                        (Entry::Symlink { target: target.clone(), path: path.clone() }, path)
                    }
                };
                if inode.references > 1 {
                    first_names.insert(*node, path);
                }
                return Some(entry);
            }
        })
    }

    /// Clears these bits in the modes of everything created from now on.
    pub fn set_umask(&mut self, umask: u32) {
        self.umask = umask;
    }

    /// Applies an operation; an invalid one changes nothing.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), Unfit> {
        match operation {
            Operation::MakeDirectory { mode, path } => {
                self.insert(path, Kind::Directory(BTreeMap::new()), *mode & !self.umask).map(drop)
            }
            Operation::RemoveDirectory { path } => {
                let is_empty = |kind: &Kind| matches!(kind, Kind::Directory(all) if all.is_empty());
                self.remove(path, is_empty)
            }
            Operation::Open { handle, flags, create, path } => {
                if self.open.contains_key(handle) {
                    return Err(Unfit);
                }
                let node = match create {
                    Some(mode) if !flags.or_existing || self.find(path).is_none() => {
                        self.insert(path, Kind::File { size_bytes: 0 }, *mode & !self.umask)?
                    }
                    _ => self.openable(path, flags.directory)?,
                };
                if flags.truncate {
                    self.resize(node, |_| Some(0))?;
                }
                self.inode(node)?.references += 1;
                self.open.insert(*handle, node);
                Ok(())
            }
            Operation::Close { handle } => {
                let node = self.open.remove(handle).ok_or(Unfit)?;
                self.release(node);
                Ok(())
            }
            Operation::Read(transfer) => {
                let size_bytes = self.size_bytes(transfer.handle).ok_or(Unfit)?;
                if transfer.end() <= size_bytes { Ok(()) } else { Err(Unfit) }
            }
            Operation::Write(transfer) => {
                let node = self.handle_node(transfer.handle).ok_or(Unfit)?;
                self.resize(node, |size_bytes| Some(size_bytes.max(transfer.end())))
            }
            Operation::Truncate { target, size_bytes } => {
                let node = self.target(target).ok_or(Unfit)?;
                self.resize(node, |_| Some(*size_bytes))
            }
            Operation::Allocate { handle, allocation, offset, length } => {
                let node = self.handle_node(*handle).ok_or(Unfit)?;
                self.resize(node, |before| allocated(before, *allocation, *offset, *length))
            }
            Operation::ReadFile { path } => self.openable(path, false).map(drop),
            Operation::ListDirectory { path } => self.openable(path, true).map(drop),
            Operation::Sync { handle, .. }
            | Operation::Seek { handle, .. }
            | Operation::SetModified { handle, .. } => {
                self.handle_node(*handle).map(drop).ok_or(Unfit)
            }
            Operation::SyncFilesystem => Ok(()),
            Operation::Rename { from, to } => self.rename(from, to),
            Operation::Exchange { from, to } => self.exchange(from, to),
            Operation::Link { existing, path } => self.link(existing, path),
            Operation::Symlink { target, path } => self.insert_symlink(target, path),
            Operation::Unlink { path } => {
                self.remove(path, |kind| !matches!(kind, Kind::Directory(_)))
            }
            Operation::Stat { path } => self.find(path).map(drop).ok_or(Unfit),
            Operation::ReadLink { path } => self.symlink_target(path).map(drop).ok_or(Unfit),
            Operation::List { handle } => {
                let node = self.handle_node(*handle).ok_or(Unfit)?;
                self.children(node).map(drop).ok_or(Unfit)
            }
            Operation::SetMode { target, mode } => {
                let inode = self.target(target).and_then(|node| self.nodes.get_mut(&node));
                let can_have = |inode: &&mut Inode| !matches!(inode.kind, Kind::Symlink(_));
                inode.filter(can_have).ok_or(Unfit)?.mode = *mode;
                Ok(())
            }
            Operation::SetTimes { target } => self.target(target).map(drop).ok_or(Unfit),
        }
    }

    /// Closes every handle, like the end of a process.
    pub fn close_all(&mut self) {
        while let Some((_, node)) = self.open.pop_first() {
            self.release(node);
        }
    }

    /// The number of its names.
    pub fn names_of(&self, node: Node) -> u64 {
        let handles = self.open.values().filter(|open| **open == node).count() as u64;
        self.nodes.get(&node).map_or(0, |inode| inode.references - handles)
    }

    /// The node with this name.
    pub fn find(&self, path: &RelativePath) -> Option<Node> {
        path.names().try_fold(TOP, |node, name| self.children(node)?.get(name).copied())
    }

    /// The target of the symbolic link with this name.
    pub(crate) fn symlink_target(&self, path: &RelativePath) -> Option<&[u8]> {
        match &self.nodes.get(&self.find(path)?)?.kind {
            Kind::Symlink(target) => Some(target),
            _ => None,
        }
    }

    /// The permission bits of a file or directory.
    pub(crate) fn mode(&self, target: &OperationTarget) -> Option<u32> {
        Some(self.nodes.get(&self.target(target)?)?.mode)
    }

    /// The contents of the directory with this name.
    pub(crate) fn names_in(&self, path: &RelativePath) -> Option<Vec<RelativePath>> {
        let children = self.children(self.find(path)?)?;
        Some(children.keys().filter_map(|name| path.join(name)).collect())
    }

    /// The node that this handle has open.
    pub fn handle_node(&self, handle: Handle) -> Option<Node> {
        self.open.get(&handle).copied()
    }

    /// The lowest free handle.
    pub(crate) fn free_handle(&self) -> Option<Handle> {
        let taken = self.open.keys().enumerate();
        let in_order = taken.take_while(|(place, handle)| handle.number() as usize == *place);
        Handle::new(u32::try_from(in_order.count()).ok()?)
    }

    /// The size of the file that this handle has open.
    pub fn size_bytes(&self, handle: Handle) -> Option<u64> {
        match self.nodes.get(&self.handle_node(handle)?)?.kind {
            Kind::File { size_bytes } => Some(size_bytes),
            _ => None,
        }
    }

    /// The node that is named or open.
    pub fn target(&self, target: &OperationTarget) -> Option<Node> {
        match target {
            OperationTarget::Path(path) => self.find(path),
            OperationTarget::Handle(handle) => self.handle_node(*handle),
        }
    }

    fn inode(&mut self, node: Node) -> Result<&mut Inode, Unfit> {
        self.nodes.get_mut(&node).ok_or(Unfit)
    }

    fn children(&self, node: Node) -> Option<&BTreeMap<Box<[u8]>, Node>> {
        match &self.nodes.get(&node)?.kind {
            Kind::Directory(children) => Some(children),
            _ => None,
        }
    }

    /// The parent directory of a path, and its last component.
    fn parent<'a>(&self, path: &'a RelativePath) -> Result<(Node, &'a [u8]), Unfit> {
        let mut names = path.names().peekable();
        let mut node = TOP;
        while let Some(name) = names.next() {
            let children = self.children(node).ok_or(Unfit)?;
            if names.peek().is_none() {
                return Ok((node, name));
            }
            node = *children.get(name).ok_or(Unfit)?;
        }
        Err(Unfit)
    }

    fn bind(&mut self, parent: Node, name: &[u8], node: Node) {
        if let Some(Inode { kind: Kind::Directory(children), .. }) = self.nodes.get_mut(&parent) {
            children.insert(name.into(), node);
        }
    }

    fn unbind(&mut self, parent: Node, name: &[u8]) {
        if let Some(Inode { kind: Kind::Directory(children), .. }) = self.nodes.get_mut(&parent) {
            children.remove(name);
        }
    }

    fn insert(&mut self, path: &RelativePath, kind: Kind, mode: u32) -> Result<Node, Unfit> {
        let (parent, name) = self.parent(path)?;
        if self.find(path).is_some() || self.nodes.len() >= MOST_NODES {
            return Err(Unfit);
        }
        let node = self.next;
        self.next = Node(node.0 + 1);
        self.nodes.insert(node, Inode { kind, mode, references: 1 });
        self.bind(parent, name, node);
        Ok(node)
    }

    fn insert_symlink(&mut self, target: &[u8], path: &RelativePath) -> Result<(), Unfit> {
        self.insert(path, Kind::Symlink(target.into()), 0o777).map(drop)
    }

    fn remove(
        &mut self,
        path: &RelativePath,
        can_be: impl FnOnce(&Kind) -> bool,
    ) -> Result<(), Unfit> {
        let (parent, name) = self.parent(path)?;
        let node = self.find(path).ok_or(Unfit)?;
        if !can_be(&self.inode(node)?.kind) {
            return Err(Unfit);
        }
        self.unbind(parent, name);
        self.release(node);
        Ok(())
    }

    fn release(&mut self, node: Node) {
        if let Some(inode) = self.nodes.get_mut(&node) {
            inode.references -= 1;
            if inode.references == 0 {
                self.nodes.remove(&node);
            }
        }
    }

    /// The node to open by this name.
    fn openable(&self, path: &RelativePath, as_directory: bool) -> Result<Node, Unfit> {
        let node = self.find(path).ok_or(Unfit)?;
        match self.nodes[&node].kind {
            Kind::Directory(_) if as_directory => Ok(node),
            Kind::File { .. } if !as_directory => Ok(node),
            _ => Err(Unfit),
        }
    }

    /// Changes the size of a file by a function of its size.
    fn resize(&mut self, node: Node, size: impl FnOnce(u64) -> Option<u64>) -> Result<(), Unfit> {
        match &mut self.inode(node)?.kind {
            Kind::File { size_bytes } => {
                *size_bytes = size(*size_bytes).ok_or(Unfit)?;
                Ok(())
            }
            _ => Err(Unfit),
        }
    }

    fn link(&mut self, existing: &RelativePath, path: &RelativePath) -> Result<(), Unfit> {
        let node = self.find(existing).ok_or(Unfit)?;
        let (parent, name) = self.parent(path)?;
        if self.find(path).is_some() || self.children(node).is_some() {
            return Err(Unfit);
        }
        self.inode(node)?.references += 1;
        self.bind(parent, name, node);
        Ok(())
    }

    fn rename(&mut self, from: &RelativePath, to: &RelativePath) -> Result<(), Unfit> {
        let node = self.find(from).ok_or(Unfit)?;
        let (old_parent, old_name) = self.parent(from)?;
        let (new_parent, new_name) = self.parent(to)?;
        let replaced = self.find(to);
        // Two names of one file stay unchanged: rename(2).
        if replaced == Some(node) {
            return Ok(());
        }
        let is_directory = self.children(node).is_some();
        let can_replace = |replaced| match self.children(replaced) {
            Some(children) => is_directory && children.is_empty(),
            None => !is_directory,
        };
        if to.is_within(from) || !replaced.is_none_or(can_replace) {
            return Err(Unfit);
        }
        self.unbind(old_parent, old_name);
        self.bind(new_parent, new_name, node);
        if let Some(replaced) = replaced {
            self.release(replaced);
        }
        Ok(())
    }

    fn exchange(&mut self, from: &RelativePath, to: &RelativePath) -> Result<(), Unfit> {
        let (one, other) = (self.find(from).ok_or(Unfit)?, self.find(to).ok_or(Unfit)?);
        let (from_parent, from_name) = self.parent(from)?;
        let (to_parent, to_name) = self.parent(to)?;
        if from.is_within(to) || to.is_within(from) {
            return Err(Unfit);
        }
        self.bind(from_parent, from_name, other);
        self.bind(to_parent, to_name, one);
        Ok(())
    }
}

/// The size of a file after fallocate(2), if that is possible.
fn allocated(before: u64, allocation: Allocation, offset: u64, length: u64) -> Option<u64> {
    let end = offset.checked_add(length).filter(|end| i64::try_from(*end).is_ok())?;
    match allocation {
        _ if length == 0 => None,
        Allocation::Extend | Allocation::ZeroRange => Some(before.max(end)),
        Allocation::KeepSize | Allocation::PunchHole | Allocation::ZeroRangeKeepSize => {
            Some(before)
        }
        Allocation::CollapseRange => (end < before).then(|| before - length),
        Allocation::InsertRange if offset < before => {
            before.checked_add(length).filter(|size| i64::try_from(*size).is_ok())
        }
        Allocation::InsertRange => None,
    }
}
