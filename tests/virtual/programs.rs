//! Programs as they are lose data to power cuts, or keep it, as they say; and their check tells.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 5] = [
    ("sqlite_in_wal_mode_loses_transactions_and_integrity_never", sqlite),
    ("git_keeps_its_objects_if_told_to_sync_them", git),
    ("programs_see_nothing_of_the_machine", unseen),
    ("a_check_must_accept_what_no_cut_has_touched", mistaken),
    ("programs_must_be_there_and_be_programs", missing),
];

/// What became of each cut, by the level of the only varied factor.
type Found = Vec<(String, Vec<Value>)>;

fn plan(factors: &str, number: u32, check: &str, workload: &str) -> String {
    format!(
        r#"
        name = "programs"
        question = "Does its data survive?"
        target = {{ lab = "virtual" }}
        [cuts]
        number = {number}
        check = ["sh", "-c", """{check}"""]
        [factors]
        drive = "x25m-g2"
        {factors}
        [workload]
        {workload}
        "#
    )
}

/// A phase that runs a script of the shell.
fn phase(name: &str, script: &str) -> String {
    format!(
        "[[workload.phases]]\ndo = \"command\"\nname = \"{name}\"\n\
         run = [\"sh\", \"-c\", \"\"\"{script}\"\"\"]\n"
    )
}

/// The outcomes of the cuts of a run in this place, and its fingerprints.
fn cut(place: &Place, plan: &str, factor: &str) -> (Found, Vec<Value>) {
    let json = place.run(plan);
    for treatment in json["treatments"].as_array().unwrap() {
        assert_eq!(treatment["status"], "ok", "{}: {}", treatment["levels"], treatment["reason"]);
        assert!(treatment["cuts"]["rejected"]["of"].as_u64() > Some(0), "{treatment}");
        assert!(treatment["cuts"]["broken_promises"].is_null(), "no file has a history");
    }
    let folders = ["data/ssdlab", ".local/share/ssdlab"].map(|folder| place.path(folder));
    let folder: PathBuf = folders.into_iter().find(|folder| folder.exists()).unwrap();
    let run = fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let records = fs::read_to_string(run.path().join("records.jsonl")).unwrap();
    let mut found: Vec<(String, Vec<Value>, Value)> = records
        .lines()
        .map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let level = record["levels"][factor].as_str().unwrap().to_owned();
            (level, record["cuts"].as_array().unwrap().clone(), record["fingerprint"].clone())
        })
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found.into_iter().map(|(level, cuts, fingerprint)| ((level, cuts), fingerprint)).unzip()
}

/// How many cuts the check rejects with this word.
fn rejected(cuts: &[Value], word: &str) -> usize {
    let says =
        |cut: &&Value| cut["data"]["rejected"].as_str().is_some_and(|said| said.contains(word));
    cuts.iter().filter(says).count()
}

/// What the database lacks, if it is sound: the number of each row is printed once it is committed.
const ROWS: &str = r#"
said=0
while read -r number; do said=$number; done
[ "$said" = 0 ] && exit 0
found=$(sqlite3 db "pragma integrity_check" 2>&1)
[ "$found" = ok ] || { echo "$found"; echo broken; exit 1; }
# Without a table there are no rows.
rows=$(sqlite3 db "select count(*) from t" 2>/dev/null || echo 0)
[ "$rows" -ge "$said" ] || { echo "lost: $rows of $said rows"; exit 1; }
"#;

/// Transactions in WAL mode, with a checkpoint after every few.
fn transactions(synchronous: &str) -> String {
    let script = format!(
        r#"
{{
    echo ".output /dev/null"
    echo "pragma journal_mode = wal; pragma synchronous = {synchronous};"
    echo "pragma wal_autocheckpoint = 20; create table t(id integer primary key, v);"
    i=1
    while [ $i -le 60 ]; do
        echo "insert into t values ($i, randomblob(3000));"
        echo ".shell echo $i"
        i=$((i+1))
    done
}} | sqlite3 db
"#
    );
    format!("programs = [\"sqlite3\"]\n{}", phase("commit", &script))
}

/// "WAL with synchronous=NORMAL loses transactions, never integrity"; and with FULL, neither. The
/// same words are not true of a drive that ignores flushes.
fn sqlite() {
    let factors = "filesystem = \"ext4\"\nflush = [\"honest\", \"ignored\"]";
    let normal = plan(factors, 40, ROWS, &transactions("normal"));
    let (found, fingerprints) = cut(&Place::new(), &normal, "flush");
    let [(_, honest), (_, ignored)] = &found[..] else { panic!("{found:?}") };
    assert!(rejected(honest, "lost") > 5, "{honest:?}");
    assert_eq!(rejected(honest, "broken"), 0, "{honest:?}");
    assert!(rejected(ignored, "broken") > 2, "{ignored:?}");
    assert_eq!(cut(&Place::new(), &normal, "flush"), (found, fingerprints));
    let factors = "filesystem = \"ext4\"\nflush = \"honest\"";
    let full = plan(factors, 40, ROWS, &transactions("full"));
    let (found, _) = cut(&Place::new(), &full, "flush");
    assert_eq!(rejected(&found[0].1, ""), 0, "{found:?}");
}

