//! Who delivers what and how, and how large messages are.

use ssdlab_operations::{Operation, Tree};

use super::*;

fn work(agent: MailAgent) -> Maildir {
    Maildir { messages: 400, mailboxes: 10, agent, fetch_at: 7, think_ns: 0 }
}

/// What the delivery of a message does, as an operation log says it.
fn delivery(agent: MailAgent) -> Vec<String> {
    // Every mailbox has its directories by then.
    let mut deliveries = Spool::new(work(agent), 3).filter(|step| step.is_operation);
    let script = deliveries.nth(300).unwrap().script;
    let lines = script.operations.iter().map(ToString::to_string);
    let name = format!("{}.V801I12c.mail.example.org", FIRST_S + 300);
    let short = |line: String| line.replace(&name, "NAME").replace("mail/4/", "");
    lines.map(short).collect()
}

#[test]
fn postfix_links_and_dovecot_renames_and_syncs_the_directory() {
    let [postfix, dovecot] = [MailAgent::Postfix, MailAgent::Dovecot].map(delivery);
    assert_eq!(postfix[0], "create 0 write 600 tmp/NAME");
    assert!(postfix[1].starts_with("write 0 0 "), "{postfix:?}");
    assert_eq!(postfix[2..], ["fsync 0", "close 0", "link tmp/NAME new/NAME", "unlink tmp/NAME"]);
    assert_eq!(dovecot[..4], postfix[..4]);
    let moved = ["rename tmp/NAME new/NAME", "open 0 read,directory new", "fdatasync 0"];
    assert_eq!(dovecot[4..7], moved);
    assert_eq!(dovecot[7..], ["close 0"]);
}

#[test]
fn mailboxes_are_emptied_when_they_are_full() {
    for agent in [MailAgent::Postfix, MailAgent::Dovecot] {
        let mut tree = Tree::default();
        let mut fetched = 0;
        for ScriptStep { script, is_operation } in Spool::new(work(agent), 3) {
            let unlinks = |operation: &&Operation| matches!(operation, Operation::Unlink { .. });
            if !is_operation {
                assert_eq!(script.operations.iter().filter(unlinks).count(), 7);
                fetched += 7;
            }
            for operation in &script.operations {
                tree.apply(operation).unwrap();
            }
        }
        let is_left = |place: &str| {
            let paths = tree.entries().map(|entry| entry.path().to_string());
            paths.filter(|path| path.contains(place)).count()
        };
        assert!(fetched > 300, "{fetched}");
        assert_eq!((is_left("/new/"), is_left("/tmp/")), (400 - fetched, 0));
    }
}

#[test]
fn half_of_the_messages_are_smaller_than_4_kib_and_few_make_up_most_bytes() {
    let mut random = RandomStream::new(1, RandomPurpose::Mail);
    let sizes: Vec<u64> = (0..100_000).map(|_| size_bytes(&mut random)).collect();
    let share = |most: u64| sizes.iter().filter(|bytes| **bytes < most).count() as f64 / 100_000.0;
    for (most, expected) in [(900, 0.0), (4096, 0.4917), (131_072, 0.933), (4 << 20, 1.0)] {
        assert!((share(most) - expected).abs() < 0.005, "{most}: {}", share(most));
    }
    // The sum of the bounds' means, weighted by their shares.
    let mean = sizes.iter().sum::<u64>() as f64 / 100_000.0;
    assert!((mean / 55_357.0 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn a_seed_decides_everything() {
    let scripts = |seed| -> Vec<Script> {
        Spool::new(work(MailAgent::Postfix), seed).map(|step| step.script).collect()
    };
    assert_eq!(scripts(1), scripts(1));
    assert_ne!(scripts(1), scripts(2));
}
