//! A drive file for a drive of which only the ratings on its box are known.
//!
//! Each rating of speed determines a few values of the model, and becomes a figure that the drive
//! must reproduce. All other values are those of a drive that it is like, and are called assumed: a
//! box does not say what a flush or a discard takes.

use std::collections::BTreeMap;
use std::fmt::Write;

use ssdlab_quantity::{Bytes, Rate};
use toml::Table;

use crate::bench::Bench;
use crate::drive_file::{DriveFile, DriveFileError};
use crate::evidence::{Basis, Evidence, Value, ValueUnit};
use crate::figures::{FigureCheck, FigureQuantity};
use crate::grounded::{grounded, values};
use crate::specification::{Specification, Timing};

mod measured;

pub use measured::{MeasuredDrive, measured};

/// The ratings on a drive's box; none where it says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ratings {
    /// The capacity; whole pages of it are used.
    pub capacity: Option<Bytes>,
    /// Sequential reads.
    pub read: Option<Rate>,
    /// Sequential writes.
    pub write: Option<Rate>,
    /// Random reads of 4 KiB a second.
    pub random_reads: Option<u32>,
    /// Random writes of 4 KiB a second.
    pub random_writes: Option<u32>,
    /// What the host may write in the drive's life.
    pub written: Option<Bytes>,
}

/// The share by which a rating may be off: of the model, and of the values that it determines.
const WITHIN: f64 = 0.1;

/// How many times faster than the link the flash has to be, so that the link is what limits.
const AHEAD: f64 = 1.1;

/// What connects a drive.
struct Interface {
    name: &'static str,
    most_bytes_per_s: u64,
    /// The queue depth at which IOPS are rated.
    depth: u32,
}

const SATA: Interface = Interface { name: "SATA", most_bytes_per_s: 600_000_000, depth: 32 };
const PCIE: Interface =
    Interface { name: "PCIe 5.0 x4", most_bytes_per_s: 15_754_000_000, depth: 512 };

/// Makes the file of a drive: its name, its ratings, and the file of a drive that it is like.
///
/// Fails if that file is invalid, has no times to change, or if the drive cannot have the capacity
/// or reach a rating; the message then has the limit.
pub fn rated(name: &str, ratings: &Ratings, like: &str) -> Result<String, DriveFileError> {
    let mut made = RatedDrive::like(like)?;
    made.set_sizes(ratings)?;
    made.set_times(ratings)?;
    let head = format!(
        "# Made from the ratings on the box of a drive. Values whose basis is \"datasheet\"\n\
         # or \"fitted\" are rated, or follow from a rating; all others are assumed to be\n\
         # as in {}. A box does not say what a flush or a discard takes.\n",
        made.like.name
    );
    let text = made.text(&head, name, "by the ratings on its box");
    // Its places are those of a file that nobody has seen.
    made.check(&text).map_err(|error| DriveFileError { at: None, ..error })?;
    Ok(text)
}

/// A drive that is being made.
#[derive(Clone)]
struct RatedDrive {
    like: DriveFile,
    specification: Specification,
    values: BTreeMap<String, Value>,
    evidence: BTreeMap<String, Evidence>,
    /// The tables of figures.
    figures: String,
}

/// A part of a drive that all data pass.
struct Part {
    key: &'static str,
    /// What it carries.
    bytes_per_s: f64,
    /// Whether its value is a time, which is shorter on a faster drive.
    is_time: bool,
}

impl RatedDrive {
    fn like(text: &str) -> Result<Self, DriveFileError> {
        let like = DriveFile::parse(text)?;
        let specification = like.resolve()?;
        let as_there = |there: Option<Evidence>| Evidence {
            basis: Basis::Assumed,
            source: there.as_ref().map_or_else(
                || format!("as `{}`", like.name),
                |there| format!("as `{}`: {}", like.name, there.source),
            ),
            range: there.as_ref().and_then(|there| there.range.clone()),
            choices: there.map(|there| there.choices).unwrap_or_default(),
            fitted_to: Vec::new(),
        };
        let evidence = grounded(text)?
            .into_iter()
            .map(|value| (value.key, as_there(value.evidence)))
            .collect();
        let table: Table = toml::from_str(text).expect("a drive file is TOML");
        Ok(Self { values: values(&table), like, specification, evidence, figures: String::new() })
    }

