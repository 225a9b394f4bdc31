//! The first screen: for one drive at most sixteen lines of eighty columns.

use ssdlab_host::cgroup_io::IoAccounting;
use ssdlab_host::mounts::printable;
use ssdlab_host::whole_disk::DiskKind;

use super::drive_writes::{DriveSinceBoot, NamedPartition, SinceBoot, StackedDevice};
use super::wording::{self, size};

const COLUMNS: usize = 80;
const LINES: usize = 16;

/// The rows of each of several drives.
const FEW_ROWS: usize = 3;

pub fn screen(found: &SinceBoot) -> String {
    let mut blocks: Vec<Vec<String>> = match found.devices.as_slice() {
        [] => vec![vec!["No drive is visible in /sys/block: ask on the host.".to_owned()]],
        [drive] => vec![block(found, drive, LINES - closing(found).len())],
        drives => drives.iter().map(|drive| block(found, drive, LINES / 2 + FEW_ROWS)).collect(),
    };
    let closing = closing(found);
    match blocks.last_mut() {
        Some(only) if found.devices.len() == 1 => only.extend(closing),
        _ => blocks.push(closing),
    }
    blocks.retain(|block| !block.is_empty());
    let blocks: Vec<String> = blocks.into_iter().map(|block| block.join("\n") + "\n").collect();
    blocks.join("\n")
}

/// A drive in so many lines at most.
fn block(found: &SinceBoot, drive: &DriveSinceBoot, most: usize) -> Vec<String> {
    let mut above = vec![head(drive), cut(&format!("  {}", wording::written(drive)))];
    let part = |part: &NamedPartition| format!("  {} of it to {}", size(part.bytes), part.device);
    above.extend(drive.named.as_ref().map(part));
    if !drive.is_counting {
        let turn_on = format!("echo 1 | sudo tee /sys/block/{}/queue/iostats", drive.device);
        above.extend(labelled("Do", &format!("To have it count: {turn_on}")));
    }
    let mut below = Vec::new();
    if drive.device_kind == DiskKind::Virtual {
        below.extend(labelled("Load", &load(drive)));
    }
    below.extend(stacks(drive));
    let wear = wording::wear(found, drive);
    below.extend(wear.into_iter().flat_map(|text| labelled("Wear", &text)));
    below.extend(wording::life(drive).into_iter().flat_map(|text| labelled("Life", &text)));
    below.extend(wording::advice(drive).into_iter().flat_map(|text| labelled("Do", text)));
    let left = most.saturating_sub(above.len() + below.len());
    let most_rows = if found.devices.len() == 1 { left } else { left.min(FEW_ROWS + 2) };
    above.extend(rows(found, drive, most_rows));
    above.extend(below);
    above
}

/// What a drive is, and where it is mounted.
fn head(drive: &DriveSinceBoot) -> String {
    let model = drive.model.as_ref().map_or(String::new(), |model| format!("  {model}"));
    let kind = wording::kind(drive.device_kind);
    let start = format!("{}{model}  {kind}, {}", drive.device, size(drive.size_bytes));
    let mounts = drive.filesystems.iter().map(|filesystem| printable(&filesystem.mount));
    let mounts: Vec<String> = mounts.collect();
    let start =
        if mounts.is_empty() { start } else { format!("{start}  on {}", mounts.join(", ")) };
    cut(&start)
}

