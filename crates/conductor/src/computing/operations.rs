//! The operations: files created, looked up and removed in order and at random; a tree unpacked and
//! deleted; a large file written, rewritten and read.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, fdatasync, mkdirat, openat, statat, syncfs, unlinkat,
};
use rustix::io::{pread, pwrite, write};

/// Processor time in ns by operation, in the order in which they are performed.
pub type Times = Vec<(String, u64)>;

const FILES: usize = 8192;
const FOLDERS: usize = 128;
const FILES_IN_FOLDER: usize = 32;
const SMALL_BYTES: usize = 12_000;
const LARGE_BYTES: u64 = 64 << 20;
const PIECE_BYTES: usize = 64 << 10;
const BLOCK_BYTES: usize = 8 << 10;
const SYNCED_PIECES: u64 = 128;
const SYNCED_BYTES: usize = 1 << 20;

/// Steps coprime to the number of files visit all of them.
const STEPS: [usize; 2] = [4_001, 2_999];

/// The folders of files that are created and removed one by one.
const ORDERED: &str = "ordered";
const MIXED: &str = "mixed";

/// Performs the operations in an empty folder, where a file and folders are left; `spent` tells the
/// processor time that was spent so far, in ns. After each, and outside its time, the filesystem is
/// synced.
pub fn perform(folder: &Path, spent: &dyn Fn() -> u64) -> io::Result<Times> {
    let filesystem = File::open(folder)?;
    let mut times = Times::new();
    let mut perform = |name: &str, work: &mut dyn FnMut() -> rustix::io::Result<()>| {
        let before = spent();
        work()?;
        times.push((name.to_owned(), spent() - before));
        syncfs(&filesystem).map_err(io::Error::from)
    };
    // System calls take these unconverted: nothing is computed in between.
    let path = |name: String| {
        CString::new(folder.join(name).as_os_str().as_bytes()).map_err(io::Error::other)
    };
    let paths = |names: &mut dyn Iterator<Item = String>| names.map(path).collect();
    let ordered: Vec<CString> =
        paths(&mut (0..FILES).map(|number| format!("{ORDERED}/{number:010}")))?;
    let mixed: Vec<CString> =
        paths(&mut (0..FILES).map(|number| format!("{MIXED}/{:010}", number * STEPS[0] % FILES)))?;
    // The same names in an order other than that of their creation.
    let mixed_again: Vec<&CString> =
        (0..FILES).map(|number| &mixed[number * STEPS[1] % FILES]).collect();
    let in_order: Vec<&CString> = ordered.iter().collect();
    for (how, below, created, read) in
        [("in order", ORDERED, &ordered, &in_order), ("at random", MIXED, &mixed, &mixed_again)]
    {
        mkdirat(CWD, path(below.to_owned())?, Mode::RWXU)?;
        perform(&format!("create {how}"), &mut || created.iter().try_for_each(create))?;
        perform(&format!("stat {how}"), &mut || {
            read.iter().try_for_each(|name| statat(CWD, *name, AtFlags::empty()).map(drop))
        })?;
        perform(&format!("unlink {how}"), &mut || {
            read.iter().try_for_each(|name| unlinkat(CWD, *name, AtFlags::empty()))
        })?;
    }
    let small = vec![7; SMALL_BYTES];
    let folders: Vec<CString> = paths(&mut (0..FOLDERS).map(|number| format!("folder-{number}")))?;
    let files = |folder: usize| {
        paths(&mut (0..FILES_IN_FOLDER).map(|file| format!("folder-{folder}/file-{file}")))
    };
    let files: Vec<Vec<CString>> = (0..FOLDERS).map(files).collect::<io::Result<_>>()?;
    perform("unpack", &mut || {
        for (folder, files) in folders.iter().zip(&files) {
            mkdirat(CWD, folder, Mode::RWXU)?;
            for name in files {
                let file = openat(CWD, name, CREATED, Mode::RUSR)?;
                write(&file, &small)?;
            }
        }
        Ok(())
    })?;
    perform("delete", &mut || {
        for (folder, files) in folders.iter().zip(&files) {
            files.iter().try_for_each(|name| unlinkat(CWD, name, AtFlags::empty()))?;
            unlinkat(CWD, folder, AtFlags::REMOVEDIR)?;
        }
        Ok(())
    })?;
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::NOATIME;
    let large = openat(CWD, path("large".to_owned())?, flags, Mode::RUSR | Mode::WUSR)?;
    let mut piece = vec![7; PIECE_BYTES];
    let places = |step: usize| (0..LARGE_BYTES).step_by(step);
    perform("write by 64 KiB", &mut || {
        places(PIECE_BYTES).try_for_each(|place| pwrite(&large, &piece, place).map(drop))
    })?;
    let block = &mut piece[..BLOCK_BYTES];
    perform("rewrite by 8 KiB", &mut || {
        places(BLOCK_BYTES).try_for_each(|place| {
            pread(&large, &mut *block, place)?;
            pwrite(&large, block, place).map(drop)
        })
    })?;
    perform("read by 8 KiB", &mut || {
        places(BLOCK_BYTES).try_for_each(|place| pread(&large, &mut *block, place).map(drop))
    })?;
    Ok(times)
}

/// Writes a new file below this folder and syncs it after each megabyte; the name of that, and its
/// processor time. What a sync writes, the process writes itself: so it computes the checksums of
/// data, which kernel threads compute otherwise.
pub fn write_synced(below: &Path, spent: &dyn Fn() -> u64) -> io::Result<(String, u64)> {
    let piece = vec![7; SYNCED_BYTES];
    let file = tempfile::tempfile_in(below)?;
    let before = spent();
    for number in 0..SYNCED_PIECES {
        pwrite(&file, &piece, number * SYNCED_BYTES as u64)?;
        fdatasync(&file)?;
    }
    Ok(("write and sync by MiB".to_owned(), spent() - before))
}

const CREATED: OFlags = OFlags::CREATE.union(OFlags::WRONLY);

fn create(name: &CString) -> rustix::io::Result<()> {
    openat(CWD, name, CREATED, Mode::RUSR).map(drop)
}
