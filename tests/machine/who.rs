//! `ssdlab who` on loop devices over tmpfs: the rows add up to the device's counter to the byte,
//! and each program is charged what it caused.
//!
//! Every program runs in a cgroup of its own; then the filesystem is synced and frozen from
//! outside, so that what it left dirty in memory is written, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{Loop, Place, sh, shown};
use super::{Case, Needs, case};

/// Programs: what they need, and what they do in an empty folder beside `old`, an old tree.
const PROGRAMS: [(&str, &str, &str); 14] = [
    ("copy", "cp", "cp -r /usr/include/linux copy"),
    (
        "sqlite-rollback",
        "sqlite3",
        "(echo 'create table t(a,b);'; for i in $(seq 150); do \
         echo \"insert into t values($i,hex(randomblob(200)));\"; done) | sqlite3 r.db",
    ),
    (
        "sqlite-wal",
        "sqlite3",
        "(echo 'pragma journal_mode=wal; create table t(a,b);'; for i in $(seq 400); do \
         echo \"insert into t values($i,hex(randomblob(200)));\"; done) | sqlite3 w.db >/dev/null",
    ),
    (
        "fsync-log",
        "python3",
        "python3 -c \"import os\nf=os.open('log',os.O_CREAT|os.O_WRONLY|os.O_APPEND)\n\
         for i in range(300): os.write(f,b'x'*120); os.fsync(f)\"",
    ),
    (
        "temp-files",
        "python3",
        "python3 -c \"import os\nfor i in range(400):\n open(f't{i}','wb').write(b'y'*20000)\n \
         i%2 and os.unlink(f't{i}')\n i==200 and os.sync()\"",
    ),
    (
        "rename",
        "python3",
        "python3 -c \"import os\nfor i in range(150):\n f=open('n.tmp','wb'); f.write(b'z'*30000); \
         f.flush(); os.fsync(f.fileno()); f.close(); os.rename('n.tmp','n')\"",
    ),
    (
        "mmap",
        "python3",
        "python3 -c \"import mmap,os\nf=os.open('m',os.O_CREAT|os.O_RDWR); \
         os.ftruncate(f,16<<20); m=mmap.mmap(f,16<<20)\nfor i in range(0,16<<20,8192): m[i]=65\"",
    ),
    ("dd-direct", "dd", "dd if=/dev/zero of=dd bs=64k count=160 oflag=direct 2>/dev/null"),
    (
        "fio-direct",
        "fio",
        "fio --name=f --filename=ff --size=16M --rw=randwrite --bs=4k --ioengine=libaio \
         --iodepth=16 --direct=1 --io_size=16M >/dev/null",
    ),
    (
        "overwrite",
        "dd",
        "dd if=/dev/urandom of=../old/big bs=4k count=2000 seek=100 conv=notrunc 2>/dev/null",
    ),
    ("git", "git", GIT),
    (
        "overlay",
        "git",
        "mkdir lower upper work merged; cp -r /usr/include/linux/netfilter lower; \
         unshare -m sh merged.sh",
    ),
    ("rm-r", "rm", "rm -r ../old/tree"),
    ("create-tree", "mkdir", "mkdir d; for i in $(seq 600); do mkdir d/$i; : > d/$i/empty; done"),
];

/// A repository with one commit.
const GIT: &str = "git init -q r 2>/dev/null; cp -r /usr/include/linux/netfilter r; cd r; \
     git add .; git -c user.name=a -c user.email=a@example.org commit -qm first";

/// Programs that run at once: all but those that work on the old tree.
const AT_ONCE: usize = 12;

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = ["ext4", "xfs", "btrfs"]
        .into_iter()
        .flat_map(|kind| {
            [
                Case::new(leak(format!("who_on_{kind}_alone")), Needs::Root, move || alone(kind)),
                Case::new(leak(format!("who_on_{kind}_at_once")), Needs::Root, move || {
                    at_once(kind);
                }),
                Case::new(leak(format!("who_on_{kind}_without_a_sync")), Needs::Root, move || {
                    without_a_sync(kind);
                }),
            ]
        })
        .collect();
    cases.push(case("who_charges_through_a_loop_device", through_a_loop));
    cases.push(case("who_charges_through_a_later_loop_device", through_a_later_loop));
    cases.push(case("who_records_the_root_disk", root_disk));
    cases.push(case("who_shows_lines_and_a_file_meanwhile", meanwhile));
    cases.push(case("who_says_what_it_may_not_see", without_privileges));
    cases.push(case("who_without_a_journal_and_with_files", without_a_journal));
    cases.push(case("who_names_files_that_have_the_number_of_a_folder", numbers_of_folders));
    cases.push(case("who_names_files_after_those_without_a_name", numbers_of_unnamed));
    cases
}

