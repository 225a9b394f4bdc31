//! Machines as text, for tests of what reads a machine.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes a machine's files below a folder: `PATH = LINE` adds a line to a file, `PATH -> TARGET`
/// makes a link.
pub fn write(folder: &Path, text: &str) {
    let place = |path: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some((path, target)) = line.split_once(" -> ") {
            symlink(target, place(path)).unwrap();
            continue;
        }
        let (path, line) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
        let path = place(path);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{before}{line}\n")).unwrap();
    }
}
