//! `ssdlab kernel`: builds, lists and shows lab kernels.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use comfy_table::{Table, presets};
use miette::{IntoDiagnostic, Report};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::ProgramError;
use ssdlab_kernel::{self as kernel, AvailableKernel, KernelError, KernelInfo, SourceKind};
use ssdlab_plan::Bytes;
use ssdlab_report::duration;

use super::exit::Exit;
use super::kernel_progress::KernelProgress;
use super::{kernel_trial, output};

/// Arguments of `ssdlab kernel`.
#[derive(Debug, Args)]
pub struct KernelCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build one from a distribution's kernel source; an interrupted build resumes.
    ///
    /// The cache keeps one kernel of each version. One built without --source becomes the default,
    /// and so does the first.
    Build {
        /// A tarball or source tree of Linux 6.1 to 6.12 or 7.3 (default: the one in /usr/src,
        /// preferring 6.1, then the newest up to 6.12).
        #[arg(long, value_name = "PATH")]
        source: Option<PathBuf>,
    },
    /// List the kernels that plans can name as levels of the factor `kernel`.
    List,
    /// Make one of them the default, which runs use if they name none.
    Default {
        /// Its version, or the first parts of it: 6.12.
        version: String,
    },
    /// Show its version, origin and features.
    Info {
        /// A kernel other than the one built here.
        #[arg(long, value_name = "PATH")]
        kernel: Option<PathBuf>,
    },
}

impl KernelCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match &self.what {
            What::Build { source } => build(source.as_deref()),
            What::List => {
                output::print(&list(&kernel::all()?));
                Ok(Exit::Done)
            }
            What::Default { version } => {
                let kernel = kernel::make_default(version)?;
                output::print(&format!("Linux {} is the default lab kernel\n", kernel.version));
                Ok(Exit::Done)
            }
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
    let mut shown = KernelProgress::new();
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
    let default = kernel::find(None)?;
    let role = if default == kernel {
        "the default lab kernel".to_owned()
    } else {
        format!(
            "kept beside the default, Linux {}; to make it the default: ssdlab kernel default {}",
            default.version, kernel.version
        )
    };
    output::print(&format!(
        "{}\nLinux {}, {}, {took}; {role}\n",
        kernel.path.display(),
        kernel.version,
        Bytes(size_bytes)
    ));
    Ok(Exit::Done)
}

fn list(all: &[AvailableKernel]) -> String {
    if all.is_empty() {
        return "there is no lab kernel; build one: ssdlab kernel build\n".to_owned();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["version", "identity", "source", ""]);
    for AvailableKernel { kernel, origin, is_default } in all {
        table.add_row([
            kernel.version.clone(),
            kernel.identity.clone(),
            origin.source.path.display().to_string(),
            (if *is_default { "default" } else { "" }).to_owned(),
        ]);
    }
    format!("{table}\n")
}

fn info(info: &KernelInfo) -> String {
    let unknown = || "not recorded: it is not from the cache".to_owned();
    let origin = |of: &dyn Fn(&kernel::KernelOrigin) -> String| {
        info.origin.as_ref().map_or_else(unknown, of)
    };
    let source = origin(&|origin| {
        let path = origin.source.path.display();
        match (origin.source.kind, &origin.source.sha256) {
            (SourceKind::Tarball, Some(sha256)) => format!("{path}, SHA-256 {sha256}"),
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
