//! What changes while a run goes on: somebody begins to use the device, a folder is replaced, the
//! drive fails its writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::support::{Loop, Place, Process, sh, shown, wait_for};
use super::unsafe_targets::happens;
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("a_device_that_is_opened_in_mid_run_is_not_erased", opened),
        case("data_that_appears_in_mid_run_is_not_erased", written),
        case("a_folder_that_is_replaced_in_mid_run_is_not_followed", replaced),
        case("a_drive_that_fails_its_writes_fails_the_trial", failing_writes),
        case("data_beside_any_fixed_places_is_found", periodic),
    ]
}

/// A run on a device or in a folder, whose trials last until a file exists.
fn run(place: &Place, arguments: &[&str]) -> (Child, String) {
    let go_on = place.path("go-on").display().to_string();
    let plan = place.plan(&format!(
        "name = \"slow\"\nquestion = \"What happens?\"\n[target]\nsize = \"64 MiB\"\n[factors]\n\
         filesystem = \"ext4\"\n[repetitions]\nleast = 2\nmost = 2\n[workload]\nphases = [{{ do = \
         \"command\", name = \"wait\", run = \"sh -c 'until [ -e {go_on} ]; do sleep 0.02; done'\" \
         }}]\n"
    ));
    let mut command = place.ssdlab(&["run", &plan, "--json", "--no-trace"]);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let state = place.path("run").display().to_string();
    wait_for(|| fs::read_to_string("/proc/self/mounts").unwrap().contains(&state));
    sleep(Duration::from_millis(200));
    (child, go_on)
}

fn opened() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 128);
    let (child, go_on) = run(&place, &["--device", &device.device]);
    // Far from all that ext4 writes.
    let holder = Process::holding(&format!(
        "exec 3<>{0}; printf precious | dd of={0} bs=1M seek=90 conv=notrunc,fsync status=none",
        device.device
    ));
    fs::write(&go_on, "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let said = shown(&output);
    assert!(said.contains(&format!("is held open by {}", holder.named())), "{said}");
    let kept =
        sh(&format!("dd if={} bs=1M skip=90 count=1 status=none | head -c 8", device.backing));
    assert_eq!(kept, "precious");
    // Nor is the filesystem of the trial erased, as it may be what is used.
    assert!(sh(&format!("blkid -p {}", device.device)).contains("ext4"));
    drop((holder, device));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn written() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 128);
    let data = "PRECIOUS";
    // The device is surveyed twice before the first trial; each trial surveys it and erases the
    // signatures, when it begins and when it ends.
    let what = format!("printf {data} | dd of={} conv=notrunc,fsync status=none", device.backing);
    let programs = happens(&place, 7, &what);
    let output = place
        .ssdlab(&["run", "discard", "--scale", "0.01", "--runs", "2", "--device", &device.device])
        .env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(shown(&output).contains("its contents have changed"), "{}", shown(&output));
    assert_eq!(sh(&format!("head -c 8 {}", device.backing)), data);
    drop(device);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn replaced() {
    let place = Place::new();
    let images = place.path("images");
    // As a user may do in a folder of their own.
    sh(&format!("chown nobody {}", images.display()));
    let victim = place.path("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("disk.img"), "precious").unwrap();
    let (child, go_on) = run(&place, &["--lab", "image", "--dir", &images.display().to_string()]);
    let own = fs::read_dir(&images).unwrap().next().unwrap().unwrap().path();
    let moved = images.join("moved");
    fs::rename(&own, &moved).unwrap();
    symlink(&victim, &own).unwrap();
    fs::write(&go_on, "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert_eq!(fs::read_to_string(victim.join("disk.img")).unwrap(), "precious");
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 1);
    assert!(!own.exists() && own.symlink_metadata().is_err(), "the link is removed");
}

/// A tmpfs that is smaller than the drive whose file is on it.
struct Small(String);

impl Drop for Small {
    fn drop(&mut self) {
        sh(&format!("umount {}", self.0));
    }
}

fn failing_writes() {
    let place = Place::new();
    let folder = place.path("small").display().to_string();
    sh(&format!("mkdir {folder}; mount -t tmpfs -o size=40M tmpfs {folder}"));
    let small = Small(folder.clone());
    sh(&format!("truncate -s 400M {folder}/disk"));
    let device = Loop::over(&format!("{folder}/disk"));
    let plan = place.plan(
        "name = \"eio\"\nquestion = \"?\"\n[factors]\nfilesystem = [\"ext2\", \"ext4\"]\n\
         [repetitions]\nleast = 1\nmost = 1\n[workload]\ntree = { files = 200, size = \"60 MB\" }\n\
         phases = [{ do = \
         \"unpack\" }]\n",
    );
    let output = place
        .ssdlab(&["run", &plan, "--json", "--no-trace", "--device", &device.device])
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for treatment in json["treatments"].as_array().unwrap() {
        assert_eq!(treatment["status"], "failed", "{}", shown(&output));
    }
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    drop(device);
    drop(small);
}

/// A quarter of the device has data, in the middle between 256 places.
fn periodic() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 1024);
    let script = format!(
        "import os\nf = os.open('{}', os.O_WRONLY)\nfirst, size = 4 << 20, 1 << 30\n\
         step = (size - 2 * first) // 256\nfor i in range(256):\n  \
         os.pwrite(f, b'x' * (step // 4), first + step * i + step // 2)\n",
        device.backing
    );
    sh(&format!("python3 - <<'E'\n{script}E\nsync"));
    let output = place
        .ssdlab(&["run", "discard", "--runs", "1", "--device", &device.device])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    assert!(shown(&output).contains("data of an unknown kind"), "{}", shown(&output));
}
