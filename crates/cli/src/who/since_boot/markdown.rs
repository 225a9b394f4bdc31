//! The block for an issue or a forum: what was written, by what method, on what machine. It names
//! no file, no user's folder and no serial number.

use std::fmt::Write;
use std::path::Path;

use ssdlab_report::inline;

use super::drive_writes::{DriveSinceBoot, SinceBoot};
use super::wording::{self, size};

/// The mount points that are the same on most machines; others may name people.
const COMMON: [&str; 10] =
    ["/", "/boot", "/boot/efi", "/boot/firmware", "/home", "/opt", "/srv", "/tmp", "/usr", "/var"];

/// The text.
pub fn markdown(found: &SinceBoot) -> String {
    let mut text = String::new();
    for drive in &found.devices {
        block(&mut text, found, drive);
    }
    if let Some(says) = wording::uncounted(found) {
        let _ = writeln!(text, "{}\n", inline(&says));
    }
    let by = if found.is_root { "root" } else { "a user" };
    let _ = writeln!(
        text,
        "`ssdlab who` {}, Linux {}, as {by}; /sys/block/\\*/stat and cgroup v2 io.stat since boot.",
        env!("CARGO_PKG_VERSION"),
        inline(&found.kernel)
    );
    text
}

fn block(text: &mut String, found: &SinceBoot, drive: &DriveSinceBoot) {
    // The file of a loop device may name people.
    let model = drive.model.as_deref().filter(|_| !drive.device_kind.is_layer());
    let kind = wording::kind(drive.device_kind);
    let _ = writeln!(
        text,
        "**{}**: {}{kind}, {}{}\n\n{}\n",
        inline(&drive.device),
        model.map_or(String::new(), |model| format!("{}, ", inline(model))),
        size(drive.size_bytes),
        mounted(drive),
        inline(&wording::written(drive))
    );
    if !drive.rows.is_empty() {
        let _ = writeln!(text, "| bytes | by |\n|---:|---|");
        for row in &drive.rows {
            let _ = writeln!(text, "| {} | {} |", row.bytes, inline(&wording::writer(row)));
        }
        let _ = writeln!(text, "| {} | {} |", drive.unseen_bytes, wording::UNSEEN);
        let _ = writeln!(text, "| {} | the drive's counter |\n", drive.counter_bytes);
    }
    let says = [
        wording::wear(found, drive).map(|wear| format!("Wear: {wear}.")),
        wording::life(drive),
        wording::advice(drive).map(|advice| format!("To do: {advice}")),
    ];
    let says: Vec<String> = says.into_iter().flatten().map(|line| inline(&line)).collect();
    if !says.is_empty() {
        let _ = writeln!(text, "{}\n", says.join(" "));
    }
}

/// The filesystems, and where they are mounted if that names nobody.
fn mounted(drive: &DriveSinceBoot) -> String {
    let of = |kind: &str, mount: &Path| match mount.to_str().filter(|path| COMMON.contains(path)) {
        Some(path) => format!("; {} on {path}", inline(kind)),
        None => format!("; {}", inline(kind)),
    };
    drive.filesystems.iter().map(|own| of(&own.kind, &own.mount)).collect()
}
