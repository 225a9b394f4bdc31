//! The names of runs.

use std::fmt;
use std::time::SystemTime;

/// The plan of a run and when it began, `discard-20261128-174007`; and a number if others of the
/// plan began in the same second, `discard-20261128-174007-2`.
#[derive(Debug, PartialEq, Eq)]
pub struct RunName {
    pub plan: String,
    /// The date, the time and the number: their order is that of a plan's runs.
    pub began: (u64, u64, u64),
}

impl RunName {
    /// That of a run that begins now.
    pub fn now(plan: &str) -> Self {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let digits = now.bytes().filter(u8::is_ascii_digit).map(|digit| u64::from(digit - b'0'));
        let stamp = digits.fold(0, |stamp, digit| stamp * 10 + digit);
        Self { plan: plan.to_owned(), began: (stamp / 1_000_000, stamp % 1_000_000, 1) }
    }

    /// `None` for the name of a run that was renamed.
    pub fn parse(name: &str) -> Option<Self> {
        Self::of_first(name).or_else(|| {
            let (name, number) = name.rsplit_once('-')?;
            let Self { plan, began: (date, time, _) } = Self::of_first(name)?;
            Some(Self { plan, began: (date, time, digits(number)?) })
        })
    }

    fn of_first(name: &str) -> Option<Self> {
        let (name, time) = name.rsplit_once('-').filter(|(_, time)| time.len() == 6)?;
        let (plan, date) = name.rsplit_once('-').filter(|(_, date)| date.len() == 8)?;
        Some(Self { plan: plan.to_owned(), began: (digits(date)?, digits(time)?, 1) })
    }
}

fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time, number) = self.began;
        write!(f, "{}-{date:08}-{time:06}", self.plan)?;
        if number == 1 { Ok(()) } else { write!(f, "-{number}") }
    }
}

#[cfg(test)]
mod tests;
