//! Appended files, a tree that is read, mail and rotated logs, on two filesystems: each does what
//! it says, and leaves what `--verify` expects.

use serde_json::Value;

use super::support::Place;

pub const CASES: [(&str, fn()); 4] = [
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
