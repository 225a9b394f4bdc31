use super::*;
use crate::schedule::Action;

/// Resolves a plan with this phase at half its scale; the error is its message.
fn plan_of(phases: &str) -> Result<Maildir, String> {
    let text = format!("name = \"x\"\nquestion = \"?\"\n[workload]\nphases = [{phases}]\n");
    let overrides = crate::Overrides { scale: Some(0.5), ..Default::default() };
    let schedule = crate::schedule("plan.toml", &text, &overrides, std::path::Path::new("/"));
    let schedule = schedule.map_err(|error| error.to_string())?;
    match &schedule.workload.phases[0].action {
        Action::Maildir(work) => Ok(*work),
        other => panic!("{other:?}"),
    }
}

fn plan(maildir: &str) -> Result<Maildir, String> {
    plan_of(&format!("{{ do = \"maildir\", maildir = {{ {maildir} }} }}"))
}

#[test]
fn defaults_are_explicit_and_only_messages_are_scaled() {
    let maildir = plan("messages = 1000").unwrap();
    assert_eq!((maildir.messages, maildir.mailboxes, maildir.fetch_at), (500, 50, 20));
    assert_eq!((maildir.agent, maildir.think_ns), (MailAgent::Postfix, 100_000_000));
    let maildir = plan("messages = 10, agent = \"dovecot\", fetch_at = 1, think = \"0 s\"");
    assert_eq!(maildir.unwrap().agent, MailAgent::Dovecot);
}

#[test]
fn what_cannot_be_delivered_is_refused() {
    for (maildir, told) in [
        ("messages = 0", "1 to 1000000 messages"),
        ("messages = 4000000", "1 to 1000000 messages"),
        ("messages = 1, mailboxes = 0", "1 to 1000000 mailboxes"),
        ("messages = 1, fetch_at = 0", "`fetch_at` must be at least 1"),
        ("messages = 1, agent = \"exim\"", "unknown variant `exim`"),
        ("mailboxes = 1", "missing field `messages`"),
    ] {
        let message = plan(maildir).unwrap_err();
        assert!(message.contains(told), "{maildir}: {message}");
    }
}

#[test]
fn power_cuts_need_something_that_judges_the_mail() {
    let of = |check: &str| {
        let text = format!(
            "name = \"x\"\nquestion = \"?\"\n[cuts]\nnumber = 10\n{check}[workload]\nphases = [\
             {{ do = \"maildir\", maildir = {{ messages = 9 }} }}]\n"
        );
        let base = std::path::Path::new("/");
        crate::schedule("plan.toml", &text, &crate::Overrides::default(), base)
    };
    let error = of("").unwrap_err().to_string();
    assert!(error.contains("nothing says what files must hold after a power cut"), "{error}");
    assert!(of("check = \"doveadm force-resync\"\n").is_ok());
}

#[test]
fn a_workload_has_one_such_phase_with_its_table() {
    let phase = "{ do = \"maildir\", maildir = { messages = 1 } }";
    let again = phase.replace("{ do", "{ name = \"again\", do");
    for (phases, told) in [
        ("{ do = \"maildir\" }", "needs `maildir`"),
        ("{ do = \"sync\", maildir = { messages = 1 } }", "`maildir` does not apply"),
        (&format!("{phase}, {again}"), "the phase `maildir` already has these files"),
    ] {
        let message = plan_of(phases).unwrap_err();
        assert!(message.contains(told), "{phases}: {message}");
    }
}
