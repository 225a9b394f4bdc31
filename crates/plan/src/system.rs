//! The system of files that the commands of a plan run in, in guests: this machine's programs, or
//! those of another root.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::Share;
use toml::Spanned;

use super::error::PlanFault;
use super::lab_kind::LabKind;

/// The system that commands and the check of power cuts run in, instead of a few programs: they
/// find it as their root, read-only, and the filesystem under test in `/mnt`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "System")]
pub struct WrittenSystem {
    /// A folder, a tar archive or the image of a container with the whole system (default: `/usr`,
    /// `/bin`, `/sbin`, `/lib*` and `/etc` of this machine, as far as everybody may read them).
    #[schemars(example = &"debian.tar")]
    pub root: Option<PathBuf>,
    /// Files and folders of this machine that are there, too, each at its own path, or at one that
    /// is the same wherever the plan is: `{ path = "load", at = "/load" }`.
    #[serde(default)]
    #[schemars(example = ["/opt/database"])]
    pub add: Vec<AddedPath>,
    /// A sync that is made for the commands where they make none, to see whether what is found
    /// without it is no longer found.
    #[schemars(example = &"directory after change")]
    pub remedy: Option<SyncRemedy>,
    /// A share of the drive's requests that fail while phases run (EIO): of `writes` of files'
    /// data, or of `flushes`.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"2 % of writes")]
    pub write_errors: Option<Spanned<String>>,
}

/// A file or a folder of this machine that commands find in their system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a path, or { path = \"...\", at = \"/...\" }")]
pub enum AddedPath {
    /// At its own path.
    Own(PathBuf),
    /// At another.
    Placed(PlacedPath),
}

/// A file or a folder of this machine, and the path at which commands find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacedPath {
    /// What is added.
    pub path: PathBuf,
    /// Where commands find it.
    pub at: PathBuf,
}

impl AddedPath {
    /// What is added.
    pub fn path(&self) -> &Path {
        let (Self::Own(path) | Self::Placed(PlacedPath { path, .. })) = self;
        path
    }

    /// Where commands find it.
    pub fn at(&self) -> &Path {
        let (Self::Own(at) | Self::Placed(PlacedPath { at, .. })) = self;
        at
    }

    /// The same with an absolute path; `base` is the folder that relative ones start from.
    fn from(&self, base: &Path) -> Result<Self, PlanFault> {
        match self {
            Self::Own(path) => Ok(Self::Own(base.join(path))),
            Self::Placed(PlacedPath { path, at }) if at.is_absolute() => {
                Ok(Self::Placed(PlacedPath { path: base.join(path), at: at.clone() }))
            }
            Self::Placed(PlacedPath { at, .. }) => Err(PlanFault::nowhere(
                format!("at = \"{}\" in [workload.system] does not begin with /", at.display()),
                "commands find it at a path from the top of their system: at = \"/load\"",
            )),
        }
    }
}

/// The system that commands run in, with everything explicit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSystem {
    /// The whole system: a folder or an archive, an absolute path; none if it is this machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<PathBuf>,
    /// Files and folders that are there, too: absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<AddedPath>,
    /// A sync that is made for the commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<SyncRemedy>,
    /// Requests of the drive that fail: commands may fail, too, then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_errors: Option<WriteErrors>,
}

/// Requests of a drive that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteErrors {
    /// Of which kind they are.
    pub of: FailingRequest,
    /// How many of a million.
    pub per_million: u32,
}

/// A kind of request that may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailingRequest {
    /// A write of files' data only.
    Writes,
    /// A flush.
    Flushes,
}

impl FromStr for WriteErrors {
    type Err = String;

    /// Reads `2 % of writes`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (share, kind) = text.split_once(" of ").ok_or("it has no ` of `")?;
        let of = match kind.trim() {
            "writes" => FailingRequest::Writes,
            "flushes" => FailingRequest::Flushes,
            other => return Err(format!("`{other}` is neither writes nor flushes")),
        };
        let Share(share) = Share::try_from(share.trim().to_owned())?;
        if !(share > 0.0 && share <= 1.0) {
            return Err("the share is not above 0 and at most 100 %".to_owned());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1")]
        let per_million = (share * 1e6).round() as u32;
        Ok(Self { of, per_million })
    }
}

/// A sync that a program may lack.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum SyncRemedy {
    /// Of the directory, after a name in it was made, replaced or removed.
    #[serde(rename = "directory after change")]
    DirectoryAfterChange,
    /// Of a file, before it is renamed.
    #[serde(rename = "file before rename")]
    FileBeforeRename,
    /// Of all files that were written, before a line is printed.
    #[serde(rename = "files before line")]
    FilesBeforeLine,
    /// Of all other files that were written, before one is synced or renamed.
    #[serde(rename = "others before sync")]
    OthersBeforeSync,
}

impl SyncRemedy {
    /// All of them; those that change the least come first.
    pub const ALL: [Self; 4] = [
        Self::DirectoryAfterChange,
        Self::FileBeforeRename,
        Self::OthersBeforeSync,
        Self::FilesBeforeLine,
    ];
}

/// Resolves the system of a plan for a lab; `base` is the folder that relative paths start from.
pub(super) fn resolve(
    written: Option<&WrittenSystem>,
    lab: LabKind,
    base: &Path,
) -> Result<Option<CommandSystem>, PlanFault> {
    let Some(WrittenSystem { root, add, remedy, write_errors }) = written else { return Ok(None) };
    if lab != LabKind::Virtual {
        return Err(PlanFault::nowhere(
            "only guests have a system of their own ([workload.system])",
            "use --lab virtual, or leave it out",
        ));
    }
    let errors = |written: &Spanned<String>| {
        written.get_ref().parse().map_err(|why: String| {
            let says = format!("write_errors = \"{}\": {why}", written.get_ref());
            PlanFault::at(written.span(), says, "for example write_errors = \"2 % of writes\"")
        })
    };
    Ok(Some(CommandSystem {
        root: root.as_ref().map(|root| base.join(root)),
        add: add.iter().map(|added| added.from(base)).collect::<Result<_, _>>()?,
        remedy: *remedy,
        write_errors: write_errors.as_ref().map(errors).transpose()?,
    }))
}
