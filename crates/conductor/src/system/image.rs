//! Which layers an image of a container has: an OCI layout (`podman save --format oci-archive`), or
//! what `docker save` and `podman save` write.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The files that say what an image has: of docker, and of the OCI image specification.
const DOCKER: &str = "manifest.json";
const OCI: &str = "index.json";
const OCI_MARK: &str = "oci-layout";

/// The platform of guests, if an image has several.
const ARCHITECTURE: &str = "amd64";

/// How many indexes lead to an image.
const MOST_INDEXES: u32 = 4;

/// The largest text that describes an image, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// An image in docker's list of images.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct DockerImage {
    layers: Vec<PathBuf>,
}

/// An index of images, or an image.
#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    manifests: Vec<Blob>,
    #[serde(default)]
    layers: Vec<Blob>,
}

#[derive(Deserialize)]
struct Blob {
    digest: String,
    platform: Option<Platform>,
}

#[derive(Deserialize)]
struct Platform {
    architecture: String,
}

/// Whether a folder is the layout of an image.
pub(super) fn is_layout(folder: &Path) -> bool {
    folder.join(OCI_MARK).is_file() && folder.join(OCI).is_file()
}

/// Whether an archive holds an image instead of files of a system.
pub(super) fn is_packed(mut archive: &File) -> io::Result<bool> {
    archive.rewind()?;
    for entry in tar::Archive::new(archive).entries_with_seek()? {
        let entry = entry?;
        let path = entry.path()?;
        let name = path.strip_prefix(".").unwrap_or(&path).as_os_str();
        if [DOCKER, OCI_MARK].map(OsStr::new).contains(&name) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The layers of the only image in a folder, the lowest first.
pub(super) fn layers(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if folder.join(DOCKER).is_file() {
        let images: Vec<DockerImage> = read(&folder.join(DOCKER))?;
        let [DockerImage { layers }] = &images[..] else { return Err(not_one(images.len())) };
        return layers.iter().map(|layer| beneath(folder, layer)).collect();
    }
    let mut manifest: Manifest = read(&folder.join(OCI))?;
    for _ in 0..MOST_INDEXES {
        if manifest.manifests.is_empty() {
            let layers = manifest.layers.iter();
            return layers.map(|layer| blob(folder, &layer.digest)).collect();
        }
        let fits = |image: &&Blob| {
            let platform = image.platform.as_ref();
            platform.is_none_or(|platform| platform.architecture == ARCHITECTURE)
        };
        let images: Vec<&Blob> = manifest.manifests.iter().filter(fits).collect();
        let [image] = images[..] else { return Err(not_one(images.len())) };
        manifest = read(&blob(folder, &image.digest)?)?;
    }
    Err(io::Error::other("its indexes lead to no image"))
}

fn not_one(number: usize) -> io::Error {
    io::Error::other(format!("it has {number} images for {ARCHITECTURE}: save one image alone"))
}

/// Where a layout has what a digest identifies.
fn blob(folder: &Path, digest: &str) -> io::Result<PathBuf> {
    let (algorithm, hash) = digest.split_once(':').unwrap_or_default();
    beneath(folder, &Path::new("blobs").join(algorithm).join(hash))
}

/// A file below a folder, to which no link leads.
fn beneath(folder: &Path, name: &Path) -> io::Result<PathBuf> {
    let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(name);
    let is_inside = is_plain && path.canonicalize()?.starts_with(folder.canonicalize()?);
    if !is_inside {
        return Err(io::Error::other(format!("{} leads out of the image", name.display())));
    }
    Ok(path)
}

fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES).read_to_string(&mut text)?;
    serde_json::from_str(&text)
        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}
