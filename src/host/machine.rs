//! Which machine this is, to those that see the same folders.

use std::fs;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What tells a machine from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// A hash of its machine-id(5), which is not to be shown to others; none where it has none.
    pub id: Option<String>,
    /// Its host name: a machine that was cloned may have the id of the first.
    pub host: String,
}

impl Machine {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let text = fs::read_to_string("/etc/machine-id").unwrap_or_default();
        // Until the first boot is over it is `uninitialized`.
        let id = Some(text.trim()).filter(|id| id.len() == 32);
        let hashed = |id| hex::encode(Sha256::digest(format!("ssdlab {id}")))[..16].to_owned();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { id: id.map(hashed), host }
    }
}
