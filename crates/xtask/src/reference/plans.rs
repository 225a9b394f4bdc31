//! The reference of plans: every table of a plan, every key with an example, every word.

use schemars::schema_for;
use ssdlab_plan::Plan;

use super::tables::Tables;

/// The tables of a plan in the usual order, and the words that it may use.
pub const PLAN: Tables = Tables {
    tables: &[
        ("", "The plan"),
        ("Target", "`[target]`"),
        ("Needs", "`[needs]`"),
        ("Simulated", "`[virtual]`"),
        ("Live", "`[live]`"),
        ("Workload", "`[workload]`"),
        ("System", "`workload.system`"),
        ("Tree", "`workload.tree`"),
        ("Build", "`workload.build`"),
        ("WrittenBonnie", "`workload.bonnie`"),
        ("Phase", "`workload.phases`"),
        ("WrittenIo", "`io` of a phase"),
        ("WrittenTransactions", "`transactions` of a phase"),
        ("WrittenReplace", "`replace` of a phase"),
        ("WrittenAppend", "`append` of a phase"),
        ("WrittenDatabase", "`database` of a phase"),
        ("Sequences", "`sequences` of a phase"),
        ("WrittenMaildir", "`maildir` of a phase"),
        ("WrittenRotate", "`rotate` of a phase"),
        ("WrittenCuts", "`[cuts]`"),
        ("Repetitions", "`[repetitions]`"),
        ("Ranking", "`[ranking]`"),
        ("Step", "`[[steps]]`"),
        ("Answer", "`[answer]`"),
        ("Condition", "A sentence of `also`"),
        ("Claim", "`[[claims]]`"),
        ("Published", "`[[published]]`"),
    ],
    words: &[
        ("LabKind", "Labs"),
        ("Verb", "What a phase does"),
        ("BonnieTest", "Bonnie's tests"),
        ("Pattern", "Orders of places"),
        ("ReadOrder", "Orders of files"),
        ("SyncBy", "How written data are made durable"),
        ("JournalMode", "Journals of transactions"),
        ("Moments", "Where power cuts fall"),
        ("Synced", "What is synced when a file is replaced"),
        ("TornPages", "What repairs torn pages of a database"),
        ("Synchronous", "When transactions are synced"),
        ("MailAgent", "How messages are delivered"),
    ],
};

/// The text of the page.
pub fn page() -> String {
    let mut out = "A plan is a TOML file. Every key is optional unless marked *required*. \
                   `ssdlab schema plan` prints the same as a JSON schema, with which an editor can \
                   complete and check plans; `ssdlab check PLAN` shows what a plan would do. \
                   [Your own plan](../tutorial/own-plan.md) is a tutorial.\n"
        .to_owned();
    PLAN.write(&mut out, &schema_for!(Plan).to_value(), &|_| None);
    out
}
