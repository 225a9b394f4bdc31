//! `ssdlab cut --device-log`: cuts the power of a device that dm-log-writes has logged.

use std::fs::File;
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{self as advice, DeviceCuts, DeviceExample};
use ssdlab_conductor::{DeviceLogError, Guests, LoggedDevice};
use ssdlab_disk::{Backend, Memory};
use ssdlab_filesystem as filesystem;
use ssdlab_flash::Nanos;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::{memory, regular_file};
use ssdlab_kernel::aged;
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::cuts::{CutMoments, Cuts};
use ssdlab_plan::{self as plan, Bytes, Overrides, Schedule};
use ssdlab_report as text;
use ssdlab_results::{DEVICE_CUT_SCHEMA, DeviceCase};

use super::cut_files::CutFiles;
use super::executors::{self, RunOptions};
use super::exit::{Exit, UsageError};
use super::{drive, output};

/// The plan of the lab.
const PLAN: &str = include_str!("cut_device.toml");

/// How often the contents of the image and the log are in memory at once.
const COPIES: u64 = 4;

/// A device, and how its power is cut.
#[derive(Debug, Args)]
pub struct CutDeviceArguments {
    /// Cut the power of a device instead, given its log of dm-log-writes.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["run", "trial", "results", "lose", "shrink"])]
    #[arg(requires_all = ["before", "filesystem"])]
    device_log: Option<PathBuf>,
    /// An image of the device before the log began; `truncate -s SIZE` makes a blank one.
    #[arg(long, value_name = "FILE", requires = "device_log")]
    before: Option<PathBuf>,
    /// The filesystem on the device.
    #[arg(long, value_name = "NAME", requires = "device_log", value_parser = named)]
    filesystem: Option<String>,
    /// The drive whose cache the device is to have: a shipped one, or a drive file.
    #[arg(long, value_name = "DRIVE", default_value = "970-pro", requires = "device_log")]
    drive: String,
    /// Cut only after this mark in the log.
    #[arg(long, value_name = "MARK", requires = "device_log")]
    after: Option<String>,
    /// How often the power is cut.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "device_log")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    cuts: u32,
    /// How many of the states that a cut may leave are examined.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "device_log")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    survivors: u32,
    /// The seed that chooses cuts and survivors.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "device_log")]
    seed: u64,
}

/// How the command is to go.
pub struct CutOptions<'a> {
    /// The only cut and survivor to recover from.
    pub only: Option<(u32, u32)>,
    /// What to keep of it.
    pub files: CutFiles<'a>,
    pub kernel: Option<&'a Path>,
    /// Whether to print JSON.
    pub json: bool,
}

/// What `ssdlab cut --device-log --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PrintedCuts")]
pub struct CutDeviceOutput {
    /// The version of this format.
    schema: u32,
    /// The log.
    log: String,
    /// The filesystem.
    filesystem: String,
    /// The drive.
    drive: String,
    /// The seed.
    seed: u64,
    /// The number of entries of the log.
    entries: u64,
    #[serde(flatten)]
    cuts: DeviceCuts,
    /// Every survivor of every cut.
    cases: Vec<DeviceCase>,
}

impl CutDeviceArguments {
    /// Runs the command.
    pub fn run(&self, how: CutOptions<'_>) -> Result<Exit, Report> {
        let (Some(path), Some(before), Some(filesystem)) =
            (&self.device_log, &self.before, &self.filesystem)
        else {
            unreachable!("without a run these arguments are required")
        };
        if let Some((cut, survivor)) = how.only
            && (cut >= self.cuts || survivor >= self.survivors)
        {
            return Err(UsageError::report(
                format!("there is no cut {cut}, survivor {survivor}"),
                format!(
                    "the cuts are 0 to {}, each with survivors 0 to {}",
                    self.cuts - 1,
                    self.survivors - 1
                ),
            ));
        }
        let log = self.read(path, before)?;
        let schedule = self.schedule(filesystem, log.capacity_bytes())?;
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let run_options = RunOptions {
            kernel: how.kernel,
            jobs: Some(1),
            any_size: true,
            ..RunOptions::default()
        };
        executors::in_guests(&schedule, run_options, &interrupt, |mut guests| {
            how.files.ask(&mut guests);
            self.cut(&guests, &log, how)
        })?;
        Ok(Exit::Done)
    }