    /// Sets the capacity and the endurance.
    fn set_sizes(&mut self, ratings: &Ratings) -> Result<(), DriveFileError> {
        let mut file = self.like.clone();
        if let Some(capacity) = ratings.capacity {
            file.check_capacity(capacity)?;
            file.with_capacity(capacity);
            self.set("capacity", size(*file.capacity.get_ref()), on_the_box(capacity));
        }
        if let Some(cache) = &file.slc_cache {
            let bits = u64::from(*cache.bits_per_cell.get_ref()).max(1);
            let all = Bytes(file.capacity.get_ref().0 / bits);
            self.bound_cache(*cache.size.get_ref(), all);
        }
        let Some(written) = ratings.written else { return Ok(()) };
        let cycles = written.0 / file.capacity.get_ref().0.max(1);
        let Some(endurance) = u32::try_from(cycles).ok().filter(|cycles| *cycles > 0) else {
            return Err(refused(
                format!("{written} written in all are {cycles} times the capacity of the drive"),
                "give the rated endurance (TBW) in TB",
            ));
        };
        let most = self.evidence.get("wear.endurance").and_then(|of| of.range.clone());
        let most = most.map(|[_, most]| most);
        let value = Value::Integer(endurance.into());
        let range =
            most.filter(|most| most.number() > value.number()).map(|most| [value.clone(), most]);
        let source = format!(
            "{written} written (on the box) are {endurance} times the capacity, without any \
             amplification: the least that the flash takes"
        );
        let evidence = Evidence { basis: Basis::Datasheet, range, ..assumed(source) };
        self.set("wear.endurance", value, evidence);
        Ok(())
    }

    /// Keeps the SLC cache, and what it is plausible to be, within all cells with one bit each.
    fn bound_cache(&mut self, own: Bytes, all: Bytes) {
        let range = self.evidence.get("slc_cache.size").and_then(|there| there.range.clone());
        let most = range.as_ref().and_then(|[_, most]| most.number());
        if most.is_none_or(|most| most <= all.0 as f64) && own < all {
            return;
        }
        let is_below = |least: &Value| least.number().is_some_and(|least| least < all.0 as f64);
        let bytes = |Bytes(bytes): Bytes| ValueUnit::Bytes.value(bytes as f64);
        let range =
            range.filter(|[least, _]| is_below(least)).map(|[least, _]| [least, bytes(all)]);
        let source = "all cells with one bit each are the most, which is less than the drive like \
                      it has or may have";
        self.set("slc_cache.size", bytes(own), Evidence { range, ..assumed(source) });
    }

    /// Sets the times, and describes the figures that they are fitted to.
    fn set_times(&mut self, ratings: &Ratings) -> Result<(), DriveFileError> {
        let Ratings { read, write, random_reads, random_writes, .. } = *ratings;
        let Some(timing) = self.specification.timing else {
            if read.or(write).is_none() && random_reads.or(random_writes).is_none() {
                return Ok(());
            }
            return Err(refused(
                format!("`{}` is a drive without times", self.like.name),
                "choose another drive that yours is like; `ssdlab drive list` has all",
            ));
        };
        let interface = if self.outruns(&SATA) { PCIE } else { SATA };
        self.set_rates(read, write, &timing, &interface)?;
        for (each_s, does) in [(random_reads, "read"), (random_writes, "write")] {
            let Some(each_s) = each_s else { continue };
            let figure = format!("random-{does}");
            self.fit(&format!("timing.controller_{does}"), period(each_s), &figure);
            let depth = interface.depth;
            let load =
                format!("request = \"4 KiB\", depth = {depth}, span = 0.05, requests = 20000");
            let what = format!("random {does}s of 4 KiB");
            self.figure(&figure, &format!("{each_s}/s"), &what, does, &load);
        }
        Ok(())
    }

    /// Whether the drive like it is faster than an interface.
    fn outruns(&self, interface: &Interface) -> bool {
        let link = self.values.get("timing.link_read").and_then(Value::number);
        link.is_some_and(|bytes_per_s| bytes_per_s > interface.most_bytes_per_s as f64)
    }

