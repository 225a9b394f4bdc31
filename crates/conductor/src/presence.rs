//! The presence of an attempt on its node, as the run's folder shows it: until all changes to the
//! node are undone, `ssdlab cancel` must know where they are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::undo::Journal;
use ssdlab_host::whole_file;
use ssdlab_results::{Attempt, node_of};

/// The presence of an attempt on a node.
#[derive(Debug)]
pub struct Presence(PathBuf);

impl Presence {
    /// Enters a node. Call it before anything is changed there.
    pub fn enter(
        run: &Path,
        attempt: &Attempt,
        submission: &str,
        journal: &Journal,
    ) -> io::Result<Self> {
        let path = node_of(run, attempt.id);
        // If the line named another journal, the changes here would be taken for undone.
        let journal = journal.path();
        let Some(line) = journal.to_str().filter(|line| !line.contains('\n')) else {
            let says = format!(
                "{} is not one line of text; set XDG_STATE_HOME to a folder whose name is",
                journal.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
        };
        let text = format!("{}\n{submission}\n{line}\n", attempt.node);
        whole_file::write(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(Self(path))
    }

    /// Leaves it. Call it when everything is undone.
    pub fn leave(self) -> io::Result<()> {
        // Emptied, not removed, so that the change also reaches copies of the folder.
        fs::write(self.0, "")
    }
}
