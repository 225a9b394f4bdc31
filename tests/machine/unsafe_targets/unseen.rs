//! Devices that are in use where this process cannot look: through an overlay that no mount table
//! shows, and by processes outside its PID namespace.

use super::{Loop, Made, Mounted, Place, Process, Target, root, sh};

pub fn targets() -> Vec<Target> {
    vec![
        root(
            "unsafe_file_mounted_through_an_overlay_that_is_unmounted_lazily",
            |place| {
                let (disk, through, overlay) = on_an_overlay(place);
                drop(overlay);
                let mounted = Mounted::new(&through.device, place);
                let name = through.name().to_owned();
                Made::in_use(disk, (mounted, through)).word("OTHER", name)
            },
            "it may be used by OTHER, whose file is on a filesystem that cannot be seen from here",
        ),
        root(
            "unsafe_file_mounted_through_an_overlay_of_another_namespace",
            |place| {
                let (disk, through, overlay) = on_an_overlay(place);
                let target = place.path("m").display().to_string();
                sh(&format!("mkdir {target}"));
                let process = Process::holding("exec unshare --mount sleep 600");
                drop(overlay);
                sh(&format!("mount -o ro {} {target}", through.device));
                let name = through.name().to_owned();
                Made::in_use(disk, (Unmount(target), process, through)).word("OTHER", name)
            },
            "it may be used by OTHER, whose file is on a filesystem that cannot be seen from here",
        ),
        root(
            "unsafe_file_below_two_overlays",
            |place| {
                let (disk, below, overlay) = on_an_overlay(place);
                drop(below);
                let [target, work] = ["second", "empty"].map(|name| place.path(name));
                let through = format!("{}/disk", target.display());
                sh(&format!(
                    "mkdir {0} {1}; mount -t overlay -o xino=on,lowerdir={2}:{1} overlay {0}",
                    target.display(),
                    work.display(),
                    overlay.path("").display()
                ));
                let through = Loop::over(&through);
                let name = through.name().to_owned();
                let second = Unmount(target.display().to_string());
                Made::in_use(disk, (through, second, overlay)).word("OTHER", name)
            },
            "it is used by OTHER",
        ),
        root(
            "unsafe_held_open_outside_the_pid_namespace",
            |place| {
                let made = super::held(place, "exec 3<>DISK");
                Made { within: &["unshare", "--pid", "--fork", "--mount-proc"], ..made }
            },
            "it may be held open by processes outside this PID namespace",
        ),
        root(
            "unsafe_held_open_outside_a_pid_namespace_that_sees_all",
            |place| {
                let made = super::held(place, "exec 3<>DISK");
                Made { within: &["unshare", "--pid", "--fork"], ..made }
            },
            "it is held open by HOLDER, for writing",
        ),
    ]
}

/// A disk over a file in a layer of an overlay, with a filesystem; a loop device over the same file
/// on the overlay; and the overlay, unmounted lazily when dropped.
fn on_an_overlay(place: &Place) -> (Loop, Loop, Lazily) {
    let (overlay, upper) = Mounted::overlay(place);
    let backing = upper.join("disk").display().to_string();
    sh(&format!("truncate -s 64M {backing}"));
    let disk = Loop::over(&backing);
    sh(&format!("mkfs.ext4 -q {0}; sync {0}", disk.device));
    let through = Loop::over(&overlay.path("disk").display().to_string());
    (disk, through, Lazily(overlay))
}

/// An overlay that is unmounted lazily when dropped.
struct Lazily(Mounted);

impl Lazily {
    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path(name)
    }
}

impl Drop for Lazily {
    fn drop(&mut self) {
        sh(&format!("umount --lazy {}", self.0.path("").display()));
    }
}

/// A mount that is removed when dropped.
struct Unmount(String);

impl Drop for Unmount {
    fn drop(&mut self) {
        sh(&format!("umount {}", self.0));
    }
}
