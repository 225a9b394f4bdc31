//! `ssdlab kernel`: builds and shows the lab kernel.

use std::fmt::Write;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Report};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::ProgramError;
use ssdlab_kernel::{self as kernel, Info, KernelError, Kind, Progress};
use ssdlab_plan::Bytes;
use ssdlab_report::duration;

use super::exit::Exit;
use super::{kernel_trial, output};

/// The interval between lines of a log while files are compiled.
const QUIET: Duration = Duration::from_secs(10);

/// Arguments of `ssdlab kernel`.
#[derive(Debug, Args)]
pub struct Kernel {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build it from a distribution's kernel source; an interrupted build resumes.
    Build {
        /// A tarball or source tree of Linux 6.1 to 6.12 (default: the one in /usr/src, preferring
        /// 6.1, then the newest).
        #[arg(long, value_name = "PATH")]
        source: Option<PathBuf>,
    },
    /// Show its version, origin and features.
    Info {
        /// A kernel other than the one built here.
        #[arg(long, value_name = "PATH")]
        kernel: Option<PathBuf>,
    },
}

impl Kernel {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::Build { source } => build(source.as_deref()),
            What::Info { kernel } => {
                output::print(&info(&kernel::info(kernel.as_deref())?));
                Ok(Exit::Done)
            }
        }
    }
}

fn build(source: Option<&Path>) -> Result<Exit, Report> {
    let interrupt = Interrupt::on_signals().into_diagnostic()?;
    let started = Instant::now();
    let mut shown = Shown::new();
    let built = kernel::build(source, &interrupt, &mut |progress| shown.tell(progress));
    shown.finish();
    let kernel = match built {
        Err(KernelError::Program(ProgramError::Interrupted)) => {
            output::tell("interrupted; `ssdlab kernel build` resumes it");
            return Ok(Exit::Interrupted);
        }
        built => built?,
    };
    kernel_trial::run(&kernel.path, &interrupt)?;
    if interrupt.is_set() {
        return Ok(Exit::Interrupted);
    }
    let size_bytes = fs::metadata(&kernel.path).into_diagnostic()?.len();
    let took = if shown.is_current {
        "already built and up to date".to_owned()
    } else {
        format!("built in {}", duration(started.elapsed().as_nanos() as f64))
    };
    output::print(&format!(
        "{}\nLinux {}, {}, {took}\n",
        kernel.path.display(),
        kernel.version,
        Bytes(size_bytes)
    ));
    Ok(Exit::Done)
}

fn info(info: &Info) -> String {
    let unknown = || "not recorded: it is not from the cache".to_owned();
    let origin =
        |of: &dyn Fn(&kernel::Origin) -> String| info.origin.as_ref().map_or_else(unknown, of);
    let source = origin(&|origin| {
        let path = origin.source.path.display();
        match (origin.source.kind, &origin.source.sha256) {
            (Kind::Tarball, Some(sha256)) => format!("{path}, SHA-256 {sha256}"),
            _ => format!("{path}, a source tree"),
        }
    });
    let rows = [
        ("kernel", info.kernel.path.display().to_string()),
        ("version", info.kernel.version.clone()),
        ("identity", info.kernel.identity.clone()),
        ("size", Bytes(info.size_bytes).to_string()),
        ("source", source),
        ("recipe", origin(&|origin| origin.recipe.clone())),
        ("compiler", origin(&|origin| origin.compiler.clone())),
        ("filesystems", info.filesystems.join(", ")),
        ("schedulers", info.schedulers.join(", ")),
        ("parameters", "ssdlab.seed=N: the only source of randomness".to_owned()),
        ("", "ssdlab.cpu=BLOCK,CALL,COPY,...: ps per block, ns per call and KiB".to_owned()),
    ];
    rows.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name:11}  {value}");
        text
    })
}

/// Progress on standard error: a bar on a terminal, plain lines elsewhere.
struct Shown {
    bar: Option<ProgressBar>,
    told: Instant,
    is_current: bool,
}

impl Shown {
    fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{bar:24} {percent:>3} % {elapsed} {wide_msg}")
                    .expect("the template is right");
            ProgressBar::new(100).with_style(style)
        });
        if let Some(bar) = &bar {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Self { bar, told: Instant::now(), is_current: false }
    }

    fn tell(&mut self, progress: Progress<'_>) {
        match (progress, &self.bar) {
            (Progress::Current, _) => self.is_current = true,
            (Progress::Step(step), Some(bar)) => bar.set_message(output::harmless(step)),
            (Progress::Step(step), None) => output::tell(step),
            (Progress::Compiled { files, about }, bar) => {
                // The number of files differs between versions of Linux.
                let percent = (100 * files / about).min(99);
                if let Some(bar) = bar {
                    bar.set_position(percent.into());
                } else if self.told.elapsed() >= QUIET {
                    self.told = Instant::now();
                    output::tell(&format!("compiling: {percent} %"));
                }
            }
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
