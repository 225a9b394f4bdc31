//! A filesystem without events of its own: what a worker writes back is the file's that it names,
//! and anything else is whoever submits it.

use ssdlab_filesystem::BlockKind;

use crate::actor::Actor;
use crate::event::{CauseEvent, DIRECT, EventPoint, WantedEvent, page_range};
use crate::state::{BioPart, FilesystemModel, FilesystemState};

/// What is known of such a filesystem: nothing.
#[derive(Debug, Default)]
pub struct GenericModel;

/// What all filesystems without events of bios of their own do.
pub fn take(state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
    let [inode, page, ..] = event.numbers;
    match event.point {
        EventPoint::FolioDirtied if !state.is_redirtied(actor, inode) => {
            let range = page_range(page);
            state.files.changed(inode, actor, range.clone());
            state.asked(state.inode(inode), actor, range);
        }
        EventPoint::WritebackBegan => {
            state.files.flush_began(inode);
            state.begins_to_write(actor, inode);
        }
        EventPoint::WritebackEnded => {
            state.files.flush_completed(inode);
            state.ends_to_write(actor);
        }
        _ => {}
    }
}

/// Marks a bio by what it is itself: data of the file that is written, or metadata.
pub fn queued(state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
    match bio.area {
        None if !bio.is_metadata => state.mark_data(actor, bio),
        area => {
            let causes = state.cause(actor);
            state.mark_in_place(bio, area.unwrap_or(BlockKind::Unattributed), causes);
        }
    }
}

impl FilesystemModel for GenericModel {
    fn events(&self) -> Vec<WantedEvent> {
        DIRECT.to_vec()
    }

    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
        take(state, actor, event);
    }

    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
        queued(state, actor, bio);
    }
}