fn leak(name: String) -> &'static str {
    Box::leak(name.into_boxed_str())
}

/// A filesystem on a loop device over tmpfs, unmounted when dropped.
struct Disk {
    device: Option<Loop>,
    tmpfs: PathBuf,
    mount: PathBuf,
}

impl Disk {
    fn new(place: &Place, name: &str, mkfs: &str) -> Self {
        let (tmpfs, mount) = (place.path(&format!("{name}-tmpfs")), place.path(name));
        fs::create_dir(&mount).unwrap();
        fs::create_dir(&tmpfs).unwrap();
        sh(&format!("mount -t tmpfs tmpfs {}", tmpfs.display()));
        sh(&format!("truncate -s 1G {}/image", tmpfs.display()));
        let device = Loop::over(&format!("{}/image", tmpfs.display()));
        sh(&format!("echo 1 > /sys/block/{}/queue/iostats", device.name()));
        sh(&format!("{mkfs} {} >/dev/null 2>&1", device.device));
        sh(&format!("mount {} {}", device.device, mount.display()));
        let disk = Self { device: Some(device), tmpfs, mount };
        disk.age();
        disk
    }

    fn age(&self) {
        sh(&format!(
            "cd {}; mkdir -p old/tree; dd if=/dev/zero of=old/big bs=1M count=16 2>/dev/null; \
             for i in $(seq 500); do head -c 3000 /dev/zero > old/tree/$i; done",
            self.mount.display()
        ));
        self.settle();
    }

    /// Writes everything, the journal's blocks in place included.
    fn settle(&self) {
        sh(&settling(&self.mount));
    }

    fn written_bytes(&self) -> u64 {
        let name = self.device.as_ref().unwrap().name();
        let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).status();
        self.device = None;
        let _ = Command::new("umount").args(["-l".as_ref(), self.tmpfs.as_os_str()]).status();
    }
}

fn settling(mount: &Path) -> String {
    let mount = mount.display();
    format!("sync -f {mount}; fsfreeze -f {mount}; fsfreeze -u {mount}")
}

fn mkfs(kind: &str) -> &'static str {
    match kind {
        // Tables that the kernel zeroes later are nobody's.
        "ext4" => "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0",
        "xfs" => "mkfs.xfs -q -f",
        _ => "mkfs.btrfs -q -f",
    }
}

/// Where the unified hierarchy of cgroups is mounted.
fn cgroups() -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let unified = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    PathBuf::from(unified.expect("cgroup v2").split(' ').nth(1).unwrap())
}

fn group(name: &str) -> String {
    format!("ssdlab-test-{}-{name}", std::process::id())
}

/// A shell command that runs a program in a cgroup and a folder of its own.
fn started(disk: &Disk, name: &str, script: &str) -> String {
    let group = cgroups().join(group(name));
    fs::create_dir_all(&group).unwrap();
    let folder = disk.mount.join(name);
    fs::create_dir_all(&folder).unwrap();
    let merged = "mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work merged; \
                  cd merged; rm netfilter/x_tables.h";
    fs::write(disk.tmpfs.join("merged.sh"), format!("{merged}; {GIT}")).unwrap();
    let script = script.replace("merged.sh", &disk.tmpfs.join("merged.sh").display().to_string());
    let file = disk.tmpfs.join(format!("{name}.sh"));
    let text =
        format!("echo $$ > {}/cgroup.procs; cd {}; {script}", group.display(), folder.display());
    fs::write(&file, text).unwrap();
    format!("sh {}", file.display())
}

fn remove_groups(names: &[&str]) {
    for name in names {
        let _ = fs::remove_dir(cgroups().join(group(name)));
    }
}

