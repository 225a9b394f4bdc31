//! Regular files: opened to be read, where the name is somebody else's choice.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file to be read. Anything else is an error and is not waited for, as a FIFO
/// would be; a device has no end.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    #[test]
    fn what_is_not_a_regular_file_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for path in [&pipe, place.path(), Path::new("/dev/zero")] {
            let error = open(path).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }
}
