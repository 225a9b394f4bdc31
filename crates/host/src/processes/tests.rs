use super::*;
use std::process::{Command, Stdio};

#[test]
fn a_marked_grandchild_is_found_and_killed() {
    let marker = format!("test-{}", std::process::id());
    // The shell ends at once; the sleeper in a session of its own outlives it.
    let status = Command::new("sh")
        .args(["-c", "setsid sleep 300 </dev/null >/dev/null 2>&1 &"])
        .env(MARKER_VARIABLE, &marker)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    // While it becomes another program it has no environment, then or at a second look.
    let deadline = Instant::now() + Duration::from_mins(1);
    let mut found = super::marked(&marker).len();
    while found != 1 && Instant::now() < deadline {
        sleep(Duration::from_millis(1));
        found = super::marked(&marker).len();
    }
    assert_eq!(found, 1);
    kill_marked(&marker);
    assert!(super::marked(&marker).is_empty());
}
