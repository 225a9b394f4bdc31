//! A system has what was named, and nothing that leads out of it.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::{AddedPath, CommandSystem};

use super::{MadeSystem, make};

fn system(root: &Path, add: &Path) -> CommandSystem {
    CommandSystem {
        root: Some(root.to_owned()),
        add: vec![AddedPath::Own(add.to_owned())],
        remedy: None,
        write_errors: None,
    }
}

/// What a guest sees of a system: what is shown in place is linked there.
fn seen(root: &Path, made: &MadeSystem) -> PathBuf {
    let inner = root.join("system");
    for shown in &made.in_place {
        let [from, to] = shown.paths();
        if to.is_dir() {
            fs::remove_dir(&to).unwrap();
        }
        let _ = fs::remove_file(&to);
        symlink(from, to).unwrap();
    }
    inner
}

#[test]
fn a_folder_and_an_archive_give_the_same_and_all_places() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir_all(path("own/bin")).unwrap();
    fs::write(path("own/bin/tool"), "text").unwrap();
    fs::set_permissions(path("own/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/bin/tool", path("own/link")).unwrap();
    fs::write(path("added"), "more").unwrap();
    let mut archive = tar::Builder::new(fs::File::create(path("own.tar")).unwrap());
    archive.follow_symlinks(false);
    archive.append_dir_all(".", path("own")).unwrap();
    archive.finish().unwrap();
    drop(archive);
    for (made, root) in [("of-folder", "own"), ("of-archive", "own.tar")] {
        fs::create_dir(path(made)).unwrap();
        let system = system(&path(root), &path("added"));
        let told = make(&path(made), &system, &Interrupt::default()).unwrap();
        assert!(told.name.starts_with("system sha256:"), "{}", told.name);
        let inner = seen(&path(made), &told);
        assert_eq!(fs::read_to_string(inner.join("bin/tool")).unwrap(), "text");
        let mode = inner.join("bin/tool").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(fs::read_link(inner.join("link")).unwrap(), Path::new("/bin/tool"));
        let added = inner.join(path("added").strip_prefix("/").unwrap());
        assert_eq!(fs::read_to_string(added).unwrap(), "more");
        assert!(inner.join("mnt").is_dir() && inner.join("proc").is_dir());
    }
}

#[test]
fn links_of_a_system_lead_nowhere_but_into_it() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    for folder in ["own", "outside", "guest", "added"] {
        fs::create_dir(path(folder)).unwrap();
    }
    fs::write(path("added/file"), "text").unwrap();
    // The way to what is added, and to where something is mounted.
    let way = path("own").join(place.path().strip_prefix("/").unwrap());
    fs::create_dir_all(way.parent().unwrap()).unwrap();
    symlink("/no-such-folder", &way).unwrap();
    symlink(path("outside"), path("own/mnt")).unwrap();
    let whole = system(&path("own"), &path("added"));
    let made = make(&path("guest"), &whole, &Interrupt::default()).unwrap();
    seen(&path("guest"), &made);
    assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
    assert!(!Path::new("/no-such-folder").exists());
    let copy = path("guest/system/no-such-folder/added/file");
    assert_eq!(fs::read_to_string(copy).unwrap(), "text");
    symlink("round", path("own/round")).unwrap();
    fs::create_dir(path("other")).unwrap();
    let round = system(&path("own"), Path::new("/round/file"));
    assert!(make(&path("other"), &round, &Interrupt::default()).is_err());
}

#[test]
fn folders_of_an_archive_that_are_only_read_are_unpacked() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let mut archive = tar::Builder::new(fs::File::create(path("own.tar")).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mode(0o555);
    archive.append_data(&mut header, "bin", &[][..]).unwrap();
    archive.finish().unwrap();
    drop(archive);
    fs::create_dir(path("guest")).unwrap();
    fs::write(path("added"), "").unwrap();
    let whole = system(&path("own.tar"), &path("added"));
    make(&path("guest"), &whole, &Interrupt::default()).unwrap();
    let mode = path("guest/system/bin").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_is_not_there_is_named() {
    let place = tempfile::tempdir().unwrap();
    let system = system(place.path(), Path::new("/no/such/file"));
    let into = place.path().join("guest");
    fs::create_dir(&into).unwrap();
    let error = make(&into, &system, &Interrupt::default()).unwrap_err();
    assert!(error.to_string().contains("/no/such/file"), "{error}");
}

#[test]
fn what_no_guest_can_reach_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let [guest, own, socket] = ["guest", "own", "socket"].map(|name| place.path().join(name));
    for folder in [&guest, &own] {
        fs::create_dir(folder).unwrap();
    }
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let error = make(&guest, &system(&own, &socket), &Interrupt::default());
    let error = error.err().unwrap().to_string();
    assert!(error.contains("it is a socket"), "{error}");
}

