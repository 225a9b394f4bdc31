//! How long filesystems keep online discards back.

use std::time::Duration;

use super::Filesystem;

/// Online discards that may still be to come when a sync has returned and the device is idle.
#[derive(Debug, Clone, Copy)]
pub struct Postponed {
    /// The mount option with which they are postponed.
    pub option: &'static str,
    /// Whether they are postponed without any option about discards, too.
    pub is_default: bool,
    /// The longest time until they are issued.
    pub longest: Duration,
    /// The source of the statement.
    pub source: &'static str,
}

impl Filesystem {
    /// How long online discards may be postponed after a sync, if it is mounted with these options,
    /// of which the last counts; zero if none come later.
    #[must_use]
    pub fn postpones<'a>(&self, options: impl IntoIterator<Item = &'a str>) -> Duration {
        let Some(postponed) = self.postponed else { return Duration::ZERO };
        let is_about = |option: &&str| {
            let name = option.split('=').next();
            matches!(name, Some("discard" | "nodiscard"))
        };
        let last = options.into_iter().filter(is_about).last();
        let is_postponed = last.map_or(postponed.is_default, |option| option == postponed.option);
        if is_postponed { postponed.longest } else { Duration::ZERO }
    }
}
