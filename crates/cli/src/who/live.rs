//! What a recording shows while it goes on: on a terminal a screen as top has it, elsewhere a line
//! now and then.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use ssdlab_attribution::{WhoOutput, WhoRecording};

use super::output::{self, RowGrouping};
use crate::output as terminal;

/// How often the screen is refreshed: the middle of what top and iotop do.
const SCREEN_EVERY: Duration = Duration::from_secs(2);
/// How often a line is printed.
const LINE_EVERY: Duration = Duration::from_mins(1);
/// ECMA-48 and xterm: the alternate screen without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the first place, and erase what is behind.
const HOME: &str = "\x1b[H\x1b[J";

/// The view of a recording.
#[derive(Debug)]
pub struct LiveView {
    by: RowGrouping,
    is_named: bool,
    is_screen: bool,
    every: Duration,
    shown: Instant,
    before: WhoOutput,
}

impl LiveView {
    /// Begins to show a recording.
    pub fn new(
        by: RowGrouping,
        is_named: bool,
        delay: Option<Duration>,
        recording: &WhoRecording,
    ) -> Self {
        let is_screen = io::stdout().is_terminal();
        let usual = if is_screen { SCREEN_EVERY } else { LINE_EVERY };
        if is_screen {
            terminal::print_written(|out| out.write_all(ENTER.as_bytes()));
        }
        Self {
            by,
            is_named,
            is_screen,
            every: delay.unwrap_or(usual),
            shown: Instant::now(),
            before: recording.so_far(is_named),
        }
    }

    /// Shows what is new, if it is time. Returns whether somebody may still see it.
    pub fn show(&mut self, recording: &WhoRecording) -> bool {
        if self.shown.elapsed() < self.every {
            return true;
        }
        let now = recording.so_far(self.is_named);
        self.shown = Instant::now();
        let text = if self.is_screen {
            let (columns, lines) = terminal::size().unwrap_or((80, 24));
            let text = output::screen(&now, &self.before, self.by, usize::from(lines));
            let text = terminal::harmless(&text);
            let cut = |line: &str| line.chars().take(usize::from(columns)).collect::<String>();
            let shown: Vec<String> = text.lines().take(usize::from(lines)).map(cut).collect();
            format!("{HOME}{}", shown.join("\r\n"))
        } else {
            terminal::harmless(&output::lines(&now, &self.before, self.by))
        };
        self.before = now;
        terminal::print_to_reader(|out| out.write_all(text.as_bytes()))
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if self.is_screen {
            terminal::print_written(|out| out.write_all(LEAVE.as_bytes()));
        }
    }
}
