//! Tests of the plans that questions make.

use std::path::Path;

use clap::ValueEnum;

use super::{AskedFilesystem, Question, QuestionWork};
use crate::{Overrides, Schedule, metric, schedule};

fn asked(treatments: &[&str], work: QuestionWork, metrics: &[&str]) -> Question {
    Question {
        treatments: treatments.iter().map(|own| own.parse::<AskedFilesystem>().unwrap()).collect(),
        work,
        drives: Vec::new(),
        metrics: metrics.iter().map(|own| (*own).to_owned()).collect(),
    }
}

fn planned(question: &Question) -> Schedule {
    schedule("p.toml", &question.to_string(), &Overrides::default(), Path::new("/")).unwrap()
}

#[test]
fn every_work_makes_a_plan_that_ranks_what_it_measures() {
    for work in QuestionWork::value_variants() {
        let schedule = planned(&asked(&["ext4:noatime,commit=60", "xfs"], *work, &[]));
        assert_eq!(schedule.metrics().map(|of| of.name).collect::<Vec<_>>(), work.metrics());
        assert_eq!(schedule.ranking.as_ref().unwrap().metric.name, work.metrics()[0]);
        assert!(schedule.notes.iter().all(|note| note.starts_with("by default")), "{work:?}");
    }
}

#[test]
fn a_colon_in_mount_options_is_theirs() {
    let schedule = planned(&asked(&["btrfs:compress=zstd:3"], QuestionWork::KernelTree, &[]));
    let levels = schedule.treatments[0].levels.to_string();
    assert_eq!(levels, "filesystem = btrfs, mount = compress=zstd:3");
    let question =
        "How good is btrfs with compress=zstd:3 at unpacking and deleting a kernel tree?";
    assert_eq!(schedule.question, question);
}

/// What no metric or several phases can rank is compared all the same.
#[test]
fn only_what_can_be_ranked_is() {
    let both = ["ext4", "xfs"];
    for (metric, work, ranks) in [
        ("discard_requests", QuestionWork::Maildir, false),
        ("write_amplification", QuestionWork::Maildir, true),
        ("write_amplification", QuestionWork::KernelTree, false),
    ] {
        assert!(metric::find(metric).is_some());
        assert_eq!(planned(&asked(&both, work, &[metric])).ranking.is_some(), ranks, "{metric}");
    }
    assert!(planned(&asked(&["ext4"], QuestionWork::Maildir, &[])).ranking.is_none());
}