/// A link of the system leads to a folder that would be shown: then it is copied.
#[test]
fn nothing_is_made_in_a_folder_that_is_shown() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir_all(path("own/usr/temporary")).unwrap();
    fs::create_dir(path("own/var")).unwrap();
    symlink("/usr/temporary/new", path("own/var/tmp")).unwrap();
    fs::create_dir(path("guest")).unwrap();
    fs::write(path("added"), "").unwrap();
    let whole = system(&path("own"), &path("added"));
    let made = make(&path("guest"), &whole, &Interrupt::default()).unwrap();
    assert_eq!(made.in_place.len(), 0);
    assert!(path("guest/system/usr/temporary/new").is_dir());
    assert!(!path("own/usr/temporary/new").exists());
}

/// A tar archive of files, folders (that end with `/`) and links (`name -> target`).
fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        if let Some((name, target)) = name.split_once(" -> ") {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            archive.append_link(&mut header, name, target).unwrap();
        } else {
            let kind =
                if name.ends_with('/') { tar::EntryType::Directory } else { header.entry_type() };
            header.set_entry_type(kind);
            header.set_size(text.len() as u64);
            archive.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
    }
    archive.into_inner().unwrap()
}

/// The layers of an image, the lowest first: later ones remove, replace and add.
fn layers() -> [Vec<u8>; 2] {
    let lower = [
        ("bin/", ""),
        ("bin/tool", "old"),
        ("bin/gone", "old"),
        ("all/", ""),
        ("all/old", "old"),
        ("becomes/", ""),
        ("becomes/file", "old"),
        ("link -> bin", ""),
    ];
    // A whiteout may come after its own layer's files, which it leaves.
    let upper = [
        ("bin/tool", "new"),
        ("bin/.wh.gone", ""),
        ("all/new", "new"),
        ("all/.wh..wh..opq", ""),
        ("becomes", "a file"),
        ("link/", ""),
        ("link/file", "new"),
    ];
    [archive(&lower), archive(&upper)]
}

/// Has an image unpacked, and compares what is seen with what its layers come to.
fn check_image(image: &Path) {
    let place = tempfile::tempdir().unwrap();
    let [guest, added] = ["guest", "added"].map(|name| place.path().join(name));
    fs::create_dir(&guest).unwrap();
    fs::write(&added, "").unwrap();
    make(&guest, &system(image, &added), &Interrupt::default()).unwrap();
    let inner = guest.join("system");
    let text = |name: &str| fs::read_to_string(inner.join(name)).ok();
    assert_eq!(text("bin/tool").as_deref(), Some("new"));
    assert_eq!(text("bin/gone"), None);
    assert_eq!(text("all/old"), None);
    assert_eq!(text("all/new").as_deref(), Some("new"));
    assert_eq!(text("becomes").as_deref(), Some("a file"));
    assert_eq!(text("link/file").as_deref(), Some("new"));
    assert!(!inner.join("link").is_symlink());
    let names = fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("blobs")));
    // Neither the archive's folder nor whiteouts are left.
    assert_eq!(fs::read_dir(inner.join("all")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&guest).unwrap().count(), 3);
}

#[test]
fn an_image_that_docker_has_saved_is_a_system() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("image.tar");
    let [lower, upper] = layers();
    let text = |layer: &[u8]| String::from_utf8(layer.to_vec()).unwrap();
    let listed = "[{\"Config\": \"c.json\", \"Layers\": [\"one/layer.tar\", \"two/layer.tar\"]}]";
    let (lower, upper) = (text(&lower), text(&upper));
    let entries = [
        ("one/layer.tar", lower.as_str()),
        ("two/layer.tar", upper.as_str()),
        ("manifest.json", listed),
    ];
    fs::write(&file, archive(&entries)).unwrap();
    check_image(&file);
}

#[test]
fn an_oci_layout_is_a_system_whether_it_is_packed_or_not() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("layout");
    let blobs = folder.join("blobs/sha256");
    fs::create_dir_all(&blobs).unwrap();
    for (name, layer) in ["aa", "bb"].into_iter().zip(layers()) {
        // As most tools write them.
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&layer).unwrap();
        fs::write(blobs.join(name), packed.finish().unwrap()).unwrap();
    }
    let image = r#"{"layers": [{"digest": "sha256:aa"}, {"digest": "sha256:bb"}]}"#;
    fs::write(blobs.join("cc"), image).unwrap();
    let index = r#"{"manifests": [
        {"digest": "sha256:dd", "platform": {"architecture": "arm64"}},
        {"digest": "sha256:cc", "platform": {"architecture": "amd64"}}]}"#;
    fs::write(folder.join("index.json"), index).unwrap();
    fs::write(folder.join("oci-layout"), "{}").unwrap();
    check_image(&folder);
    let packed = place.path().join("image.tar");
    let mut archive = tar::Builder::new(File::create(&packed).unwrap());
    archive.append_dir_all(".", &folder).unwrap();
    archive.finish().unwrap();
    drop(archive);
    check_image(&packed);
    let out = index.replace("sha256:cc", "sha256:../../../outside");
    fs::write(folder.join("index.json"), out).unwrap();
    fs::write(place.path().join("outside"), image).unwrap();
    fs::create_dir(place.path().join("guest")).unwrap();
    let whole = system(&folder, &place.path().join("outside"));
    let error = make(&place.path().join("guest"), &whole, &Interrupt::default());
    assert!(error.err().unwrap().to_string().contains("leads out of the image"));
}
