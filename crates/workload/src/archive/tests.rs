//! Archives that are unpacked, and those that are refused.

use super::*;
use std::io::Write;
use std::os::unix::fs::FileExt;

use ssdlab_operations::Operation;

fn entry(builder: &mut tar::Builder<Vec<u8>>, name: &str, kind: EntryType, rest: &str) {
    let mut header = tar::Header::new_gnu();
    // Written by hand, as the library refuses to make such an entry.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    let data = if kind == EntryType::Regular { rest } else { "" };
    if kind != EntryType::Regular {
        header.as_old_mut().linkname[..rest.len()].copy_from_slice(rest.as_bytes());
    }
    header.set_size(data.len() as u64);
    header.set_cksum();
    builder.append(&header, data.as_bytes()).unwrap();
}

fn tarball(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, rest) in entries {
        entry(&mut builder, name, *kind, rest);
    }
    builder.into_inner().unwrap()
}

fn read_bytes(bytes: &[u8]) -> Result<Archive, ArchiveError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read(file.path(), 1.0, &FileHashes::new(), &Interrupt::default())
}

const PLAIN: [(&str, EntryType, &str); 5] = [
    ("./top/", EntryType::Directory, ""),
    ("top/a.c", EntryType::Regular, "int a;"),
    ("deep/er/b.c", EntryType::Regular, "int b;"),
    ("top/l", EntryType::Symlink, "../deep/er/b.c"),
    ("latest", EntryType::Symlink, "top/a.c"),
];

