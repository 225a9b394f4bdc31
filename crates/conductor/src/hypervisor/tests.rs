//! A guest's folder is there for as long as the guest.

use ssdlab_flash::{Drive, Specification};
use ssdlab_plan::find_host;

use super::*;
use crate::computing::Computing;

#[test]
fn a_guest_that_dies_leaves_its_name_to_the_next() {
    let place = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&place.path().join("undo")).unwrap();
    let interrupt = Interrupt::default();
    let hypervisor = Hypervisor::open(1 << 20, &interrupt, &mut journal).unwrap();
    // It ends before it connects, as a kernel that cannot boot does.
    let (path, [identity, version]) = ("/bin/false".into(), [String::new(), String::new()]);
    let kernel = LabKernel { path, identity, version };
    let run = Run {
        name: "guest-0",
        kernel: &Loaded { kernel, filesystems: Vec::new() },
        host: find_host("modern-2020s").unwrap(),
        seed: 1,
        limit: Nanos(1_000_000_000),
        patience: PATIENCE,
    };
    let job = Job::Computing(Computing { filesystem: "ext4".to_owned(), checksums: None });
    let file = "name = \"small\"\ncapacity = \"1 MiB\"\nspare_factor = 0.1\npages_per_block = 8";
    let drive = Drive::new(Specification::parse(file).unwrap(), 1);
    let flash = Arc::new(Mutex::new(Flash::new(drive)));
    for _ in 0..2 {
        let ended = hypervisor.run::<()>(&run, &job, &flash, None, |_, _| {});
        assert!(matches!(ended, Err(Failure::Died(_))), "{ended:?}");
        assert!(!hypervisor.folder.join(run.name).exists());
    }
}
