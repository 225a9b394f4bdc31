//! F2FS: one event says the file, the page and the new place of all that it writes.
//!
//! Source: `include/trace/events/f2fs.h`, `fs/f2fs/f2fs.h` for the types of pages. It has not been
//! run on a kernel with F2FS.

use ssdlab_filesystem::BlockKind;

use crate::actor::Actor;
use crate::event::{CauseEvent, DIRECT, EventPoint, WantedEvent, page_range};
use crate::generic;
use crate::state::{BLOCK_SECTORS, BioPart, FilesystemModel, FilesystemState, SectorMark};

/// `enum page_type`.
const DATA: u64 = 0;
const NODE: u64 = 1;

const EVENTS: &[WantedEvent] = &[WantedEvent::new(
    EventPoint::F2fsPlaced,
    &["f2fs/f2fs_submit_folio_write", "f2fs/f2fs_submit_page_write"],
    &["ino", "index", "new_blkaddr", "type"],
)];

/// What is known of an F2FS filesystem.
#[derive(Debug, Default)]
pub struct F2fs;

impl FilesystemModel for F2fs {
    fn events(&self) -> Vec<WantedEvent> {
        [EVENTS, DIRECT].concat()
    }

    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
        let [inode, page, block, kind, ..] = event.numbers;
        match event.point {
            EventPoint::F2fsPlaced => {
                // A block always has 4 KiB.
                let sectors = block.saturating_mul(BLOCK_SECTORS);
                let sectors = sectors..sectors.saturating_add(BLOCK_SECTORS);
                let mark = if kind == DATA {
                    let causes = state.files.take_range(inode, &page_range(page));
                    state.works_at(actor, inode);
                    let inode = Some(state.inode(inode));
                    SectorMark { kind: BlockKind::Data.into(), inode, causes }
                } else {
                    let is_node = kind == NODE;
                    let kind = if is_node { BlockKind::Inode } else { BlockKind::Allocation };
                    SectorMark { kind: kind.into(), inode: None, causes: state.cause(actor) }
                };
                state.mark(0, sectors, mark);
            }
            _ => generic::take(state, actor, event),
        }
    }

    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
        generic::queued(state, actor, bio);
    }

    fn marks_early(&self) -> bool {
        true
    }
}
