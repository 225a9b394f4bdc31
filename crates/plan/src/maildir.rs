//! Phases that deliver mail (`do = "maildir"`): their form in a plan, and what it means.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::Span;

use super::error::PlanFault;
use super::limits::{first_false, small, sound};
use super::think::think_ns;

/// The defaults. That a user has 20 messages when fetching them is assumed, not measured.
const MAILBOXES: u32 = 50;
const FETCH_AT: u32 = 20;

/// The most messages of a phase, and the most mailboxes.
const MOST: u32 = 1_000_000;

/// The mean size of a message in bytes, about ([`Maildir`] has the source of sizes).
const MEAN_BYTES: u64 = 55_000;

/// Mail that is delivered into Maildirs, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenMaildir {
    /// The number of messages that are delivered, each to a mailbox drawn from the seed. Half of
    /// them are smaller than 4 KiB, one in 15 is larger than 128 KiB.
    #[schemars(example = 1000)]
    pub messages: u32,
    /// The number of mailboxes (default 50). The first message makes the directories of its
    /// mailbox.
    #[schemars(example = 200)]
    pub mailboxes: Option<u32>,
    /// The program that delivers (default `postfix`). Both write a message to a file in `tmp` and
    /// call `fsync` for it.
    #[serde(default)]
    #[schemars(example = &"dovecot")]
    pub agent: MailAgent,
    /// How many messages a mailbox has when its user fetches them by POP3, which lists the
    /// directory, reads each of them and then deletes them all (default 20).
    #[schemars(example = 5)]
    pub fetch_at: Option<u32>,
    /// The time from the end of a delivery to the next (default 100 ms).
    #[schemars(example = &"1 s")]
    pub think: Option<Span>,
}

/// How a message that was written and synced in `tmp` gets into a mailbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MailAgent {
    /// Links the file into `new` and unlinks it from `tmp`; no directory is synced (Postfix's
    /// `virtual/maildir.c` and `mail_copy.c`).
    #[default]
    Postfix,
    /// Renames the file into `new` and calls `fdatasync` for that directory, as
    /// `mail_fsync = optimized` does (Dovecot's `maildir-save.c`).
    Dovecot,
}

/// Mail that is delivered into Maildirs, with everything explicit.
///
/// The sizes of messages are those of a mail server in 2002 by powers of two, as given by J.
/// Buchner, "Modelling realistic email traffic - email size distribution" (2009), after a message
/// to the list freebsd-net of October 2002. POP3 deletes at the end of a session (RFC 1939,
/// section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maildir {
    pub messages: u32,
    pub mailboxes: u32,
    /// Who delivers.
    pub agent: MailAgent,
    /// How many messages a mailbox has when they are fetched.
    pub fetch_at: u32,
    /// The time between two deliveries, in ns.
    pub think_ns: u64,
}

impl Maildir {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let is_possible = |number: u32| (1..=MOST).contains(&number);
        first_false([
            (is_possible(self.messages), "1 to 1000000 messages can be delivered"),
            (is_possible(self.mailboxes), "1 to 1000000 mailboxes are possible"),
            (self.fetch_at > 0, "`fetch_at` must be at least 1"),
        ])
    }

    /// The bytes that it writes, about.
    pub fn written_bytes(&self) -> u64 {
        u64::from(self.messages) * MEAN_BYTES
    }
}

/// Resolves a plan's table; `scaled` multiplies the number of messages.
pub(super) fn resolve(
    written: &WrittenMaildir,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Maildir, PlanFault> {
    let maildir = Maildir {
        messages: small(scaled(written.messages.into())),
        mailboxes: written.mailboxes.unwrap_or(MAILBOXES),
        agent: written.agent,
        fetch_at: written.fetch_at.unwrap_or(FETCH_AT),
        think_ns: think_ns(written.think),
    };
    let help = "for example maildir = { messages = 1000, agent = \"dovecot\" }";
    sound(maildir, maildir.fault(), at, help)
}

#[cfg(test)]
mod tests;
