use super::*;
use ssdlab_attribution::InexactStretch;

fn row(program: &str, kind: &str, bytes: u64) -> WriteRow {
    WriteRow {
        program: program.to_owned(),
        cgroup: "/system.slice/a.service".to_owned(),
        service: "a".to_owned(),
        kind: kind.to_owned(),
        path: None,
        bytes,
        asked_bytes: bytes,
        syncs: 1,
        discarded_bytes: 0,
    }
}

fn recorded(seconds: f64, rows: Vec<WriteRow>) -> WhoOutput {
    let bytes = rows.iter().map(|row| row.bytes).sum();
    let device = DeviceWrites::new("loop0", seconds, bytes, rows);
    WhoOutput::new(vec![device], false)
}

#[test]
fn paths_outside_the_roots_are_hashed() {
    let roots = [PathBuf::from("/srv")];
    assert_eq!(hidden("/srv/a", &roots), "/srv/a");
    let other = hidden("/home/me/secret", &roots);
    assert!(other.starts_with("(file ") && !other.contains("secret"), "{other}");
    assert_ne!(other, hidden("/home/me/other", &roots));
}

#[test]
fn lines_and_screens_show_what_is_new() {
    let before = recorded(10.0, vec![row("old", "data", 9_000_000), row("new", "data", 1_000_000)]);
    let rows = vec![
        row("old", "data", 9_000_000),
        row("new", "data", 5_000_000),
        row("new", "journal", 0),
    ];
    let now = recorded(20.0, rows);
    let expected = "20 s: loop0 4.00 MB (400 kB a second) new (a) 4.00 MB\n";
    assert_eq!(lines(&now, &before, RowGrouping::Program), expected);
    let screen = screen(&now, &before, RowGrouping::Program, 24);
    insta::assert_snapshot!(screen);
}

#[test]
fn a_screen_has_no_more_lines_than_the_terminal() {
    let rows: Vec<WriteRow> = (0..50).map(|n| row(&format!("p{n}"), "data", 1000 + n)).collect();
    let found = recorded(1.0, rows);
    for height in [8, 24, 40] {
        assert!(
            screen(&found, &found, RowGrouping::Program, height).lines().count() <= height,
            "{height}"
        );
    }
}

#[test]
fn stretches_that_are_not_exact_are_named() {
    let mut found = recorded(300.0, vec![row("a", "data", 4096)]);
    let stretch = InexactStretch {
        from_seconds: 60.0,
        seconds: 60.1,
        counter_bytes: 8192,
        attributed_bytes: 4096,
        lost_events: 3,
    };
    found.devices[0].inexact = vec![stretch; MOST_STRETCHES + 2];
    let text = text(&found, RowGrouping::Program, false);
    let says = "not exact: 60 s from 60 s on, 4096 of 8192 bytes attributed, 3 events lost";
    assert_eq!(text.matches(says).count(), MOST_STRETCHES);
    assert!(text.contains("not exact: 2 more of about a minute each"), "{text}");
}

#[test]
fn a_recording_has_its_rows_in_prometheus_s_format() {
    let rows = vec![row("a", "data", 4096), row("a", "data", 1), row("b\"", "journal", 512)];
    insta::assert_snapshot!(super::super::exposition::recording(&recorded(2.5, rows)));
}
