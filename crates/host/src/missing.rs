//! Files and folders that need not be there: another program may have removed them, or none may
//! have made them yet.

use std::io::{self, ErrorKind};

/// The result of a call on something; `None` if that is not there.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
