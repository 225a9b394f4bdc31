//! Builds by a recipe that takes no time, in a cache of their own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ssdlab_host::interrupt::Interrupt;
use tempfile::TempDir;

use super::build::BuildOrder;
use super::cache::KernelCache;
use super::recipe::Recipe;
use super::{
    BuildProgress, CacheEntry, EntryKind, KernelError, LabKernel, LinuxSource, RemovalSummary,
    binary, build, find, own_or_installed,
};

/// Makes a kernel from the source's text; the words `flex`, `broken` and `full` make it fail.
const BUILD: &str = r#"#!/bin/sh
exec 1>&2
echo "== unpack $1"
mkdir -p "$2/tree"
if grep -q flex "$1"; then echo "build: missing programs: flex"; exit 1; fi
echo "== configure"
echo "== compile with 2 jobs"
echo "  CC      kernel/fork.o"
if grep -q broken "$1"; then echo "fork.c:1: error"; echo "build: compiling failed"; exit 1; fi
if grep -q full "$1"; then echo "fork.o: final close failed: No space left on device"; exit 1; fi
cat >"$2/linux" <<END
#!/bin/sh
# It knows ssdlab.seed= and ssdlab.cpu= and was made of $(cksum <"$1").
case \$1 in
--version) echo $(head -c 4 "$1").1-ssdlab ;;
--showconfig) echo CONFIG_EXT4_FS=y; echo '# CONFIG_XFS_FS is not set'; echo CONFIG_BLOCK=y ;;
esac
END
chmod 755 "$2/linux"
"#;

struct Place {
    folder: TempDir,
    recipe: Recipe,
}

impl Place {
    fn new() -> Self {
        let recipe = Recipe { files: vec![("build", BUILD)] };
        Self { folder: tempfile::tempdir().unwrap(), recipe }
    }

    fn cache(&self) -> KernelCache {
        KernelCache::at(self.cache_folder())
    }

