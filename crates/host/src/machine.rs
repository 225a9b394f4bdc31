//! The identity of this machine, for others that share its folders.

use std::fs;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The identity of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// A hash of its machine-id(5), which must stay confidential; `None` if it has none.
    pub id: Option<String>,
    /// Its host name: a machine that was cloned may have the id of the first.
    pub host: String,
}

impl Machine {
    pub fn this() -> Self {
        let text = fs::read_to_string("/etc/machine-id").unwrap_or_default();
        // During the first boot it is `uninitialized`.
        let id = Some(text.trim()).filter(|id| id.len() == 32);
        let hashed = |id| hex::encode(Sha256::digest(format!("ssdlab {id}")))[..16].to_owned();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { id: id.map(hashed), host }
    }
}
