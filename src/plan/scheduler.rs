//! The I/O schedulers, by today's names and by those of old, and what can be set about each.

use super::factor::{Factor, Levels};
use super::level_error::{LevelError, unknown};

/// I/O schedulers of the multi-queue block layer, by the kernel's names.
pub const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];

/// Today's name of a scheduler of the single-queue block layer, which Linux 5.0 removed.
#[must_use]
pub fn todays_name(name: &str) -> Option<&'static str> {
    match name {
        "noop" => Some("none"),
        "deadline" => Some("mq-deadline"),
        "cfq" => Some("bfq"),
        _ => None,
    }
}

/// Reads a level of `scheduler`.
pub(super) fn read(level: &str) -> Result<&'static str, LevelError> {
    let today = todays_name(level).unwrap_or(level);
    SCHEDULERS
        .into_iter()
        .find(|name| *name == today)
        .ok_or_else(|| unknown(Factor::Scheduler, level, "none, mq-deadline, bfq, kyber"))
}

/// A setting of a scheduler: a file in the folder `queue/iosched` of a device.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tunable {
    /// The factor's name in plans.
    pub factor: &'static str,
    /// The scheduler that has it.
    pub scheduler: &'static str,
}

impl Tunable {
    /// The name of its file.
    #[must_use]
    pub fn file(&self) -> &'static str {
        self.factor.strip_prefix(TUNABLE_PREFIX).unwrap_or(self.factor)
    }
}

/// What the names of the schedulers' settings begin with.
pub(super) const TUNABLE_PREFIX: &str = "scheduler.";

/// The level of a setting that leaves it as it is.
pub(super) const DEFAULT: &str = "default";

/// Every setting of a scheduler of Linux 6.1 (block/mq-deadline.c, bfq-iosched.c and
/// kyber-iosched.c; Documentation/block/deadline-iosched.rst and bfq-iosched.rst).
pub static TUNABLES: [Tunable; 19] = [
    of("mq-deadline", "scheduler.read_expire"),
    of("mq-deadline", "scheduler.write_expire"),
    of("mq-deadline", "scheduler.writes_starved"),
    of("mq-deadline", "scheduler.front_merges"),
    of("mq-deadline", "scheduler.fifo_batch"),
    of("mq-deadline", "scheduler.async_depth"),
    of("mq-deadline", "scheduler.prio_aging_expire"),
    of("bfq", "scheduler.slice_idle"),
    of("bfq", "scheduler.slice_idle_us"),
    of("bfq", "scheduler.low_latency"),
    of("bfq", "scheduler.timeout_sync"),
    of("bfq", "scheduler.max_budget"),
    of("bfq", "scheduler.strict_guarantees"),
    of("bfq", "scheduler.fifo_expire_sync"),
    of("bfq", "scheduler.fifo_expire_async"),
    of("bfq", "scheduler.back_seek_max"),
    of("bfq", "scheduler.back_seek_penalty"),
    of("kyber", "scheduler.read_lat_nsec"),
    of("kyber", "scheduler.write_lat_nsec"),
];

const fn of(scheduler: &'static str, factor: &'static str) -> Tunable {
    Tunable { factor, scheduler }
}

/// The settings of the treatment's scheduler that are not left as they are, with their values.
pub(super) fn tunables(
    levels: &Levels,
    scheduler: Option<&'static str>,
) -> Result<Vec<(&'static Tunable, String)>, LevelError> {
    let mut settings = Vec::new();
    for (factor, level) in &levels.0 {
        let Factor::Tunable(tunable) = *factor else { continue };
        if level == DEFAULT {
            continue;
        }
        if level.parse::<u32>().is_err() {
            return Err(unknown(*factor, level, "a whole number, or default"));
        }
        if scheduler != Some(tunable.scheduler) {
            let other = scheduler.map_or("the machine's own".to_owned(), str::to_owned);
            let exclude = scheduler.map_or_else(
                || format!("name the scheduler: scheduler = \"{}\"", tunable.scheduler),
                |name| {
                    format!(
                        "add the level \"{DEFAULT}\", and leave the combination out: exclude = \
                         [{{ scheduler = \"{name}\", \"{factor}\" = \"{level}\" }}]"
                    )
                },
            );
            return Err(LevelError {
                factor: *factor,
                message: format!(
                    "`{}` is a setting of {}, and the scheduler is {other}",
                    tunable.file(),
                    tunable.scheduler
                ),
                help: exclude,
            });
        }
        settings.push((tunable, level.clone()));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(pairs: &[(&str, &str)]) -> Levels {
        let named =
            |(factor, level): &(&str, &str)| (Factor::find(factor).unwrap(), (*level).to_owned());
        Levels(pairs.iter().map(named).collect())
    }

    #[test]
    fn a_setting_belongs_to_its_scheduler() {
        let ours = levels(&[("scheduler.read_expire", "100")]);
        let settings = tunables(&ours, Some("mq-deadline")).unwrap();
        assert_eq!(settings[0].0.file(), "read_expire");
        assert_eq!(settings[0].1, "100");
        let error = tunables(&ours, Some("bfq")).unwrap_err();
        assert!(error.help.contains("exclude"), "{}", error.help);
        assert!(tunables(&ours, None).unwrap_err().help.contains("mq-deadline"));
        let left = levels(&[("scheduler.read_expire", "default")]);
        assert!(tunables(&left, Some("bfq")).unwrap().is_empty());
        assert!(tunables(&levels(&[("scheduler.read_expire", "soon")]), None).is_err());
    }

    #[test]
    fn every_setting_names_a_scheduler_and_a_file() {
        for tunable in &TUNABLES {
            assert!(SCHEDULERS.contains(&tunable.scheduler));
            assert!(!tunable.file().contains('.'), "{}", tunable.factor);
        }
    }
}
