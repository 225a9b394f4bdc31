//! Appended files, a tree that is read, mail and rotated logs, on two filesystems: each does what
//! it says, and leaves what `--verify` expects.

use serde_json::Value;

use super::support::Place;

pub const CASES: [(&str, fn()); 6] = [
    (
        "case_phases_cannot_be_compared_turso_1864_phases_are_compared_by_what_they_flush",
        syncs_compared,
    ),
    ("fedora_2021_contents_compress_as_they_say", compressed),
    ("an_appended_record_is_on_the_drive_however_it_is_synced", appended),
    ("a_tree_is_read_from_the_drive_or_from_memory", read),
    ("each_message_is_synced_as_its_agent_does", mail),
    ("a_rotated_log_is_written_once_and_compressed_copies_besides", rotated),
];

/// Runs these phases on two filesystems; returns those of ext4 and those of btrfs.
fn phases(workload: &str) -> [Vec<Value>; 2] {
    let plan = format!(
        r#"
        name = "workloads"
        question = "Does it do what it says?"
        [target]
        lab = "virtual"
        [factors]
        filesystem = ["ext4", "btrfs"]
        atime = "noatime"
        [workload]
        {workload}
    "#
    );
    let json = Place::new().run(&plan);
    ["ext4", "btrfs"].map(|filesystem| {
        let is_it = |own: &&Value| own["levels"]["filesystem"] == filesystem;
        let trial =
            &json["treatments"].as_array().unwrap().iter().find(is_it).unwrap()["trials"][0];
        assert_eq!(trial["status"], "ok", "{json}");
        trial["phases"].as_array().unwrap().clone()
    })
}

fn count(phase: &Value, metric: &str) -> u64 {
    phase[metric].as_u64().unwrap_or_else(|| panic!("no {metric} in {phase}"))
}