/// Who wrote: the largest, the others together, and what no cgroup was charged with.
fn rows(found: &SinceBoot, drive: &DriveSinceBoot, most: usize) -> Vec<String> {
    let is_counted = found.accounting == IoAccounting::On && drive.counter_bytes > 0;
    if drive.rows.is_empty() && !is_counted {
        return Vec::new();
    }
    let fits = drive.rows.len() < most;
    let shown = if fits { drive.rows.len() } else { most.saturating_sub(2) };
    let line = |bytes: u64, says: &str| cut(&format!("{:>12}  {says}", size(bytes)));
    let mut lines: Vec<String> =
        drive.rows.iter().take(shown).map(|row| line(row.bytes, &wording::writer(row))).collect();
    let others = &drive.rows[shown..];
    if !others.is_empty() {
        let bytes = others.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
        lines.push(line(bytes, &format!("{} more (--json has all)", others.len())));
    }
    lines.push(if drive.attributed_bytes > drive.counter_bytes {
        "              they wrote more than was counted: iostats was off for a while".to_owned()
    } else {
        line(drive.unseen_bytes, wording::UNSEEN)
    });
    lines
}

/// The requests to a virtual disk, which its limits may be on.
fn load(drive: &DriveSinceBoot) -> String {
    let rate = drive.seconds.filter(|seconds| *seconds > 0).map_or(String::new(), |seconds| {
        format!(" ({:.1} a second)", drive.write_requests as f64 / seconds as f64)
    });
    format!(
        "{} writes{rate}, {} flushes, {} discarded",
        grouped(drive.write_requests),
        grouped(drive.flushes),
        size(drive.discarded_bytes)
    )
}

/// The devices above and below a drive, and what ext4 says of its own life.
fn stacks(drive: &DriveSinceBoot) -> Vec<String> {
    let listed = |devices: &[StackedDevice]| {
        let written = devices.iter().filter(|device| device.bytes > 0);
        let texts: Vec<String> = written
            .map(|device| {
                let name = device.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
                // A loop device counts what went to every file that was ever attached.
                let is_loop = device.device_kind == DiskKind::Loop;
                let bytes =
                    if is_loop { String::new() } else { format!(" {}", size(device.bytes)) };
                format!("{}{name}{bytes}", device.device)
            })
            .collect();
        texts.join(", ")
    };
    let lifetimes = drive.filesystems.iter().filter_map(|filesystem| {
        let bytes = filesystem.lifetime_written_bytes?;
        Some(format!("{} on {}", size(bytes), printable(&filesystem.mount)))
    });
    let lifetimes: Vec<String> = lifetimes.collect();
    let lines = [
        ("Above", listed(&drive.above)),
        ("Below", listed(&drive.layers)),
        (
            "ext4",
            if lifetimes.is_empty() {
                String::new()
            } else {
                format!("{} since it was made", lifetimes.join(", "))
            },
        ),
    ];
    let lines = lines.iter().filter(|(_, text)| !text.is_empty());
    lines.map(|(label, text)| cut(&format!("  {label:<5}  {text}"))).collect()
}

/// What holds for all drives: who is not counted, and how to see more.
fn closing(found: &SinceBoot) -> Vec<String> {
    let Some(drive) = found.devices.iter().max_by_key(|drive| drive.counter_bytes) else {
        return Vec::new();
    };
    let mut lines: Vec<String> = Vec::new();
    lines.extend(wording::uncounted(found).into_iter().flat_map(|text| labelled("Who", &text)));
    if found.accounting != IoAccounting::On {
        lines.extend(wording::living(found).into_iter().flat_map(|text| labelled("Now", &text)));
    }
    let command = format!("sudo ssdlab who /dev/{} --for 10m", drive.device);
    lines.extend(labelled("More", &format!("Who writes, to the byte: {command}")));
    lines
}

/// A text beside a label, wrapped.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![format!("  {label:<5} ")];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if last.chars().count() + 1 + word.chars().count() > COLUMNS && last.len() > 9 {
            lines.push(format!("{:8} {word}", ""));
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines
}

/// A line that fits.
fn cut(line: &str) -> String {
    if line.chars().count() <= COLUMNS {
        return line.to_owned();
    }
    line.chars().take(COLUMNS - 3).chain("...".chars()).collect()
}

/// A number with a comma after each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let chunks: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|chunk| str::from_utf8(chunk).ok()).collect();
    chunks.join(",")
}

#[cfg(test)]
mod tests;
