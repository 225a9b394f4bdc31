use super::*;

fn rules(interrupt: &Interrupt, limit: Duration) -> Rules<'_> {
    Rules { marker: "test", limit, interrupt }
}

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_failing_program_is_reported_with_what_it_said() {
    let interrupt = Interrupt::default();
    let long = Duration::from_mins(1);
    let error = run(shell("echo no luck >&2; exit 3"), rules(&interrupt, long)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("exit code 3") && message.contains("no luck"), "{message}");
    let finished = run(shell("echo good"), rules(&interrupt, long)).unwrap();
    assert_eq!(finished.stdout, "good\n");
}

#[test]
fn a_program_ends_at_its_limit_and_on_an_interrupt() {
    let interrupt = Interrupt::default();
    let error = run(shell("sleep 300"), rules(&interrupt, Duration::from_millis(20)));
    assert!(matches!(error.unwrap_err(), ProgramError::Limit { .. }));
    interrupt.set();
    let error = run(shell("sleep 300"), rules(&interrupt, Duration::from_mins(1)));
    assert!(matches!(error.unwrap_err(), ProgramError::Interrupted));
}

/// That is what happens if it cannot be watched.
#[test]
fn a_program_that_is_dropped_before_its_end_is_ended() {
    let interrupt = Interrupt::default();
    let rules = rules(&interrupt, Duration::from_mins(1));
    let running = Running::start(&mut shell("sleep 300"), rules).unwrap();
    let process = Path::new("/proc").join(running.child.id().to_string());
    assert!(process.exists());
    drop(running);
    assert!(!process.exists());
}

#[test]
fn a_program_is_followed_line_by_line() {
    let interrupt = Interrupt::default();
    let mut lines = Vec::new();
    let mut note = |line: &str| lines.push(line.to_owned());
    let script = "echo unseen; echo one >&2; echo two >&2; exit 3";
    let status = follow(shell(script), "test", &interrupt, &mut note).unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(lines, ["one", "two"]);
}

#[test]
fn a_followed_program_and_its_children_may_clean_up_on_an_interrupt() {
    let interrupt = Interrupt::default();
    let place = tempfile::tempdir().unwrap();
    let cleaned = place.path().join("cleaned");
    let script = format!(
        "trap 'touch {}; exit 1' TERM; (trap '' TERM; sleep 300) & echo up >&2; wait",
        cleaned.display()
    );
    let started = Instant::now();
    let mut stop = |_: &str| interrupt.set();
    let error = follow(shell(&script), "test-follow", &interrupt, &mut stop).unwrap_err();
    assert!(matches!(error, ProgramError::Interrupted));
    assert!(cleaned.exists() && started.elapsed() < Duration::from_mins(1));
}

#[test]
fn much_output_does_not_hang() {
    let interrupt = Interrupt::default();
    let script = "head -c 3000000 /dev/zero | tr '\\0' x";
    let finished = run(shell(script), rules(&interrupt, Duration::from_mins(1))).unwrap();
    assert_eq!(finished.stdout.len(), 3_000_000);
}

#[test]
fn neither_programs_nor_their_children_are_looked_for_where_one_happens_to_be() {
    assert_eq!(absolute_only(Some(":/a:.:b/c::/d:".as_ref())), "/a:/d");
    for nothing in [None, Some(""), Some(":."), Some("bin")] {
        assert_eq!(absolute_only(nothing.map(OsStr::new)), USUAL_PATH);
    }
    let interrupt = Interrupt::default();
    let mut command = shell("echo $PATH");
    command.env("PATH", ":/usr/bin:.:/bin");
    let finished = run(command, rules(&interrupt, Duration::from_mins(1))).unwrap();
    assert_eq!(finished.stdout, "/usr/bin:/bin\n");
}

/// The variables are inherited by a second process of these tests.
#[test]
fn a_repository_of_a_git_hook_is_not_inherited_but_can_be_named() {
    if std::env::var_os("GIT_INDEX_FILE").is_some_and(|index| index == "of-a-hook") {
        let interrupt = Interrupt::default();
        let mut command = shell("echo $GIT_DIR:$GIT_INDEX_FILE");
        command.env("GIT_DIR", "named");
        let finished = run(command, rules(&interrupt, Duration::from_mins(1))).unwrap();
        assert_eq!(finished.stdout, "named:\n");
        return;
    }
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["a_repository_of_a_git_hook", "--nocapture"]).env("GIT_INDEX_FILE", "of-a-hook");
    let output = again.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_missing_program_names_its_package() {
    let error = find("mkfs.nosuchfs", "nosuch-progs").unwrap_err();
    assert!(error.help().unwrap().to_string().contains("nosuch-progs"));
}

#[test]
fn what_a_program_prints_is_passed_on_before_it_goes_on() {
    let interrupt = Interrupt::default();
    let place = tempfile::tempdir().unwrap();
    let mark = place.path().join("mark");
    let mut lines = Vec::new();
    let mut note = |line: &str| {
        lines.push(line.to_owned());
        std::fs::write(&mark, "").unwrap();
    };
    // It waits until its first line is heard.
    let script = format!(
        "echo one; until test -e {}; do sleep 0.01; done; printf 'two\\nthree'; sleep 3 & exit 0",
        mark.display()
    );
    run_aloud(shell(&script), rules(&interrupt, Duration::from_mins(1)), &mut note).unwrap();
    assert_eq!(lines, ["one", "two", "three"]);
}

#[test]
fn a_program_that_is_heard_has_its_limit_and_its_complaint() {
    let interrupt = Interrupt::default();
    let of = |script: &str, limit| run_aloud(shell(script), rules(&interrupt, limit), &mut |_| {});
    let error = of("sleep 300", Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, ProgramError::Limit { .. }));
    let long = Duration::from_mins(1);
    let error = of("echo on; exec >&-; echo no luck >&2; sleep 0.05; exit 3", long).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("exit code 3: no luck"), "{message}");
    assert!(of("echo why; exit 3", long).unwrap_err().to_string().contains("why"));
}