/// The ratio and the reason of a claim come from the two phases of each trial.
fn syncs_compared() {
    let phase = |name: &str| {
        let io = "size = \"4 MiB\", pattern = \"sequential\", sync = \"every 1 write\", \
                  operations = 200";
        format!(
            "{{ do = \"io\", name = \"{name}\", io = {{ {io}, file = \"{name}\", sync_by = \
             \"{name}\" }} }}"
        )
    };
    let plan = format!(
        r#"
        name = "syncs"
        question = "Does a log synced by fdatasync take more records?"
        metric = "ops_per_second"
        [factors]
        filesystem = "ext4"
        [workload]
        phases = [{}, {}]
        [[claims]]
        id = "faster"
        says = "fdatasync is faster"
        compare = {{ phase = "fdatasync" }}
        against = {{ phase = "fsync" }}
        at_least = 1.05
        "#,
        phase("fdatasync"),
        phase("fsync")
    );
    let json = Place::new().run(&plan);
    let phases = &json["treatments"][0]["trials"][0]["phases"];
    let of = |index: usize, metric: &str| phases[index][metric].as_f64().unwrap();
    let claim = &json["claims"][0];
    let ratio = of(0, "ops_per_second") / of(1, "ops_per_second");
    assert!((claim["ratio"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-9, "{claim}");
    assert_eq!(
        (&claim["phases"][0], &claim["against_phase"]),
        (&"fdatasync".into(), &"fsync".into())
    );
    // fsync commits the journal for the file's times, too.
    assert!(of(0, "flushes") < of(1, "flushes") && ratio > 1.0, "{json}");
}

/// What btrfs writes of each kind of contents, with and without compression.
fn compressed() {
    let phase = |contents: &str| {
        let io = "size = \"8 MiB\", pattern = \"sequential\", block = \"128 KiB\"";
        format!(
            "{{ do = \"io\", name = \"{contents}\", sync = true, io = {{ {io}, amount = \"8 MiB\", \
             file = \"{contents}\", contents = \"{contents}\" }} }}"
        )
    };
    let plan = format!(
        r#"
        name = "contents"
        question = "What does compression spare?"
        metric = "written_bytes"
        [factors]
        filesystem = "btrfs"
        mount = ["defaults", "compress=zstd:1"]
        [workload]
        phases = [{}, {}, {}]
        [[claims]]
        id = "random"
        says = "Random bytes do not compress"
        phases = ["random"]
        compare = {{ mount = "compress=zstd:1" }}
        at_least = 0.95
        "#,
        phase("random"),
        phase("text"),
        phase("zeros")
    );
    let json = Place::new().run(&plan);
    let written = |treatment: usize, phase: usize| {
        let phases = &json["treatments"][treatment]["trials"][0]["phases"];
        phases[phase]["written_bytes"].as_f64().unwrap()
    };
    let ratio = |phase: usize| written(1, phase) / written(0, phase);
    assert!((0.95..1.05).contains(&ratio(0)), "{json}");
    assert!((0.15..0.45).contains(&ratio(1)), "{json}");
    assert!(ratio(2) < 0.15, "{json}");
    let claim = json["claims"][0]["by_construction"].as_str().unwrap();
    assert!(claim.contains("random bytes, which do not compress"), "{claim}");
    let warnings = json["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warned| warned["kind"] == "contents"), "{json}");
}

fn appended() {
    let of = |name: &str, more: &str| {
        let records = r#"pattern = "append", block = "500", operations = 100"#;
        let io = format!("io = {{ {records}, file = \"{name}\", {more} }}");
        format!("{{ do = \"io\", name = \"{name}\", {io} }}")
    };
    let all = [
        of("unsynced", "sync = \"none\""),
        of("fdatasync", "sync = \"every 1 write\""),
        of("fsync", "sync = \"every 1 write\", sync_by = \"fsync\""),
        of("o_dsync", "sync = \"every 1 write\", sync_by = \"O_DSYNC\""),
        of("several", "sync = \"every 20 writes\", files = 4"),
    ];
    for phases in phases(&format!("phases = [{}]", all.join(", "))) {
        for phase in &phases {
            assert_eq!(
                (count(phase, "operations"), count(phase, "application_bytes")),
                (100, 50_000)
            );
        }
        // A record makes the file longer, so that its size is written with it.
        let flushes = |phase: &Value| count(phase, "flushes");
        assert_eq!(flushes(&phases[0]), 0);
        assert!(phases[1..4].iter().all(|phase| flushes(phase) >= 100), "{phases:?}");
        let syncs = |phase: &Value| phase["reported"]["sync.p50_ns"].as_f64();
        assert!(syncs(&phases[1]) > Some(0.0) && syncs(&phases[3]).is_none());
        // What is waited for is the write itself.
        let writes = |phase: &Value| phase["reported"]["write.p50_ns"].as_f64().unwrap();
        assert!(writes(&phases[3]) > 10.0 * writes(&phases[1]), "{phases:?}");
        // Five times all four files.
        assert!((20..100).contains(&flushes(&phases[4])), "{phases:?}");
    }
}

fn read() {
    let workload = r#"
        tree = { files = 300, size = "5 MB" }
        phases = [
            { do = "unpack", sync = true },
            { do = "read", name = "warm" },
            { do = "read", name = "cold", cold = true },
            { do = "read", name = "random", cold = true, order = "random" },
        ]
    "#;
    for phases in phases(workload) {
        for phase in &phases[1..] {
            assert_eq!(count(phase, "operations"), 300);
            assert!(phase["bytes_per_second"].as_f64().unwrap() > 0.0, "{phase}");
        }
        let [warm, cold, random] = [1, 2, 3].map(|index| count(&phases[index], "read_bytes"));
        assert!(warm == 0 && cold >= 5_000_000 && random >= 5_000_000, "{warm} {cold} {random}");
    }
}

fn mail() {
    let of = |agent: &str| {
        let mail = format!("messages = 60, mailboxes = 4, fetch_at = 5, agent = \"{agent}\"");
        let workload =
            format!("phases = [{{ do = \"maildir\", maildir = {{ {mail} }}, sync = true }}]");
        phases(&workload).map(|phases| phases[0].clone())
    };
    let (by_postfix, by_dovecot) = (of("postfix"), of("dovecot"));
    for (postfix, dovecot) in by_postfix.iter().zip(&by_dovecot) {
        assert_eq!((count(postfix, "operations"), count(dovecot, "operations")), (60, 60));
        let bytes = |phase| count(phase, "application_bytes");
        assert_eq!(bytes(postfix), bytes(dovecot));
        assert!(count(postfix, "written_bytes") > bytes(postfix));
        // A commit for each file, and with Dovecot one for each directory.
        let flushes = |phase| count(phase, "flushes");
        assert!(flushes(postfix) >= 60 && flushes(dovecot) >= flushes(postfix) + 60, "{dovecot}");
    }
}

fn rotated() {
    let of = |compress: bool| {
        let log = format!("records = 1000, size = \"100 KiB\", keep = 2, compress = {compress}");
        phases(&format!("phases = [{{ do = \"rotate\", rotate = {{ {log} }}, sync = true }}]"))
            .map(|phases| phases[0].clone())
    };
    for (plain, compressed) in of(false).iter().zip(&of(true)) {
        assert_eq!((count(plain, "operations"), count(compressed, "operations")), (1000, 1000));
        assert_eq!(count(plain, "application_bytes"), 500_000);
        // Four logs of 205 records.
        assert_eq!(count(compressed, "application_bytes"), 500_000 + 4 * (205 * 500 / 4));
    }
}