    fn cache_folder(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn found(&self) -> Result<LabKernel, KernelError> {
        self.cache().kernel(&self.recipe).map(|(kernel, _)| kernel)
    }

    /// Builds from a source with this text, which begins with the version, as the default kernel;
    /// the progress is put into words.
    fn build(&self, source: &str) -> (Result<LabKernel, KernelError>, Vec<String>) {
        self.build_as(source, true)
    }

    /// Builds one beside the default.
    fn build_beside(&self, source: &str) -> LabKernel {
        self.build_as(source, false).0.unwrap()
    }

    fn versions(&self) -> Vec<String> {
        let kernels = self.cache().kernels(&self.recipe).unwrap().into_iter();
        kernels.map(|(kernel, _)| kernel.version).collect()
    }

    fn build_as(
        &self,
        source: &str,
        is_default: bool,
    ) -> (Result<LabKernel, KernelError>, Vec<String>) {
        let path = self.folder.path().join("source.tar");
        fs::write(&path, source).unwrap();
        let source = LinuxSource::named(&path).unwrap();
        let mut told = Vec::new();
        let mut tell = |progress: BuildProgress<'_>| {
            told.push(match progress {
                BuildProgress::Current => "current".to_owned(),
                BuildProgress::Step(step) => step.split(' ').next().unwrap().to_owned(),
                BuildProgress::Compiled { files, .. } => format!("{files} compiled"),
            });
        };
        let interrupt = Interrupt::default();
        let order = BuildOrder { recipe: &self.recipe, source: &source, interrupt: &interrupt };
        let built = build::build(&self.cache(), &order, is_default, &mut tell);
        (built, told)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache_folder()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

#[test]
fn a_kernel_is_built_once_and_found() {
    let place = Place::new();
    assert!(matches!(place.found(), Err(KernelError::NotBuilt { .. })));
    let (built, told) = place.build("6.01");
    let built = built.unwrap();
    assert_eq!(told, ["unpack", "configure", "compile", "1 compiled", "remove"]);
    assert_eq!(built.version, "6.01.1-ssdlab");
    assert_eq!(place.found().unwrap(), built);
    // The tree is gone.
    assert_eq!(place.files(), ["kernel.json", &format!("linux-{}", built.identity), "lock"]);
    assert_eq!(place.build("6.01").1, ["current"]);
    let config = binary::config(&built).unwrap();
    assert_eq!(config.filesystems(), ["ext3", "ext4"]);
    assert_eq!(config.schedulers(), ["none"]);
}

#[test]
fn kernels_of_several_versions_are_kept_side_by_side() {
    let place = Place::new();
    // The first is the default, whichever way it was asked for.
    let first = place.build_beside("6.01");
    let beside = place.build_beside("6.12");
    assert_eq!(place.found().unwrap(), first);
    assert_eq!(place.versions(), ["6.01.1-ssdlab", "6.12.1-ssdlab"]);
    let record = format!("linux-{}.json", beside.identity);
    assert!(place.files().contains(&record));
    // Built again it is current, and can be made the default.
    assert_eq!(place.build_as("6.12", false).1, ["current"]);
    assert_eq!(place.found().unwrap(), first);
    place.cache().make_default(&beside.identity).unwrap();
    assert_eq!(place.found().unwrap(), beside);
    assert_eq!(place.versions(), ["6.12.1-ssdlab", "6.01.1-ssdlab"]);
    assert!(!place.files().contains(&record));
    // So does a build of the default source.
    assert_eq!(place.build("6.01").1, ["current"]);
    assert_eq!(place.found().unwrap(), first);
    assert_eq!(place.cache().listed().unwrap().len(), 2);
}

#[test]
fn a_new_build_of_a_version_replaces_the_old_one() {
    let place = Place::new();
    let first = place.build("6.01").0.unwrap();
    let beside = place.build_beside("6.12");
    // The default stays the default, and the other stays beside it.
    let (newer, told) = place.build_as("6.01, patched", false);
    let newer = newer.unwrap();
    assert!(first.identity != newer.identity && told.len() == 5);
    assert_eq!(place.found().unwrap(), newer);
    assert!(!first.path.exists() && beside.path.exists());
    let newer_beside = place.build_beside("6.12, patched");
    assert_eq!(place.found().unwrap(), newer);
    assert!(!beside.path.exists() && newer_beside.path.exists());
    assert_eq!(place.versions(), ["6.01.1-ssdlab", "6.12.1-ssdlab"]);
}

#[test]
fn a_kernel_is_built_in_a_folder_of_its_own_and_again() {
    let place = Place::new();
    let path = place.folder.path().join("source.tar");
    fs::write(&path, "6.01").unwrap();
    let source = LinuxSource::named(&path).unwrap();
    let interrupt = Interrupt::default();
    let order = BuildOrder { recipe: &place.recipe, source: &source, interrupt: &interrupt };
    let folder = place.folder.path().join("tree");
    let first = build::make(&order, &folder, &mut |_| ()).unwrap();
    assert_eq!(first.path, folder.join("output/linux"));
    fs::write(&path, "6.02").unwrap();
    let second = build::make(&order, &folder, &mut |_| ()).unwrap();
    assert_eq!(second.version, "6.02.1-ssdlab");
    assert!(matches!(place.found(), Err(KernelError::NotBuilt { .. })));
}

#[test]
fn a_failed_build_says_why_and_leaves_the_kernel() {
    let place = Place::new();
    let kernel = place.build("6.01").0.unwrap();
    let lacking = place.build("flex").0.unwrap_err();
    assert!(matches!(&lacking, KernelError::Lacking { said } if said.contains("programs: flex")));
    let failed = place.build("broken").0.unwrap_err();
    assert!(matches!(&failed, KernelError::Failed { said } if said.starts_with("fork.c:1: error")));
    let exhausted = place.build("full").0.unwrap_err();
    assert!(matches!(&exhausted, KernelError::Exhausted { resource: "disk space", .. }));
    assert_eq!(place.found().unwrap(), kernel);
    // The partial build is kept, to be resumed.
    assert!(place.files().contains(&"work".to_owned()));
    place.build("6.01").0.unwrap();
    assert!(!place.files().contains(&"work".to_owned()));
}

#[test]
fn a_kernel_of_another_recipe_is_not_used() {
    let mut place = Place::new();
    place.build("6.01").0.unwrap();
    place.recipe.files.push(("config", "CONFIG_XFS_FS=y\n"));
    assert!(matches!(place.found(), Err(KernelError::OtherRecipe { .. })));
    place.build_beside("6.12");
    // The others are of no use any more.
    assert_eq!(place.versions(), ["6.12.1-ssdlab"]);
    assert_eq!(place.cache().listed().unwrap().len(), 1);
    place.found().unwrap();
}

#[test]
fn a_kernel_that_was_changed_is_not_used() {
    let place = Place::new();
    let kernel = place.build("6.01").0.unwrap();
    let text = fs::read_to_string(&kernel.path).unwrap();
    fs::write(&kernel.path, text.replace("XFS", "EXT")).unwrap();
    assert!(matches!(place.found(), Err(KernelError::Damaged { .. })));
    fs::remove_file(&kernel.path).unwrap();
    assert!(matches!(place.found(), Err(KernelError::Damaged { .. })));
    assert_eq!(place.build("6.01").0.unwrap(), kernel);
}

#[test]
fn what_others_may_write_to_is_not_run() {
    let place = Place::new();
    let kernel = place.build("6.01").0.unwrap();
    for path in [place.folder.path().to_owned(), place.cache_folder(), kernel.path] {
        let mode = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        let KernelError::Exposed { exposed, .. } = place.found().unwrap_err() else { panic!() };
        assert_eq!(exposed.path, path);
        fs::set_permissions(&path, mode).unwrap();
        place.found().unwrap();
    }
}

#[test]
fn two_do_not_build_at_once() {
    let place = Place::new();
    let _other = place.cache().claim().unwrap();
    assert!(matches!(place.build("6.01").0, Err(KernelError::Busy { .. })));
}

#[test]
fn a_kernel_that_is_there_needs_no_build_to_end() {
    let place = Place::new();
    let kernel = place.build("6.01").0.unwrap();
    let _other = place.cache().claim().unwrap();
    assert_eq!(place.build("6.01").0.unwrap(), kernel);
    assert!(matches!(place.build("6.02").0, Err(KernelError::Busy { .. })));
}

#[test]
fn the_shipped_recipe_is_all_that_a_build_takes() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernel");
    let carried: Vec<_> = Recipe::shipped().files.iter().map(|(name, _)| *name).collect();
    let mut missing: Vec<_> = fs::read_dir(here)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !carried.contains(&name.as_str()))
        .collect();
    missing.sort();
    assert_eq!(missing, ["README.md", "check", "check.c"]);
}

