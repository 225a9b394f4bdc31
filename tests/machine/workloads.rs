//! Workloads that need other programs: archives against tar, a real build, fio.

use std::fs;

use serde_json::Value;
use ssdlab_host::program::GIT_REPOSITORY;

use super::support::{Place, number, sh};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("an_archive_is_unpacked_as_tar_does", archive),
        case("an_archive_that_climbs_out_is_refused_before_anything_runs", climbing_archive),
        case("a_repository_is_really_cloned_built_and_cleaned", git_build),
        case("a_fio_job_yields_metrics", fio),
        case("reads_writes_and_transactions_are_counted_on_every_kind_of_filesystem", io),
        case("a_file_that_does_not_fit_is_reported", full),
        case("a_fio_job_that_names_a_disk_is_refused", dangerous_fio),
        case("bonnie_s_tests_yield_rates_and_leave_what_they_must", bonnie),
        case("bonnie_fails_on_a_full_filesystem_and_says_so", full_bonnie),
    ]
}

fn archive() {
    let place = Place::new();
    let tree = place.path("tree");
    sh(&format!(
        "mkdir -p {0}/a/b {0}/empty; seq 100000 > {0}/a/numbers; printf x > {0}/a/b/x; : > \
         {0}/zero; ln -s ../a/numbers {0}/a/link; ln {0}/a/numbers {0}/hard; chmod 750 {0}/a/b/x; \
         touch -d @1000000000 {0}/zero",
        tree.display()
    ));
    for (flag, name) in [("", "t.tar"), ("-z", "t.tar.gz"), ("-J", "t.tar.xz")] {
        let path = place.path(name).display().to_string();
        sh(&format!("tar -C {} -c {flag} -f {path} .", tree.display()));
        let copy = place.path("copy").display().to_string();
        // A trial's directory is gone when it ends, so a phase of the trial keeps a copy.
        let plan = place.plan(&format!(
            r#"
            name = "archive"
            question = "Is it the same?"
            [target]
            size = "64 MiB"
            [workload]
            tree = {{ archive = "{path}" }}
            phases = [
                {{ do = "unpack", sync = true }},
                {{ do = "remount" }},
                {{ do = "command", run = ["sh", "-c", "rm -rf {copy}; cp -a . {copy}"] }},
            ]
        "#
        ));
        let (code, json) = place.run(&plan, &["--runs", "1"]);
        assert_eq!(code, 0, "{json:#}");
        let listing = |path: &str| {
            sh(&format!(
                "cd {path}; find . -mindepth 1 -printf '%p %y %m %s %l %n\\n' | grep -v ' d ' | \
                 sort; find . -type f -exec sha256sum {{}} + | sort; stat -c %Y zero"
            ))
        };
        assert_eq!(listing(&copy), listing(&tree.display().to_string()), "{name}");
    }
}

fn climbing_archive() {
    let place = Place::new();
    let path = place.path("evil.tar").display().to_string();
    sh(&format!("cd /; tar -c -P -f {path} --transform 's,^etc,../etc,' etc/hostname"));
    let output = place.ssdlab(&["run", "discard", "--source", &path]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("../etc/hostname"), "{message}");
    assert!(!place.path("data").exists());
}

fn git_build() {
    let place = Place::new();
    let repository = place.path("repository");
    fs::create_dir(&repository).unwrap();
    fs::write(
        repository.join("Makefile"),
        "all: a b\na b:\n\tseq 20000 > $@\nclean:\n\trm -f a b\n",
    )
    .unwrap();
    sh(&format!(
        "unset {}; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; cd {}; git init -q; \
         git add Makefile; git -c user.name=t -c user.email=t@example.org commit -qm one; \
         chown -R nobody .",
        GIT_REPOSITORY.join(" "),
        repository.display()
    ));
    let arguments = [
        "--runs",
        "1",
        "--source",
        repository.to_str().unwrap(),
        "--set",
        "atime=noatime",
        "--set",
        "filesystem=ext4",
    ];
    let (code, json) = place.run("journal", &arguments);
    assert_eq!(code, 0, "{json:#}");
    let on = &json["treatments"][0];
    assert!(number(on, "make", "written_bytes") > 200_000);
    assert!(number(on, "clone", "written_bytes") > 10_000);
    assert!(number(on, "clean", "written_bytes") > 0);
}

fn fio() {
    let place = Place::new();
    fs::write(place.path("job.fio"), "[job]\nrw=randwrite\nsize=4m\nbs=4k\nfsync=64\n").unwrap();
    let plan = place.plan(
        r#"
        name = "fio"
        question = "How many?"
        metric = "fio.write_iops"
        [target]
        size = "64 MiB"
        [factors]
        journal = ["off", "on"]
        filesystem = "ext4"
        [workload]
        phases = [{ do = "fio", job = "job.fio", sync = true }]
        [[claims]]
        id = "slower"
        says = "A journal makes random writes slower"
        phases = ["fio"]
        compare = { journal = "on" }
        at_most = 0.9
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "2"]);
    assert_eq!(code, 0, "{json:#}");
    let reported = &json["treatments"][0]["trials"][0]["phases"][0]["reported"];
    assert!(reported["fio.write_iops"].as_f64().unwrap() > 0.0);
    assert_eq!(json["claims"][0]["metric"], "fio.write_iops");
    assert!(json["claims"][0]["ratio"].is_number());
}

