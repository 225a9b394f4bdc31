//! A filesystem without events of its own: what a worker writes back is the file's that it names,
//! and anything else is whoever submits it.

use ssdlab_filesystem::BlockKind;

use crate::actor::Actor;
use crate::event::{CauseEvent, DIRECT, EventPoint, WantedEvent};
use crate::volume::{BioPart, FilesystemModel, PAGE_BYTES, Volume};

/// What is known of such a filesystem: nothing.
#[derive(Debug, Default)]
pub struct GenericModel;

/// What all filesystems without events of bios of their own do.
pub fn take(volume: &mut Volume, actor: &Actor, event: &CauseEvent) {
    let [inode, page, ..] = event.numbers;
    match event.point {
        EventPoint::FolioDirtied => {
            let is_again = actor.is_kernel && !volume.files.causes(inode).is_empty();
            if !is_again {
                let start = page.saturating_mul(PAGE_BYTES);
                let range = start..start.saturating_add(PAGE_BYTES);
                volume.files.changed(inode, actor, range.clone());
                volume.asked(volume.inode(inode), actor, range);
            }
        }
        EventPoint::WritebackBegan => {
            volume.files.flush_began(inode);
            volume.begins_to_write(actor, inode);
        }
        EventPoint::WritebackEnded => {
            volume.files.flush_completed(inode);
            volume.ends_to_write(actor);
        }
        _ => {}
    }
}

/// Marks a bio by what it is itself: data of the file that is written, or metadata.
pub fn queued(volume: &mut Volume, actor: &Actor, bio: &BioPart) {
    match bio.area {
        None if !bio.is_metadata => volume.mark_data(actor, bio),
        area => {
            let causes = volume.cause(actor);
            volume.mark_in_place(bio, area.unwrap_or(BlockKind::Unattributed), causes);
        }
    }
}

impl FilesystemModel for GenericModel {
    fn events(&self) -> Vec<WantedEvent> {
        DIRECT.to_vec()
    }

    fn take(&mut self, volume: &mut Volume, actor: &Actor, event: &CauseEvent) {
        take(volume, actor, event);
    }

    fn queued(&mut self, volume: &mut Volume, actor: &Actor, bio: &BioPart) {
        queued(volume, actor, bio);
    }
}
