//! The archive of `make archive` or `make dist`, and its container image: in a root with nothing
//! else, an ordinary user gets answers. How long that took is printed.
//!
//! Without the archive in `target/dist`, or without root, a test is ignored with that reason. All
//! together take one or two minutes.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

use self::common::{sh, trial};

/// What is asked in the empty root, and part of each answer: the first is the README's, the second
/// has the filesystems that a shipped plan names, but zfs, which takes minutes.
const ASKED: [(&str, &str); 2] = [
    ("run sqlite --plausible 0", "How many transactions a second"),
    (
        "run filesystems --scale 0.001 --runs 1 --plausible 0 \
         --set filesystem=ext4,ext3,ext2,xfs,btrfs,f2fs,jfs,nilfs2,reiserfs",
        "Which filesystem is the fastest",
    ),
];

fn main() {
    let arguments = Arguments::from_args();
    let root = (!rustix::process::geteuid().is_root()).then_some("needs root");
    let lacks = |ending| dist(ending).is_none().then_some("needs an archive: make archive");
    let (archive, image) = (lacks("tar.gz"), lacks("-oci.tar"));
    let tests = vec![
        test("an_archive_answers_where_nothing_else_is", root.or(archive), archive_answers),
        test("an_archive_depends_on_nobody_who_made_it", archive, archive_is_plain),
        test("an_image_is_an_oci_layout", image, image_is_valid),
    ];
    libtest_mimic::run(&arguments, tests).exit();
}

/// A test that is ignored if something is missing.
fn test(name: &str, lacking: Option<&str>, run: fn()) -> Trial {
    let test = trial(name, run);
    match lacking {
        Some(reason) => test.with_kind(reason).with_ignored_flag(true),
        None => test,
    }
}

/// A file of `make archive`.
fn dist(ending: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/dist");
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = paths.filter(|path| path.to_string_lossy().ends_with(ending));
    found.next()
}

/// In a folder with a blank in its name, for a user without a name or a home. What a program that
/// is not linked statically needs is beside it; of a machine there is only what Linux provides.
fn archive_answers() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("root");
    fs::create_dir_all(root.join("opt/a folder")).unwrap();
    let (archive, root) = (dist("tar.gz").unwrap(), root.display().to_string());
    sh(&format!(
        "cd {root}; mkdir proc sys dev tmp; chmod 1777 tmp; touch dev/null; chmod 755 {}
         tar -C 'opt/a folder' -xzf {}
         mv opt/*/ssdlab-* 'opt/a folder/ssdlab'
         for file in $(ldd opt/*/ssdlab/bin/ssdlab | grep -o '/[^ ]*'); do
             install -D \"$file\" .$file
         done",
        place.path().display(),
        archive.display()
    ));
    let ask = |arguments: &str| {
        let started = Instant::now();
        let printed = sh(&format!(
            "unshare --mount sh -ec '
                 mount -t proc proc {root}/proc
                 mount -t sysfs sysfs {root}/sys
                 mount --bind /dev/null {root}/dev/null
                 exec env -i HOME=/tmp PATH=/usr/sbin:/usr/bin chroot --userspec=1000:1000 {root} \
                     \"/opt/a folder/ssdlab/bin/ssdlab\" {arguments}'"
        ));
        println!("    {:.1} s  ssdlab {arguments}", started.elapsed().as_secs_f64());
        printed
    };
    for (arguments, answer) in ASKED {
        let printed = ask(arguments);
        assert!(printed.contains(answer), "{printed}");
        let is_well = |word: &str| !printed.contains(word);
        assert!(is_well("not installed") && is_well("ended with exit code"), "{printed}");
    }
}

/// Names are sorted; all belongs to root, is of one time, and can be changed by nobody else.
fn archive_is_plain() {
    let archive = dist("tar.gz").unwrap();
    let listed = sh(&format!("TZ=UTC tar --full-time -tvzf {}", archive.display()));
    let mut times: Vec<&str> = Vec::new();
    for line in listed.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(fields[1], "0/0", "{line}");
        let mode = fields[0];
        assert!(["drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxr-xr-x"].contains(&mode), "{line}");
        times.push(fields[4]);
    }
    times.dedup();
    assert_eq!(times.len(), 1, "{times:?}");
    let names: Vec<String> =
        sh(&format!("tar -tzf {}", archive.display())).lines().map(str::to_owned).collect();
    for file in
        ["bin/ssdlab", "lib/ssdlab/guest/bin/mkfs.xfs", "share/doc/ssdlab/manual/index.html"]
    {
        assert!(names.iter().any(|name| name.ends_with(file)), "{file}");
    }
}

/// The fields that the image specification of OCI requires (1.0.2: image-layout.md, image-index.md,
/// manifest.md, config.md), and that each blob is what its digest and size say.
fn image_is_valid() {
    let (image, place) = (dist("-oci.tar").unwrap(), tempfile::tempdir().unwrap());
    let folder = place.path().display().to_string();
    sh(&format!("tar -C {folder} -xf {}", image.display()));
    let json = |path: &str| -> Value {
        serde_json::from_slice(&fs::read(place.path().join(path)).unwrap()).unwrap()
    };
    let blob = |descriptor: &Value, kind: &str| -> String {
        let says = format!("application/vnd.oci.image.{kind}");
        assert_eq!(descriptor["mediaType"], *says);
        let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
        let path = format!("blobs/sha256/{digest}");
        let is = sh(&format!("sha256sum <{folder}/{path}; stat -c %s {folder}/{path}"));
        assert_eq!(is, format!("{digest}  -\n{}", descriptor["size"]));
        path
    };
    assert_eq!(json("oci-layout")["imageLayoutVersion"], "1.0.0");
    let index = json("index.json");
    assert_eq!(index["schemaVersion"], 2);
    let manifest = json(&blob(&index["manifests"][0], "manifest.v1+json"));
    assert_eq!(manifest["schemaVersion"], 2);
    let config = json(&blob(&manifest["config"], "config.v1+json"));
    assert_eq!([&config["architecture"], &config["os"]], ["amd64", "linux"]);
    assert_eq!(config["rootfs"]["type"], "layers");
    let layer = blob(&manifest["layers"][0], "layer.v1.tar+gzip");
    let unpacked = sh(&format!("gzip -dc {folder}/{layer} | sha256sum"));
    let digest = config["rootfs"]["diff_ids"][0].as_str().unwrap();
    assert_eq!(format!("sha256:{}", unpacked.trim_end_matches([' ', '-'])), digest);
    let names = sh(&format!("tar -tzf {folder}/{layer}"));
    let entry = config["config"]["Entrypoint"][0].as_str().unwrap();
    assert!(names.lines().any(|name| name == format!(".{entry}")), "{names}");
}