/// Runs `who` on a disk while a script runs, and compares it with the counter.
fn who(place: &Place, disk: &Disk, script: &str) -> Value {
    let before = disk.written_bytes();
    let mount = disk.mount.display().to_string();
    let mut who = place.ssdlab(&["who", &mount, "--json", "--", "sh", "-c", script]);
    let output = who.stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
    let counter = json["counter_bytes"].as_u64().unwrap();
    // The disk is idle before and after, but for some records of XFS's log after a thaw.
    let grown = disk.written_bytes() - before;
    assert!((counter..counter + (64 << 10)).contains(&grown), "{counter} {grown}");
    assert_eq!((json["unseen_bytes"].as_u64(), json["lost_events"].as_u64()), (Some(0), Some(0)));
    let sum: u64 = rows(&json).iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!(sum, counter, "{json:#}");
    assert_eq!(json["inexact"].as_array().unwrap().len(), 0);
    json
}

fn rows(json: &Value) -> &[Value] {
    json["rows"].as_array().unwrap()
}

/// The bytes of a program's cgroup, of one kind or of all.
fn bytes_of(json: &Value, name: &str, kind: Option<&str>) -> u64 {
    let cgroup = format!("/{}", group(name));
    let is_it = |row: &&Value| {
        row["cgroup"] == cgroup.as_str() && kind.is_none_or(|kind| row["kind"] == kind)
    };
    rows(json).iter().filter(is_it).map(|row| row["bytes"].as_u64().unwrap()).sum()
}

fn installed() -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_there = |program: &str| !sh(&format!("command -v {program} || true")).is_empty();
    let there = PROGRAMS.into_iter().filter(move |(_, program, _)| is_there(program));
    there.map(|(name, _, script)| (name, script))
}

fn run_alone(place: &Place, disk: &Disk, name: &str, script: &str) -> Value {
    let program = started(disk, name, script);
    disk.settle();
    if ["overwrite", "rm-r"].contains(&name) {
        sh("echo 3 > /proc/sys/vm/drop_caches");
    }
    let script = format!("{program}; {}", settling(&disk.mount));
    let json = who(place, disk, &script);
    remove_groups(&[name]);
    json
}

fn alone(kind: &str) {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs(kind));
    let (mut all, mut right, mut data, mut named) = (0, 0, 0, 0);
    for (name, script) in installed() {
        let json = run_alone(&place, &disk, name, script);
        let bytes = json["counter_bytes"].as_u64().unwrap();
        let own = bytes_of(&json, name, None);
        println!("{kind} {name}: {bytes} bytes, {:.3} % its own", share(own, bytes));
        if own != bytes {
            let others = rows(&json).iter().filter(|row| {
                row["cgroup"] != format!("/{}", group(name)).as_str() && row["bytes"] != 0
            });
            for row in others {
                println!(
                    "   {} {} {} {}",
                    row["program"], row["cgroup"], row["kind"], row["bytes"]
                );
            }
        }
        all += bytes;
        right += own;
        for row in rows(&json).iter().filter(|row| row["kind"] == "data") {
            let bytes = row["bytes"].as_u64().unwrap();
            data += bytes;
            named += if row["path"].is_string() { bytes } else { 0 };
            if row["path"].is_null() && bytes > 0 {
                println!("   no name: {row}");
            }
        }
    }
    println!("{kind} all: {all} bytes, {:.3} % their own", share(right, all));
    assert!(share(right, all) >= 99.9, "{right} of {all}");
    println!("{kind} all: {:.3} % of {data} bytes of data with a name", share(named, data));
    assert!(share(named, data) >= 99.0, "{named} of {data}");
}