    fn cut(
        &self,
        guests: &Guests<'_>,
        log: &LoggedDevice,
        how: CutOptions<'_>,
    ) -> Result<(), Report> {
        if let Some((cut, survivor)) = how.only {
            let (cut, remains) = guests.cut_device_once(log, cut, survivor)?;
            if how.json {
                output::print_json(&cut);
            } else {
                output::print(&text::device_cut(&cut, output::style()));
            }
            return Ok(how.files.keep(&remains)?);
        }
        let outcomes = guests.cut_device(log)?;
        let cuts = advice::device_cuts(&outcomes).expect("the number of cuts is not 0");
        if how.json {
            output::print_json(&self.printed(log, cuts, outcomes));
        } else {
            output::print(&self.shown(log, &cuts));
        }
        Ok(())
    }

    fn printed(
        &self,
        log: &LoggedDevice,
        cuts: DeviceCuts,
        outcomes: Vec<CutOutcome>,
    ) -> CutDeviceOutput {
        CutDeviceOutput {
            schema: DEVICE_CUT_SCHEMA,
            log: self.device_log.as_deref().map(shown).unwrap_or_default(),
            filesystem: self.filesystem.clone().unwrap_or_default(),
            drive: self.drive.clone(),
            seed: self.seed,
            entries: log.entries(),
            cuts,
            cases: outcomes.into_iter().map(LoggedDevice::case).collect(),
        }
    }

    fn shown(&self, log: &LoggedDevice, cuts: &DeviceCuts) -> String {
        let name = self.device_log.as_deref().map(shown).unwrap_or_default();
        let entries = log.entries();
        let table = text::device_cuts(cuts, output::style());
        let shown = format!("{name}: {entries} entries, with the cache of {}\n{table}", self.drive);
        let Some(example) = cuts.example else { return shown };
        format!("{shown}\nTo repeat one finding:\n    {}\n", self.reproducer(example))
    }

    /// The command that repeats one case.
    fn reproducer(&self, DeviceExample { cut, survivor }: DeviceExample) -> String {
        let path = |path: &Option<PathBuf>| path.as_deref().map(shown);
        let arguments = [
            ("--device-log", path(&self.device_log)),
            ("--before", path(&self.before)),
            ("--filesystem", self.filesystem.clone()),
            ("--drive", Some(self.drive.clone())),
            ("--after", self.after.clone()),
            ("--cuts", Some(self.cuts.to_string())),
            ("--survivors", Some(self.survivors.to_string())),
            ("--seed", Some(self.seed.to_string())),
            ("--cut", Some(cut.to_string())),
            ("--survivor", Some(survivor.to_string())),
        ];
        let given = arguments.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.fold("ssdlab cut".to_owned(), |command, (name, value)| {
            format!("{command} {name} {}", output::quoted(&value))
        })
    }

    /// Reads the log of a device, and the image of what it held before.
    fn read(&self, path: &Path, before: &Path) -> Result<LoggedDevice, Report> {
        let (image, log) = (open(before)?, open(path)?);
        self.check_size(before, &image)?;
        check_memory(&[&image, &log])?;
        let wrong = |error: DeviceLogError| {
            UsageError::report(format!("{}: {error}", path.display()), help(&error))
        };
        let original = contents(before, &image)?;
        let mut log = LoggedDevice::read(BufReader::new(log), original).map_err(wrong)?;
        if let Some(mark) = &self.after {
            log.begin_after(mark).map_err(wrong)?;
        }
        Ok(log)
    }