fn io() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "io"
        question = "How many?"
        metric = "latency.p99_ns"
        [target]
        size = "2 GiB"
        [factors]
        filesystem = ["ext4", "xfs", "btrfs"]
        [workload]
        [[workload.phases]]
        do = "io"
        name = "direct"
        io = { size = "16 MiB", direct = true, depth = 16, amount = "8 MiB", sync = "end" }
        [[workload.phases]]
        do = "io"
        name = "mixed"
        cold = true
        [workload.phases.io]
        size = "16 MiB"
        reads = "50 %"
        depth = 4
        operations = 1000
        sync = "every 50 writes"
        [[workload.phases]]
        do = "transactions"
        transactions = { number = 10, think = "1 ms", beside = "20 MB/s" }
        sync = true
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1", "--verify"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        assert_eq!(number(treatment, "direct", "operations"), 2048);
        assert_eq!(number(treatment, "direct", "application_bytes"), 8 << 20);
        assert!(number(treatment, "direct", "written_bytes") >= 8 << 20);
        assert_eq!(number(treatment, "mixed", "operations"), 1000);
        assert!(number(treatment, "mixed", "read_bytes") > 0);
        assert_eq!(number(treatment, "transactions", "operations"), 10);
        let reported = &treatment["trials"][0]["phases"][1]["reported"];
        for name in ["read.p99_ns", "write.p50_ns", "sync.max_ns", "read.ops_per_second"] {
            assert!(reported[name].as_f64().unwrap() > 0.0, "{name}");
        }
        let beside = &treatment["trials"][0]["phases"][2]["reported"]["beside.bytes_per_second"];
        assert!(beside.as_f64().unwrap() > 0.0);
        // The stream alongside them belongs to the workload, too.
        assert!(number(treatment, "transactions", "application_bytes") >= 1 << 20);
    }
}

fn full() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "full"
        question = "Does it fit?"
        [target]
        size = "64 MiB"
        [factors]
        filesystem = "ext4"
        [workload]
        phases = [{ do = "io", io = { size = "63 MiB", time = "1 s" }, sync = true }]
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_ne!(code, 0);
    let reason = json["treatments"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot write data"), "{reason}");
    assert!(reason.contains("the filesystem is full"), "{reason}");
}

fn dangerous_fio() {
    let place = Place::new();
    fs::write(place.path("job.fio"), "[job]\nrw=randwrite\nfilename=/dev/loop7\nsize=1m\n")
        .unwrap();
    let plan = place.plan(
        "name = \"f\"\nquestion = \"?\"\n[target]\nlab = \"image\"\n[workload]\nphases = \
         [{ do = \"fio\", job = \"job.fio\" }]\n",
    );
    let output = place.ssdlab(&["run", &plan]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/loop7"));
}

fn bonnie() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "bonnie"
        question = "How fast?"
        metric = "time_ns"
        [target]
        size = "256 MiB"
        [factors]
        filesystem = ["ext4", "btrfs"]
        [workload]
        bonnie = { size = "16 MiB", char_size = "1 MiB", files = "1:2000:0:2", least = "20 ms" }
        phases = [{ do = "bonnie" }]
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        let phases = treatment["trials"][0]["phases"].as_array().unwrap();
        assert_eq!(phases.len(), 12);
        for phase in phases {
            assert!(phase["operations"].as_u64().unwrap() > 0, "{phase:#}");
            assert!(phase["latency"]["p99_ns"].as_u64().unwrap() > 0, "{phase:#}");
            // All seekers and all passes: the kernel's count is the same, or the trial is void.
            assert!(phase["application_bytes"].is_u64(), "{phase:#}");
        }
        let written = phases[1]["written_bytes"].as_u64().unwrap();
        assert!(written >= 16 << 20, "{written}");
        // Caches were dropped before it.
        assert!(phases[4]["read_bytes"].as_u64().unwrap() >= 16 << 20);
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn full_bonnie() {
    let place = Place::new();
    let folder = place.path("small").display().to_string();
    sh(&format!("mkdir {folder}; mount -t tmpfs -o size=4m none {folder}"));
    let plan = place.plan(
        r#"
        name = "full"
        question = "Does it fit?"
        [workload]
        bonnie = { size = "16 MiB" }
        phases = [{ do = "bonnie", tests = ["seq_output_block"] }]
    "#,
    );
    let arguments = ["run", &plan, "--json", "--lab", "directory", "--dir", &folder, "--runs", "1"];
    let output = place.ssdlab(&arguments).output().unwrap();
    sh(&format!("umount {folder}"));
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = json["treatments"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("cannot write bonnie") && reason.contains("full"), "{reason}");
}
