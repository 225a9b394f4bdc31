//! What `ssdlab check` says of fio's job files.

use std::fs;

use super::{HEAD, Place};

const PLAN: &str = "[workload]\nphases = [{ do = \"fio\", job = \"job.fio\", sync = true }]\n";

fn checked(job: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let place = Place::new();
    fs::write(place.0.path().join("job.fio"), job).unwrap();
    fs::write(place.0.path().join("plan.toml"), format!("{HEAD}{PLAN}")).unwrap();
    fs::create_dir(place.0.path().join("d")).unwrap();
    let output = place.ssdlab(&[&["check", "plan.toml"][..], arguments].concat());
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    let said = said.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    (output.status.code(), said)
}

/// fio-job-options-refused: ordinary options are accepted, and what a run refuses, `check` does.
#[test]
fn case_fio_job_options_refused_with_a_reason_or_not_at_all() {
    let here = &["--lab", "directory", "--dir", "d"];
    let real = "; derived from axboe/fio#492, #1065, #662\n[global]\nioengine=libaio\ndirect=1\n\
                size=16m\nruntime=2\ntime_based\ngroup_reporting\n\
                filename_format=$jobname.$jobnum.$filenum\n[seq-read]\nrw=read\nbs=256k\n\
                stonewall\n[rand-mixed]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40\n\
                iodepth=16\nnumjobs=2\nstonewall\n\
                [verify-write]\nrw=randwrite\nbs=4k\nverify=crc32c\ndo_verify=1\n\
                time_based=0\nrate_iops=500\nthinktime=1ms\nstonewall\n";
    assert_eq!(checked(real, here).0, Some(0), "{}", checked(real, here).1);
    for (line, reason) in [
        ("include common.inc", "is not supported"),
        ("zonemode=zbd", "needs a zoned block device"),
        ("filename=/dev/sda", "leads out of the trial's directory"),
        ("exec_prerun=sync", "starts a program"),
    ] {
        let (code, said) = checked(&format!("[a]\nrw=read\nsize=1m\n{line}\n"), here);
        assert!(code == Some(2) && said.contains(reason) && said.contains(line), "{said}");
    }
}

/// Newcomer, missed 9: a simple job runs in the virtual lab; what stands in the way of others is
/// named.
#[test]
fn a_job_of_the_virtual_lab_is_checked() {
    let (code, said) = checked("[a]\nrw=randread\nsize=8m\nbs=4k\n", &[]);
    assert!(code == Some(0) && said.contains("the virtual lab has no fio"), "{said}");
    let (code, said) = checked("[a]\nrw=randread\nsize=8m\nnumjobs=4\n", &[]);
    assert!(code == Some(2) && said.contains("`numjobs=4`"), "{said}");
}