fn share(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

fn at_once(kind: &str) {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs(kind));
    let programs: Vec<_> =
        installed().filter(|(name, _)| !["overwrite", "rm-r"].contains(name)).collect();
    assert!(programs.len() <= AT_ONCE);
    let mut alone = BTreeMap::new();
    for (name, script) in &programs {
        let json = run_alone(&place, &disk, name, script);
        alone.insert(*name, bytes_of(&json, name, Some("data")));
        sh(&format!("rm -r {}/{name}", disk.mount.display()));
    }
    let mut script = String::new();
    for (name, own) in &programs {
        script = format!("{script}{} & ", started(&disk, name, own));
    }
    script = format!("{script}wait; {}", settling(&disk.mount));
    disk.settle();
    let json = who(&place, &disk, &script);
    for (name, alone) in alone {
        let together = bytes_of(&json, name, Some("data"));
        println!("{kind} {name}: data {alone} alone, {together} at once");
        // What the kernel writes back early, and then again, depends on how busy the machine is.
        assert!(together.abs_diff(alone) <= alone / 8, "{name}");
    }
    for row in rows(&json).iter().filter(|row| row["kind"] == "data" && row["bytes"] != 0) {
        let Some(path) = row["path"].as_str() else { continue };
        let below = path.strip_prefix(&format!("{}/", disk.mount.display()));
        let folder = below.and_then(|below| below.split('/').next()).unwrap();
        assert_eq!(row["cgroup"], format!("/{}", group(folder)).as_str(), "{row}");
    }
    let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
    let own: u64 = names.iter().map(|name| bytes_of(&json, name, None)).sum();
    let all = json["counter_bytes"].as_u64().unwrap();
    println!("{kind} at once: {all} bytes, {:.3} % their own", share(own, all));
    assert!(share(own, all) >= 99.9, "{own} of {all}");
    remove_groups(&names);
}

/// The programs end, and the kernel writes when it likes.
fn without_a_sync(kind: &str) {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs(kind));
    let mut script = String::new();
    let names = ["copy", "create-tree"];
    for (name, own) in installed().filter(|(name, _)| names.contains(name)) {
        script = format!("{script}{} & ", started(&disk, name, own));
    }
    script += "wait; sleep 40";
    let json = who(&place, &disk, &script);
    let own: u64 = names.iter().map(|name| bytes_of(&json, name, None)).sum();
    let all = json["counter_bytes"].as_u64().unwrap();
    println!("{kind} without a sync: {all} bytes, {:.3} % their own", share(own, all));
    assert!(all > 1_000_000 && share(own, all) >= 99.0, "{own} of {all}");
    remove_groups(&names);
}

/// What is written to a filesystem in a file is charged to its writer, not to the loop's worker.
fn through_a_loop() {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs("ext4"));
    let image = disk.mount.join("image");
    sh(&format!("truncate -s 200M {}", image.display()));
    let upper = Loop::over(&image.display().to_string());
    let folder = place.path("upper");
    fs::create_dir(&folder).unwrap();
    let target = folder.display();
    sh(&format!("{} {1}; mount {1} {target}", mkfs("ext4"), upper.device));
    disk.settle();
    let script = format!(
        "{}; sync -f {target}; {}",
        started(&disk, "above", &format!("dd if=/dev/urandom of={target}/f bs=1M count=30 2>&1")),
        settling(&disk.mount)
    );
    let json = who(&place, &disk, &script);
    let own = bytes_of(&json, "above", None);
    let all = json["counter_bytes"].as_u64().unwrap();
    println!("through a loop: {all} bytes, {:.3} % the writer's", share(own, all));
    let layer = &json["layers"][0];
    println!("{layer}");
    assert_eq!(layer["device"], upper.name());
    assert_eq!(layer["on"], disk.device.as_ref().unwrap().name());
    assert!((0.99..1.1).contains(&layer["amplification"].as_f64().unwrap()), "{layer}");
    sh(&format!("umount {target}"));
    drop(upper);
    remove_groups(&["above"]);
    assert!(own >= 30 << 20 && share(own, all) >= 99.0, "{json:#}");
}

fn without_a_journal() {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", "mkfs.ext4 -q -E lazy_itable_init=0 -O ^has_journal");
    let (name, _, script) = PROGRAMS[3];
    assert_eq!(name, "fsync-log");
    let json = run_alone(&place, &disk, name, script);
    let own = bytes_of(&json, name, None);
    let all = json["counter_bytes"].as_u64().unwrap();
    assert!(share(own, all) >= 99.0, "{json:#}");
    // A file that stays is named; one that lives for a moment may be gone before it is looked up.
    let path = disk.mount.join(name).join("log").display().to_string();
    let is_named = |row: &&Value| row["path"] == path.as_str() && row["syncs"].as_u64() > Some(0);
    assert!(rows(&json).iter().any(|row| is_named(&row)), "{json:#}");
}

