//! Configuration files, as far as checks ask for them.

use std::fs;
use std::path::{Path, PathBuf};

/// A line of fstab(5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FstabLine {
    /// The device, or what names it (`UUID=...`).
    pub source: String,
    /// Where it is mounted.
    pub target: PathBuf,
    /// The filesystem's type.
    pub kind: String,
    pub options: Vec<String>,
}

/// The lines of `etc/fstab`; none if there is no such file.
pub fn fstab(root: &Path) -> Vec<FstabLine> {
    let text = fs::read_to_string(root.join("etc/fstab")).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let line = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(FstabLine {
            source: words.next()?,
            // A blank is written so (fstab(5)).
            target: words.next()?.replace("\\040", " ").into(),
            kind: words.next()?,
            options: words.next().unwrap_or_default().split(',').map(str::to_owned).collect(),
        })
    };
    lines.filter_map(line).collect()
}

/// A setting of a daemon of systemd, from its file and the drop-ins beside it, of which the last
/// counts (systemd.syntax(7): `/etc` comes after `/run` and `/usr`, and names sort the drop-ins).
pub fn systemd_setting(root: &Path, file: &str, key: &str) -> Option<(PathBuf, String)> {
    let folders = ["usr/lib/systemd", "run/systemd", "etc/systemd"];
    let own = folders.iter().map(|folder| Path::new(folder).join(file));
    let mut all: Vec<PathBuf> = own.collect();
    let mut added: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| {
            let folder = Path::new(folder).join(format!("{file}.d"));
            let entries = fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
            let names = entries.map(move |entry| folder.join(entry.file_name()));
            names.filter(|path| path.extension().is_some_and(|end| end == "conf"))
        })
        .collect();
    added.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    all.extend(added);
    let mut set = all.into_iter().filter_map(|path| {
        let text = fs::read_to_string(root.join(&path)).ok()?;
        let pairs = text.lines().filter_map(|line| line.trim().split_once('='));
        let mut values = pairs.filter(|(own, _)| own.trim() == key).map(|(_, value)| value.trim());
        values.next_back().map(|value| (Path::new("/").join(&path), value.to_owned()))
    });
    set.next_back()
}

/// A time span as systemd.time(7) has it, in seconds: units may be missing or combined.
pub fn systemd_seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text.trim();
    if rest == "infinity" {
        return Some(f64::INFINITY);
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "" | "s" | "sec" | "second" | "seconds" => 1.0,
            "us" | "usec" | "μs" | "µs" => 1e-6,
            "ms" | "msec" => 1e-3,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            "w" | "week" | "weeks" => 604_800.0,
            _ => return None,
        };
        total += number * unit;
        rest = rest[letters..].trim_start();
    }
    Some(total)
}