/// The number of each commit is printed once it is made.
const COMMITS: &str = r#"
said=0
while read -r number; do said=$number; done
[ "$said" = 0 ] && exit 0
found=$(git -C repository fsck --full --strict --no-dangling 2>&1) ||
    { echo "$found"; echo broken; exit 1; }
commits=$(git -C repository rev-list --count HEAD 2>/dev/null || echo 0)
[ "$commits" -ge "$said" ] || { echo "lost: $commits of $said commits"; exit 1; }
"#;

/// Commits, one every half a second, so that the filesystem commits between them. The repository
/// itself, of which git syncs nothing, is synced first.
fn commits(fsync: &str) -> String {
    let init = format!(
        r"
set -e
git init --quiet repository 2>/dev/null
cd repository
git config user.name A
git config user.email a@example.org
{fsync}
sync
"
    );
    let commit = r#"
set -e
cd repository
i=1
while [ $i -le 25 ]; do
    echo "$i" >"file-$i"
    git add .
    git commit --quiet --message "commit $i"
    echo $i
    sleep 0.5
    i=$((i+1))
done
"#;
    let programs = "programs = [\"git\", \"sleep\", \"sync\"]";
    format!("{programs}\n{}{}", phase("init", &init), phase("commit", commit))
}

/// By default git syncs neither loose objects nor references: after a commit of ext4's journal, a
/// reference may be there without its object's data. Told to sync all, it loses commits at most,
/// as it does not sync the directory of a reference.
fn git() {
    let factors = "filesystem = \"ext4\"";
    let of = |fsync: &str| {
        let plan = plan(factors, 30, COMMITS, &commits(fsync));
        let (mut found, _) = cut(&Place::new(), &plan, "filesystem");
        found.remove(0).1
    };
    let default = of("");
    assert!(rejected(&default, "broken") > 5, "{default:?}");
    let all = of("git config core.fsync all");
    assert_eq!(rejected(&all, "broken"), 0, "{all:?}");
    assert!(rejected(&all, "lost") < rejected(&default, ""), "{all:?}");
}

/// What a program is told of the world: its environment, the time, where and who it is.
const WORLD: &str = "$(env) $(date +%s%N) $(pwd) $(id -u) $(cat /proc/cmdline)";

/// What its check is told is the same wherever and by whomever the run is made.
fn unseen() {
    // It accepts only what was heard to its end.
    let check = format!(
        "said=$(cat); [ \"${{said%end}}\" != \"$said\" ] || {{ echo \"$said\" {WORLD}; exit 1; }}"
    );
    let script = format!("echo {WORLD}; sleep 1; echo end");
    let programs = ["env", "date", "id", "cat", "sleep"];
    let workload = format!("programs = {programs:?}\n{}", phase("look", &script));
    let plan = plan("filesystem = \"ext4\"", 8, &check, &workload);
    let here = cut(&Place::new(), &plan, "filesystem");
    let cuts = &here.0[0].1;
    assert!(rejected(cuts, "PATH=/bin") > 3, "{cuts:?}");
    assert_eq!(rejected(cuts, "/var/tmp"), 0, "{cuts:?}");
    assert_eq!(cut(&Place::of_nobody(), &plan, "filesystem"), here);
}

fn mistaken() {
    let workload = phase("make", "echo something >file; sync file");
    let workload = format!("programs = [\"sync\"]\n{workload}");
    let plan = plan("filesystem = \"ext4\"", 5, "test -e fiel", &workload);
    let json = Place::new().run(&plan);
    let treatment = &json["treatments"][0];
    assert_eq!(treatment["status"], "failed");
    let reason = treatment["reason"].as_str().unwrap();
    assert!(reason.contains("must accept what the trial leaves without a power cut"), "{reason}");
    assert!(reason.contains("ended with exit code 1"), "{reason}");
}

fn missing() {
    let fails = |programs: &str| {
        let place = Place::new();
        let workload = format!("programs = [\"{programs}\"]\n{}", phase("make", "true"));
        fs::write(place.path("plan.toml"), plan("filesystem = \"ext4\"", 5, "true", &workload))
            .unwrap();
        fs::write(place.path("a-script"), "#!/bin/sh\nexit 0\n").unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(place.path("a-script"), executable).unwrap();
        let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
        let mut command = place.command(&["run"]);
        command.arg(place.path("plan.toml")).arg("--kernel").arg(kernel().as_ref().unwrap());
        let output = command.env("PATH", path).output().unwrap();
        assert!(!output.status.success(), "{}", shown(&output));
        assert!(place.journals().is_empty(), "something is left");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = fails("no-such-program");
    assert!(error.contains("`no-such-program`, but no folder of PATH has it"), "{error}");
    let error = fails("a-script");
    assert!(error.contains("a-script is a script") && error.contains("interpreter"), "{error}");
}
