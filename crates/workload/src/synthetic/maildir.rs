//! Mail that is delivered into Maildirs and fetched by POP3, from a seed.
//!
//! A message is written to a file in `tmp` and then moved to `new` (D. J. Bernstein, "Using maildir
//! format", cr.yp.to/proto/maildir.html). Who fetches mail lists `new`, reads each message and
//! deletes them all at the end, as a POP3 server does (RFC 1939, section 6).

use std::collections::BTreeMap;

use ssdlab_plan::maildir::{MailAgent, Maildir};

use super::random::{RandomPurpose, RandomStream};
use crate::content::Content;
use crate::script::Script;
use crate::steps::ScriptStep;

/// The directory of all mailboxes.
const TOP: &str = "mail";

/// The permission bits of messages (Postfix's `virtual/maildir.c`).
const MODE: u32 = 0o600;

/// The time of the first delivery, in seconds since 1970; names begin with the time.
const FIRST_S: u64 = 1_320_000_000;

/// How many of 10,000 messages are smaller than 2 KiB, 4 KiB and so on up to 4 MiB; the source is
/// named by [`Maildir`].
const SMALLER: [u64; 12] =
    [2353, 4917, 6760, 7958, 8536, 9047, 9330, 9574, 9724, 9849, 9996, 10_000];

/// The smallest message in bytes, which is hardly more than its header, and the first bound.
const SMALLEST_BYTES: u64 = 900;
const FIRST_BOUND_BYTES: u64 = 2048;

/// Deliveries, each followed by what a user fetches.
#[derive(Debug)]
pub struct Spool {
    work: Maildir,
    random: RandomStream,
    /// The number of messages delivered.
    delivered: u32,
    /// The names in `new` of each mailbox that has had mail.
    mailboxes: BTreeMap<u64, Vec<String>>,
    /// The mailbox that is to be fetched next.
    full: Option<u64>,
}

impl Spool {
    /// All deliveries of a phase.
    pub fn new(work: Maildir, seed: u64) -> Self {
        let random = RandomStream::new(seed, RandomPurpose::Mail);
        Self { work, random, delivered: 0, mailboxes: BTreeMap::new(), full: None }
    }

    fn deliver(&mut self) -> Script {
        let mut script = Script::default();
        if self.delivered == 0 {
            script.make_directory(TOP);
        }
        let mailbox = self.random.below(self.work.mailboxes.into());
        let home = home(mailbox);
        let messages = self.mailboxes.entry(mailbox).or_insert_with(|| {
            script.make_directory(&home);
            for part in ["tmp", "new", "cur"] {
                script.make_directory(&format!("{home}/{part}"));
            }
            Vec::new()
        });
        let number = self.delivered;
        let name = format!("{}.V801I{number:x}.mail.example.org", FIRST_S + u64::from(number));
        let (temporary, new) = (format!("{home}/tmp/{name}"), format!("{home}/new/{name}"));
        let content = Content::Text { seed: self.random.bits() };
        script.make_synced_file(&temporary, MODE, size_bytes(&mut self.random), content);
        match self.work.agent {
            MailAgent::Postfix => {
                script.link(&temporary, &new);
                script.unlink(&temporary);
            }
            MailAgent::Dovecot => {
                script.rename(&temporary, &new);
                script.sync_directory(&format!("{home}/new"));
            }
        }
        messages.push(new);
        if messages.len() as u64 >= self.work.fetch_at.into() {
            self.full = Some(mailbox);
        }
        self.delivered += 1;
        script
    }

    fn fetch(&mut self, mailbox: u64) -> Script {
        let mut script = Script::default();
        script.list(&format!("{}/new", home(mailbox)));
        let messages = self.mailboxes.get_mut(&mailbox).map(std::mem::take).unwrap_or_default();
        for message in &messages {
            script.read(message);
        }
        for message in &messages {
            script.unlink(message);
        }
        script
    }
}

impl Iterator for Spool {
    type Item = ScriptStep;

    fn next(&mut self) -> Option<ScriptStep> {
        if let Some(mailbox) = self.full.take() {
            return Some(ScriptStep::between(self.fetch(mailbox)));
        }
        (self.delivered < self.work.messages).then(|| ScriptStep::operation(self.deliver()))
    }
}

/// The directory of a mailbox.
fn home(mailbox: u64) -> String {
    format!("{TOP}/{mailbox}")
}

/// The size of a message in bytes, uniform between two bounds.
fn size_bytes(random: &mut RandomStream) -> u64 {
    let drawn = random.below(10_000);
    let bound = SMALLER.partition_point(|share| *share <= drawn);
    let most = FIRST_BOUND_BYTES << bound;
    let least = if bound == 0 { SMALLEST_BYTES } else { most / 2 };
    least + random.below(most - least)
}

#[cfg(test)]
mod tests;