/// A loop device that is attached, and a filesystem that is mounted, while the recording goes on.
fn through_a_later_loop() {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs("ext4"));
    let (image, folder) = (disk.mount.join("image"), place.path("upper"));
    fs::create_dir(&folder).unwrap();
    sh(&format!("truncate -s 400M {}", image.display()));
    let (image, target) = (image.display(), folder.display());
    for (kind, mkfs) in [("ext4", mkfs("ext4")), ("xfs", mkfs("xfs"))] {
        let written =
            format!("dd if=/dev/urandom of={target}/f bs=1M count=60 2>&1; sync -f {target}");
        let script = format!(
            "device=$(losetup --find --show {image}); {mkfs} $device >/dev/null 2>&1; \
             mount $device {target}; sleep 1; {}; umount {target}; losetup --detach $device; {}",
            started(&disk, "above", &written),
            settling(&disk.mount)
        );
        disk.settle();
        let json = who(&place, &disk, &script);
        let own = bytes_of(&json, "above", None);
        let all = json["counter_bytes"].as_u64().unwrap();
        println!("{kind} on a later loop: {all} bytes, {own} the writer's; {}", json["layers"]);
        assert!(own >= 60 << 20 && share(own, all) >= 90.0, "{json:#}");
        remove_groups(&["above"]);
    }
}

/// Files that live for a moment, and have one after the other the number that a folder had: each is
/// named by what the filesystem reported of it.
fn numbers_of_folders() {
    names_after("ext4", "mkdir folder; rmdir folder");
}

/// Files of `O_TMPFILE`, and files that a rename replaces, which were there before.
fn numbers_of_unnamed() {
    for kind in ["ext4", "xfs"] {
        names_after(
            kind,
            "python3 -c 'import os; f = os.open(\".\", os.O_TMPFILE | os.O_RDWR); \
             os.write(f, bytes(5000)); os.fsync(f)'; : > new; mv new old",
        );
    }
}

/// Makes and deletes files behind a command that frees inodes: whichever has whose number, each
/// has its own name.
fn names_after(kind: &str, command: &str) {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs(kind));
    sh(&format!("mkdir {0}/in; : > {0}/in/old", disk.mount.display()));
    disk.settle();
    // XFS frees a number a moment after its file.
    let script = format!(
        "cd {}/in; for i in 1 2 3 4; do {command}; sleep 0.1; \
         dd if=/dev/urandom of=f$i bs=4096 count=$i conv=fsync status=none; rm f$i; \
         sleep 0.1; done; {}",
        disk.mount.display(),
        settling(&disk.mount)
    );
    let json = who(&place, &disk, &script);
    let mut seen = 0;
    for row in rows(&json).iter().filter(|row| row["program"] == "dd" && row["kind"] == "data") {
        let path = row["path"].as_str().unwrap_or_else(|| panic!("{json:#}"));
        let count = path.strip_prefix(&format!("{}/in/f", disk.mount.display())).unwrap();
        assert_eq!(row["bytes"], 4096 * count.parse::<u64>().unwrap(), "{row}");
        seen += 1;
    }
    assert_eq!(seen, 4, "{json:#}");
}

/// The disk below `/var/tmp`, whose counters are only read, while files and loop devices on it are
/// written to: next to nothing is charged to threads of the kernel.
fn root_disk() {
    let place = Place::new();
    let (image, folder) = (place.path("image"), place.path("mnt"));
    fs::create_dir(&folder).unwrap();
    sh(&format!("truncate -s 400M {}", image.display()));
    let (image, target) = (image.display(), folder.display());
    let script = format!(
        "device=$(losetup --find --show {image}); mkfs.ext4 -q $device; mount $device {target}; \
         end=$(($(date +%s) + 60)); while [ $(date +%s) -lt $end ]; do \
         rm -rf {0}/copy {target}/copy; cp -r /usr/include {0}/copy; \
         cp -r /usr/include {target}/copy; sync -f {target}; done; \
         umount {target}; losetup --detach $device",
        place.path("").display()
    );
    let here = place.path("").display().to_string();
    // What others dirtied before has no program's name.
    sh("sync");
    let mut who = place.ssdlab(&["who", &here, "--json", "--", "sh", "-c", &script]);
    let output = who.stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = json["counter_bytes"].as_u64().unwrap();
    let sum: u64 = rows(&json).iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!((sum, json["lost_events"].as_u64()), (all, Some(0)), "{json:#}");
    let of_kernel = |row: &&Value| row["cgroup"] == "" && row["program"] != "(filesystem itself)";
    let kernel = rows(&json).iter().filter(of_kernel);
    let kernel: u64 = kernel.map(|row| row["bytes"].as_u64().unwrap()).sum();
    println!("root disk: {all} bytes, {kernel} by the kernel; {}", json["layers"]);
    assert!(share(kernel, all) <= 1.0, "{json:#}");
}