#[test]
fn only_what_is_left_of_a_build_is_cleared() {
    let place = Place::new();
    let cache = place.cache();
    assert!(cache.listed().unwrap().is_empty());
    let clear = || {
        let mut cleared = RemovalSummary::default();
        cache.clear(&mut cleared).unwrap();
        (cleared.removed, cleared.in_use)
    };
    assert_eq!(clear(), (0, 0));
    place.build("source").0.unwrap();
    let listed = cache.listed().unwrap();
    let is_whole = |entry: &CacheEntry| entry.kind == EntryKind::Kernel && entry.size_bytes > 0;
    assert!(matches!(&listed[..], [kernel] if is_whole(kernel)));
    place.build("broken").0.unwrap_err();
    let is_build = |entry: &CacheEntry| entry.kind == EntryKind::KernelBuild;
    let unfinished = || cache.listed().unwrap().into_iter().find(is_build);
    assert!(unfinished().is_some_and(|build| build.size_bytes > 0 && !build.is_in_use));
    let claim = cache.claim().unwrap();
    assert_eq!(clear(), (0, 1));
    assert!(unfinished().is_some());
    drop(claim);
    assert_eq!(clear(), (1, 0));
    assert!(unfinished().is_none());
    place.found().unwrap();
}

#[test]
fn an_installed_kernel_is_used_where_the_user_has_none() {
    let (own, archive, installed) = (Place::new(), Place::new(), Place::new());
    let find = |recipe: &Recipe| {
        let found =
            own_or_installed(Ok(own.cache()), &[archive.cache(), installed.cache()], recipe);
        found.map(|(kernel, _)| kernel)
    };
    // Neither exists: the user's is to be built.
    let Err(KernelError::NotBuilt { folder }) = find(&own.recipe) else { panic!("there is none") };
    assert_eq!(folder, own.cache_folder());
    let shared = installed.build("6.01").0.unwrap();
    assert_eq!(find(&own.recipe).unwrap(), shared);
    let none = own_or_installed(Err(KernelError::NoCache), &[installed.cache()], &own.recipe);
    assert_eq!(none.unwrap().0, shared);
    // What came with the program goes before what a package has installed.
    let shipped = archive.build("6.02").0.unwrap();
    assert_eq!(find(&own.recipe).unwrap(), shipped);
    let mine = own.build("6.12").0.unwrap();
    assert_eq!(find(&own.recipe).unwrap(), mine);
    // Both are of another recipe: the user's is to be rebuilt.
    let other = Recipe { files: vec![("build", "another")] };
    let Err(KernelError::OtherRecipe { folder, .. }) = find(&other) else { panic!("none fits") };
    assert_eq!(folder, own.cache_folder());
}

#[test]
fn the_cache_shows_when_a_run_last_used_a_kernel() {
    let place = Place::new();
    let kernel = place.build("6.12").0.unwrap();
    let used_s = || place.cache().listed().unwrap()[0].used_s;
    // In the future, so that reading it does not count under `relatime`.
    let built = fs::File::open(&kernel.path).unwrap();
    let later = SystemTime::now() + Duration::from_hours(1);
    built.set_times(fs::FileTimes::new().set_accessed(later)).unwrap();
    let before_s = used_s();
    find(Some(&kernel.path)).unwrap();
    assert!(used_s() < before_s, "{before_s}, then {}", used_s());
}
