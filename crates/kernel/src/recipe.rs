//! The embedded files that build a lab kernel from a source.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::binary::make_own;
use super::error::KernelError;

/// A recipe: the script `build` and what it needs beside it.
pub struct Recipe {
    pub files: Vec<(&'static str, &'static str)>,
}

impl Recipe {
    /// The files of `kernel/`.
    pub fn shipped() -> Self {
        let files = vec![
            ("LICENSE", include_str!("../../../kernel/LICENSE")),
            ("apply", include_str!("../../../kernel/apply")),
            ("as", include_str!("../../../kernel/as")),
            ("build", include_str!("../../../kernel/build")),
            ("calls.c", include_str!("../../../kernel/calls.c")),
            ("config", include_str!("../../../kernel/config")),
            ("disks.c", include_str!("../../../kernel/disks.c")),
            ("origin.c", include_str!("../../../kernel/origin.c")),
            ("processor.c", include_str!("../../../kernel/processor.c")),
            ("ssdlab-host.h", include_str!("../../../kernel/ssdlab-host.h")),
            ("ssdlab.c", include_str!("../../../kernel/ssdlab.c")),
            ("ssdlab.h", include_str!("../../../kernel/ssdlab.h")),
        ];
        Self { files }
    }

    /// The identity of this recipe: 16 hexadecimal digits.
    pub fn identity(&self) -> String {
        let mut hasher = Sha256::new();
        for (name, text) in &self.files {
            hasher.update(format!("{name} {}\n{text}", text.len()));
        }
        hex::encode(hasher.finalize())[..16].to_owned()
    }

    /// Writes the files into a folder.
    pub fn unpack(&self, folder: &Path) -> Result<(), KernelError> {
        make_own(folder)?;
        for (name, text) in &self.files {
            let path = folder.join(name);
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            fs::write(&path, text)
                .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
                .map_err(KernelError::at("write", &path))?;
        }
        Ok(())
    }
}