/// Without a terminal, a line now and then; a file for Prometheus is written anew.
fn meanwhile() {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs("ext4"));
    let mount = disk.mount.display().to_string();
    let mut writer = Command::new("sh");
    let script = format!(
        "for i in $(seq 60); do dd if=/dev/zero of={mount}/f bs=64k count=16 \
                          oflag=direct 2>/dev/null; sleep 0.1; done"
    );
    let mut writer = writer.args(["-c", &script]).spawn().unwrap();
    let output = place.ssdlab(&["who", &mount, "--for", "2s", "-d", "500ms"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let name = disk.device.as_ref().unwrap().name();
    let lines = text.lines().filter(|line| line.contains(&format!(" s: {name} ")));
    assert!(lines.clone().count() >= 2 && lines.clone().any(|line| line.contains("dd")), "{text}");
    assert!(text.contains("check: the rows add up to the device's counter"), "{text}");
    let seen = place.path("seen").display().to_string();
    let command = format!("{} who {mount} --for 2s -d 500ms", super::program::ssdlab());
    sh(&format!("script --quiet --return --command '{command}' {seen} </dev/null >/dev/null"));
    let seen = fs::read_to_string(seen).unwrap();
    let (screen, table) = seen.split_once("\x1b[?1049l").expect(&seen);
    assert!(screen.contains("\x1b[?1049h") && screen.contains("a second"), "{seen}");
    assert!(table.contains("check: the rows add up") && !table.contains('\x1b'), "{seen}");
    let file = place.path("who.prom");
    let shown = file.display().to_string();
    let arguments = ["who", &mount, "--for", "1s", "--prometheus", &shown];
    assert!(place.ssdlab(&arguments).status().unwrap().success());
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(&format!("ssdlab_recorded_seconds{{device=\"{name}\"}} 1")), "{text}");
    writer.wait().unwrap();
    let nowhere = ["who", &mount, "--for", "1h", "--prometheus", "/nowhere/who.prom"];
    assert!(!place.ssdlab(&nowhere).status().unwrap().success());
}

/// As nobody, as root of a user namespace, without capabilities as in a container, with a counter
/// that stands still, and on a system that may not be written to.
fn without_privileges() {
    let place = Place::new();
    let disk = Disk::new(&place, "mnt", mkfs("ext4"));
    let mount = disk.mount.display().to_string();
    let program = place.path("ssdlab").display().to_string();
    fs::copy(super::program::ssdlab(), &program).unwrap();
    sh(&format!("chmod 755 {program} {}", place.path("").display()));
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    for (under, says) in [
        (nobody, "needs root of the machine"),
        ("unshare --user --map-root-user", "needs root of the machine"),
        ("setpriv --bounding-set=-sys_admin,-dac_override,-dac_read_search", "CAP_SYS_ADMIN"),
    ] {
        let since_boot = sh(&format!("{under} {program} who {mount}"));
        assert!(since_boot.contains("written"), "{under}: {since_boot}");
        let script = format!("{under} {program} who {mount} --for 1s 2>&1 && echo done");
        let recorded = sh(&format!("{script} || true")).replace('\n', " ");
        let is_there = recorded.contains("done") && under.contains("sys_admin");
        assert!(recorded.contains(says) || is_there, "{under}: {recorded}");
    }
    let read_only = format!("mount -o remount,bind,ro / && {program} who {mount} --for 1s");
    let found = sh(&format!("unshare -m sh -c '{read_only}'"));
    assert!(found.contains("check: the rows add up"), "{found}");
    let name = disk.device.as_ref().unwrap().name();
    sh(&format!("echo 0 > /sys/block/{name}/queue/iostats"));
    let found = sh(&format!("{program} who {mount} --for 1s; {program} who {mount}"));
    sh(&format!("echo 1 > /sys/block/{name}/queue/iostats"));
    assert_eq!(found.matches("counter stands still").count(), 2, "{found}");
}