    /// Gives the link the rates of sequential requests, and the flash what the link needs.
    fn set_rates(
        &mut self,
        read: Option<Rate>,
        write: Option<Rate>,
        timing: &Timing,
        interface: &Interface,
    ) -> Result<(), DriveFileError> {
        let [bus, sensing, program] = self.parts(timing);
        let both = [(read, "read", sensing), (write, "write", program)];
        let fastest = both.iter().max_by_key(|(rate, ..)| *rate);
        if let Some((Some(rate), does, _)) = fastest {
            self.quicken(&bus, *rate, &format!("sequential-{does}"));
        }
        for (rate, does, part) in both {
            let Some(rate) = rate else { continue };
            interface.check(rate, does)?;
            let figure = format!("sequential-{does}");
            let value = rate_text(rate);
            self.quicken(&part, rate, &figure);
            self.fit(&format!("timing.link_{does}"), Value::Text(value.clone()), &figure);
            let load = "request = \"128 KiB\", order = \"sequential\", depth = 32, requests = 500";
            self.figure(&figure, &value, &format!("sequential {does}s"), does, load);
        }
        Ok(())
    }

    /// The channels, and the planes that read and those that program what the host writes.
    fn parts(&self, timing: &Timing) -> [Part; 3] {
        let Specification { page_bytes, superblock, slc_cache, .. } = self.specification;
        let bytes_per_s = |units: u32, nanos: u64| {
            f64::from(units) * f64::from(page_bytes) * 1e9 / nanos.max(1) as f64
        };
        let cell = slc_cache.and_then(|cache| cache.cell).unwrap_or(timing.cell);
        let has_own = self.values.contains_key("slc_cache.program");
        let program = if has_own { "slc_cache.program" } else { "timing.program" };
        [
            ("timing.bus", bytes_per_s(timing.channels, timing.transfer.0), false),
            ("timing.read", bytes_per_s(timing.units(), timing.cell.read.0), true),
            (program, bytes_per_s(superblock, cell.program.0), true),
        ]
        .map(|(key, bytes_per_s, is_time)| Part { key, bytes_per_s, is_time })
    }

    /// Makes a part faster if it is too slow for a rating.
    fn quicken(&mut self, part: &Part, Rate(rate): Rate, figure: &str) {
        let times = AHEAD * rate as f64 / part.bytes_per_s;
        let factor = if part.is_time { 1.0 / times } else { times };
        let scaled = |value: &Value| value.with_number(value.number()? * factor);
        if times > 1.0
            && let Some(value) = self.values.get(part.key).and_then(scaled)
        {
            self.fit(part.key, value, figure);
        }
    }

    /// Sets a value that a rating determines.
    fn fit(&mut self, key: &str, value: Value, figure: &str) {
        let end = |factor: f64| value.with_number(value.number()? * factor);
        let evidence = Evidence {
            basis: Basis::Fitted,
            range: end(1.0 - WITHIN).zip(end(1.0 + WITHIN)).map(<[Value; 2]>::from),
            fitted_to: vec![figure.to_owned()],
            ..assumed("what the rating needs; a tenth either way is assumed")
        };
        self.set(key, value, evidence);
    }

    fn set(&mut self, key: &str, value: Value, evidence: Evidence) {
        self.values.insert(key.to_owned(), value);
        self.evidence.insert(key.to_owned(), evidence);
    }

    /// Describes a figure. Reads are of a full drive, once what filled it is at rest; writes go to
    /// an empty one, of so many blocks that its SLC cache holds them.
    fn figure(&mut self, name: &str, value: &str, what: &str, does: &str, load: &str) {
        let state = match does {
            "read" => "before = 2000, blocks = 64",
            _ => "state = \"purged\", blocks = 64",
        };
        let _ = write!(
            self.figures,
            "\n[figures.{name}]\nsource = \"rated: {what}, on the box\"\nvalue = \"{value}\"\n\
             within = {WITHIN}\ntest = {{ do = \"{does}\", {load}, {state} }}\n"
        );
    }

