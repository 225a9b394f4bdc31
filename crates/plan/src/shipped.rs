//! The shipped plans, embedded so that the program runs from any directory.

/// When a plan's question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionEra {
    /// In 2009 and 2011, in the posts that ssdlab was made to answer.
    Founding,
    /// Since then, in issues and forums.
    Today,
}

/// A plan's name and its text.
#[derive(Debug, Clone, Copy)]
pub struct ShippedPlan {
    /// The name `ssdlab run` takes.
    pub name: &'static str,
    /// When its question was asked.
    pub asked: QuestionEra,
    /// The TOML file.
    pub text: &'static str,
}

/// Those that any lab can run.
pub const ALL: [ShippedPlan; 20] = [
    founding("discard", include_str!("../../../plans/discard.toml")),
    founding("filesystems", include_str!("../../../plans/filesystems.toml")),
    founding("small-files", include_str!("../../../plans/small-files.toml")),
    founding("fsync", include_str!("../../../plans/fsync.toml")),
    founding("journal", include_str!("../../../plans/journal.toml")),
    founding("schedulers", include_str!("../../../plans/schedulers.toml")),
    founding("tandem", include_str!("../../../plans/tandem.toml")),
    founding("wear", include_str!("../../../plans/wear.toml")),
    today("power-loss", include_str!("../../../plans/power-loss.toml")),
    today("btrfs-small-writes", include_str!("../../../plans/btrfs-small-writes.toml")),
    today("etcd", include_str!("../../../plans/etcd.toml")),
    today("sqlite", include_str!("../../../plans/sqlite.toml")),
    today("database", include_str!("../../../plans/database.toml")),
    today("raspberry", include_str!("../../../plans/raspberry.toml")),
    today("trim-today", include_str!("../../../plans/trim-today.toml")),
    today("overprovision", include_str!("../../../plans/overprovision.toml")),
    today("schedulers-today", include_str!("../../../plans/schedulers-today.toml")),
    today("luks", include_str!("../../../plans/luks.toml")),
    today("proxmox", include_str!("../../../plans/proxmox.toml")),
    today("container-host", include_str!("../../../plans/container-host.toml")),
];

/// Those that experiment on the running machine, which no other lab can run.
pub const LIVE: [ShippedPlan; 5] = [
    today("live-commit", include_str!("../../../plans/live-commit.toml")),
    today("live-atime", include_str!("../../../plans/live-atime.toml")),
    today("live-discard", include_str!("../../../plans/live-discard.toml")),
    today("live-scheduler", include_str!("../../../plans/live-scheduler.toml")),
    today("live-tweak", include_str!("../../../plans/live-tweak.toml")),
];

/// Every shipped plan.
pub fn all() -> impl Iterator<Item = ShippedPlan> {
    ALL.into_iter().chain(LIVE)
}

const fn founding(name: &'static str, text: &'static str) -> ShippedPlan {
    ShippedPlan { name, asked: QuestionEra::Founding, text }
}

const fn today(name: &'static str, text: &'static str) -> ShippedPlan {
    ShippedPlan { name, asked: QuestionEra::Today, text }
}

pub fn find(name: &str) -> Option<ShippedPlan> {
    all().find(|plan| plan.name == name)
}
