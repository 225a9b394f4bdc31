//! The presence of an attempt on its node, as the run's folder shows it: while there are changes to
//! the node that are not all undone, whoever cancels the run must know where.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::whole_file;
use ssdlab_results::{Attempt, node_of};
use ssdlab_undo::Journal;

/// The presence of an attempt on a node.
#[derive(Debug)]
pub struct Presence(PathBuf);

impl Presence {
    /// Enters a node; to be called before anything is changed there.
    pub fn enter(
        run: &Path,
        attempt: &Attempt,
        submission: &str,
        journal: &Journal,
    ) -> io::Result<Self> {
        let path = node_of(run, attempt.id);
        // A line that names another journal would have what is here taken for undone.
        let journal = journal.path();
        let Some(line) = journal.to_str().filter(|line| !line.contains('\n')) else {
            let says = format!(
                "{} is no line of text; set XDG_STATE_HOME to a folder whose name is",
                journal.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
        };
        let text = format!("{}\n{submission}\n{line}\n", attempt.node);
        whole_file::write(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(Self(path))
    }

    /// Leaves it; to be called when everything is undone.
    pub fn leave(self) -> io::Result<()> {
        // Emptied and not removed: so it can be seen by whom it is copied to.
        fs::write(self.0, "")
    }
}