    /// The file: a comment, the drive's name, and what its values are from.
    fn text(&self, head: &str, name: &str, origin: &str) -> String {
        let like = &self.like.name;
        let of_drive = self.like.description.as_str();
        let text = |text: &str| toml::Value::from(text).to_string();
        let mut out = format!(
            "{head}\nname = {}\ndescription = {}\n\n",
            text(name),
            text(&format!("{origin}, otherwise as {like}: {of_drive}")),
        );
        let is_inner = |key: &&String| key.contains('.');
        for (key, value) in self.values.iter().filter(|(key, _)| !is_inner(key)) {
            let _ = writeln!(out, "{key} = {}", value.clone().into_toml());
        }
        let mut last = "";
        for (path, value) in self.values.iter().filter(|(key, _)| is_inner(key)) {
            let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
            if table != last {
                let _ = write!(out, "\n[{table}]\n");
                last = table;
            }
            let _ = writeln!(out, "{key} = {}", value.clone().into_toml());
        }
        for (key, evidence) in &self.evidence {
            let evidence = toml::to_string(evidence).expect("evidence is a table");
            let _ = write!(out, "\n[evidence.{}]\n{evidence}", text(key));
        }
        out + &self.figures
    }

    /// Refuses a drive that is not valid, or does not reach a rating.
    fn check(&self, text: &str) -> Result<(), DriveFileError> {
        grounded(text)?;
        let file = DriveFile::parse(text)?;
        let mut bench = Bench::new(&file);
        for figure in file.figures.values() {
            let Some(ratio) = figure.compare(&mut bench).transpose()? else { continue };
            if let FigureCheck::Tested { expected, within, .. } = figure.check
                && (ratio - 1.0).abs() > within
            {
                let source = &figure.source;
                return Err(refused(
                    format!(
                        "a drive like `{}` does not reach {} ({source}): the rest of it allows {}",
                        self.like.name,
                        figure.value,
                        times(expected, ratio),
                    ),
                    "check the rating, or choose a drive that is more like yours; \
                     `ssdlab drive list` has all",
                ));
            }
        }
        Ok(())
    }
}

impl Interface {
    fn check(&self, rate: Rate, does: &str) -> Result<(), DriveFileError> {
        let (name, most) = (self.name, Rate(self.most_bytes_per_s));
        if rate.0 <= most.0 {
            return Ok(());
        }
        Err(refused(
            format!(
                "a {does} rating of {}: {name} carries at most {}",
                rate_text(rate),
                rate_text(most)
            ),
            "check the rating, or choose a drive with the interface of yours; \
             `ssdlab drive list` has all",
        ))
    }
}

fn refused(message: String, help: &str) -> DriveFileError {
    DriveFileError { message, at: None, help: help.to_owned() }
}

fn assumed(source: impl Into<String>) -> Evidence {
    Evidence {
        basis: Basis::Assumed,
        source: source.into(),
        range: None,
        choices: Vec::new(),
        fitted_to: Vec::new(),
    }
}

fn on_the_box(capacity: Bytes) -> Evidence {
    let source = format!("{capacity} (on the box), in whole pages");
    Evidence { basis: Basis::Datasheet, ..assumed(source) }
}

fn size(Bytes(bytes): Bytes) -> Value {
    Value::Integer(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// The time of one of so many a second.
fn period(each_s: u32) -> Value {
    ValueUnit::Nanos.value((1e9 / f64::from(each_s.max(1))).round())
}

fn rate_text(Rate(rate): Rate) -> String {
    match rate / 1_000_000 {
        millions if rate.is_multiple_of(1_000_000) => format!("{millions} MB/s"),
        _ => format!("{rate} B/s"),
    }
}

/// A multiple of a figure.
fn times(figure: FigureQuantity, factor: f64) -> String {
    match figure {
        FigureQuantity::BytesPerSecond(rate) => {
            format!("{:.0} MB/s", rate as f64 * factor / 1e6)
        }
        FigureQuantity::RequestsPerSecond(rate) => format!("{:.0}/s", rate * factor),
        FigureQuantity::Nanos(time) => format!("{:.0} ns", time as f64 * factor),
    }
}

#[cfg(test)]
mod tests;