    /// Refuses an image of a size that the drive cannot have.
    fn check_size(&self, before: &Path, image: &File) -> Result<(), Report> {
        let bytes = image.metadata().into_diagnostic()?.len();
        let of_its_own = drive::load(&self.drive, None)?;
        let resized = drive::load_of_any_size(&self.drive, Some(Bytes(bytes)));
        let reason = match resized.map(|drive| drive.capacity_bytes()) {
            Ok(capacity) if capacity == bytes => return Ok(()),
            Ok(capacity) => format!("the nearest size is {capacity} bytes"),
            Err(error) => error.to_string(),
        };
        let (before, drive) = (before.display(), of_its_own.name);
        Err(UsageError::report(
            format!("{before} has {bytes} bytes, which the drive {drive} cannot have: {reason}"),
            "extend a copy of the image with `truncate -s`, as filesystems ignore what lies behind \
             them, or choose another --drive",
        ))
    }

    /// The schedule of the lab. A plan with power cuts has to promise something, a log does not, so
    /// they are entered here.
    fn schedule(&self, filesystem: &str, capacity_bytes: u64) -> Result<Schedule, Report> {
        let overrides = Overrides {
            drive: Some(self.drive.clone()),
            capacity: Some(capacity_bytes),
            set: vec![format!("filesystem={filesystem}")],
            seed: Some(self.seed),
            ..Overrides::default()
        };
        let schedule = plan::schedule("device-log.toml", PLAN, &overrides, Path::new("."))?;
        let cuts = Cuts {
            of_trial: self.cuts,
            moments: CutMoments::default(),
            survivors: self.survivors,
            check: None,
        };
        Ok(schedule.with_cuts(cuts))
    }
}

/// What to do about a log that cannot be used.
fn help(error: &DeviceLogError) -> &'static str {
    match error {
        DeviceLogError::Trace(_) => "give the contents of the log device, from its first byte on",
        DeviceLogError::Beyond { .. } => "--before is to be an image of the whole logged device",
        DeviceLogError::Empty => "log a device while it is written to",
        DeviceLogError::NoSuchMark { .. } => "name one of its marks, or leave --after out",
        DeviceLogError::LastMark { .. } => "name an earlier mark, or leave --after out",
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn named(name: &str) -> Result<String, String> {
    match filesystem::find(name) {
        Some(found) => Ok(found.name.to_owned()),
        None => Err(format!("it is none of {}", filesystem::names().join(", "))),
    }
}

fn open(path: &Path) -> Result<File, Report> {
    regular_file::open(path).map_err(|error| {
        UsageError::report(
            format!("{}: {error}", path.display()),
            "name a file; `dd` copies a log device into one",
        )
    })
}

/// Refuses files that do not fit into memory.
fn check_memory(files: &[&File]) -> Result<(), Report> {
    let sizes = files.iter().map(|file| file.metadata().map(|of| of.len().min(of.blocks() * 512)));
    let bytes = sizes.sum::<Result<u64, _>>().into_diagnostic()?;
    let (needed, free) = (bytes.saturating_mul(COPIES), memory::available_bytes());
    if needed <= free {
        return Ok(());
    }
    Err(UsageError::report(
        format!(
            "the image and the log have {}, and take {} of memory, but only {} are free",
            Bytes(bytes),
            Bytes(needed),
            Bytes(free)
        ),
        "log a smaller device, or less of what is done on it",
    ))
}

fn contents(path: &Path, image: &File) -> Result<Memory, Report> {
    let capacity_bytes = image.metadata().into_diagnostic()?.len();
    let mut contents = Memory::new(capacity_bytes);
    let loaded = aged::each_block(image, |offset_bytes, block| {
        contents.write(Nanos::ZERO, offset_bytes, block).map(drop).map_err(std::io::Error::other)
    });
    loaded.map_err(|error| {
        UsageError::report(format!("{}: {error}", path.display()), "name a readable image")
    })?;
    Ok(contents)
}