#[test]
fn parents_are_made_and_contents_kept() {
    let archive = read_bytes(&tarball(&PLAIN)).unwrap();
    let made: Vec<_> = archive
        .script
        .operations
        .iter()
        .filter_map(|operation| match operation {
            Operation::MakeDirectory { path, .. } => Some(path.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(made, ["top", "deep", "deep/er"]);
    let mut bytes = [0; 6];
    for (operation, content) in archive.script.steps() {
        if let (Operation::Open { path, .. }, Content::Archive { offset }) = (operation, content) {
            archive.tar.read_exact_at(&mut bytes, offset).unwrap();
            let is_a = path.as_bytes().ends_with(b"a.c");
            assert_eq!(&bytes, if is_a { b"int a;" } else { b"int b;" });
        }
    }
    assert_eq!(archive.script.starts(), 7);
}

#[test]
fn compressions_are_recognised_by_content() {
    let plain = tarball(&PLAIN);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&plain).unwrap();
    let zstd =
        ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    for bytes in [gzip.finish().unwrap(), xz.finish().unwrap(), zstd] {
        assert_eq!(read_bytes(&bytes).unwrap().script.starts(), 7);
    }
}

#[test]
fn what_climbs_out_is_refused() {
    use EntryType::{Directory, Link, Regular, Symlink};
    let cases: [&[(&str, EntryType, &str)]; 12] = [
        &[("a/d", Symlink, ".."), ("l", Symlink, "a/d/../x")],
        &[("../x", Regular, "")],
        &[("a/../../x", Regular, "")],
        &[("/etc/x", Regular, "")],
        &[("l", Symlink, "/etc")],
        &[("d/l", Symlink, "../../x")],
        &[("l", Symlink, "d"), ("l/x", Regular, "")],
        &[("l", Link, "../x")],
        &[("l", Link, "not-there")],
        &[("l", Symlink, "d"), ("l", Directory, "")],
        &[("a/b/l", Symlink, "../../x"), ("m", Link, "a/b/l")],
        &[("a/l", Symlink, "../x"), ("m", Link, "a/l"), ("n", Symlink, "m/y")],
    ];
    for entries in cases {
        let error = read_bytes(&tarball(entries)).unwrap_err();
        assert!(matches!(error, ArchiveError::Refused { .. }), "{entries:?}: {error}");
    }
    let device = [("n", EntryType::Char, "")];
    assert!(read_bytes(&tarball(&device)).is_err());
}

#[test]
fn broken_archives_are_errors() {
    let plain = tarball(&PLAIN);
    for bytes in [&b""[..], b"not a tar", &plain[..700], &[0x1f, 0x8b, 0, 0], &[0xfd, b'7']] {
        assert!(matches!(read_bytes(bytes), Err(ArchiveError::Unreadable { .. })));
    }
    assert!(
        read(Path::new("/no/such.tar"), 1.0, &FileHashes::new(), &Interrupt::default()).is_err()
    );
}

/// An archive of empty files with names of any length.
fn named(names: impl Iterator<Item = String>) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_mode(0o644);
    for name in names {
        builder.append_data(&mut header, name, &b""[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_deep_path_is_refused_with_its_depth() {
    let deep = |names: usize| named(std::iter::once(vec!["d"; names].join("/")));
    assert_eq!(read_bytes(&deep(128)).unwrap().script.starts(), 128);
    let error = read_bytes(&deep(129)).unwrap_err().to_string();
    assert!(error.contains("at entry 1, `d/d") && error.contains("129 names"), "{error}");
    let link = [("l", EntryType::Symlink, "a/../a/../a/../a/../a/../a/../a/../a")];
    assert!(read_bytes(&tarball(&link)).is_ok());
}

/// The script of an archive, with a limit of 4 MiB on all names.
fn within_4_mib(bytes: &[u8]) -> Result<Script, ArchiveError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    let tar = decode::plain(file, &Interrupt::default()).unwrap();
    script(&tar, Path::new("x.tar"), Budget::of(1 << 22, 4 << 20), &Interrupt::default())
}

/// Some kilobytes of archive expand to megabytes of names, as each path implies its directories.
#[test]
fn small_archives_of_many_names_are_refused() {
    let rest = format!("/{}", "d".repeat(30)).repeat(127);
    let bomb = gzip(&named((0..32).map(|number| format!("{number}{rest}"))));
    assert!(bomb.len() < 5_000, "{}", bomb.len());
    let error = within_4_mib(&bomb).unwrap_err();
    let ArchiveError::TooMuch { excess: ExceededLimit::NameBytes, number, .. } = error else {
        panic!("{error}")
    };
    // Each comes to some 255 KiB.
    assert_eq!(number, 17);
}

/// Targets of hard links count, too: each may be as long as a path.
#[test]
fn the_targets_of_hard_links_are_counted() {
    let target = vec!["d".repeat(31); 127].join("/");
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_mode(0o644);
    builder.append_data(&mut header, &target, &b""[..]).unwrap();
    header.set_entry_type(EntryType::Link);
    for number in 0..(4 << 20) / target.len() {
        builder.append_link(&mut header, number.to_string(), &target).unwrap();
    }
    let error = within_4_mib(&gzip(&builder.into_inner().unwrap())).unwrap_err();
    assert!(
        matches!(error, ArchiveError::TooMuch { excess: ExceededLimit::NameBytes, .. }),
        "{error}"
    );
}

/// A request to stop is seen while an archive is copied, decoded and looked through.
#[test]
fn reading_ends_on_an_interrupt() {
    let interrupt = Interrupt::default();
    interrupt.set();
    let bytes = tarball(&PLAIN);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let error = read(file.path(), 1.0, &FileHashes::new(), &interrupt).unwrap_err();
    assert!(matches!(error, ArchiveError::Input(InputError::Interrupted)), "{error}");
    for bytes in [gzip(&bytes), bytes] {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file.rewind().unwrap();
        let done =
            decode::plain(file, &interrupt).map_err(|error| error.to_string()).and_then(|tar| {
                let script = script(&tar, Path::new("x.tar"), Budget::default(), &interrupt);
                script.map_err(|error| error.to_string())
            });
        assert!(done.unwrap_err().contains("interrupted"));
    }
}

/// A header that promises a name of any length.
#[test]
fn a_long_name_is_read_no_further_than_names_go() {
    use EntryType::{GNULongLink, GNULongName, XGlobalHeader, XHeader};
    for kind in [GNULongName, GNULongLink, XHeader, XGlobalHeader] {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(3 << 20);
        header.set_cksum();
        builder.append(&header, io::repeat(b'x').take(3 << 20)).unwrap();
        let error = read_bytes(&gzip(&builder.into_inner().unwrap())).unwrap_err();
        assert!(matches!(error, ArchiveError::LongHeaders { number: 1, .. }), "{error}");
    }
}

/// The size in a header may be wrong.
#[test]
fn an_entry_that_is_longer_than_its_archive_is_an_error() {
    let mut header = tar::Header::new_gnu();
    header.set_size(1 << 50);
    header.set_path("x").unwrap();
    header.set_cksum();
    let error = read_bytes(header.as_bytes()).unwrap_err();
    assert!(matches!(error, ArchiveError::Unreadable { .. }), "{error}");
}

/// The bytes of files come from the archive as it was read, even if it has changed since.
#[test]
fn a_plain_archive_is_copied() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&tarball(&[("a", EntryType::Regular, "before")])).unwrap();
    let archive = read(file.path(), 1.0, &FileHashes::new(), &Interrupt::default()).unwrap();
    file.as_file().write_all_at(b"after!", 512).unwrap();
    let mut bytes = [0; 6];
    archive.tar.read_exact_at(&mut bytes, 512).unwrap();
    assert_eq!(&bytes, b"before");
}

#[test]
fn a_share_keeps_the_front() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&tarball(&PLAIN)).unwrap();
    assert_eq!(
        read(file.path(), 0.5, &FileHashes::new(), &Interrupt::default()).unwrap().script.starts(),
        4
    );
}
