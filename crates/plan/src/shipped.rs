//! The plans that come with the program, embedded so that it runs from any directory.

/// A plan's name and its text.
#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    /// The name `ssdlab run` takes.
    pub name: &'static str,
    /// The TOML file.
    pub text: &'static str,
}

/// Every shipped plan.
pub const ALL: [Shipped; 8] = [
    Shipped { name: "discard", text: include_str!("../../../plans/discard.toml") },
    Shipped { name: "filesystems", text: include_str!("../../../plans/filesystems.toml") },
    Shipped { name: "fsync", text: include_str!("../../../plans/fsync.toml") },
    Shipped { name: "journal", text: include_str!("../../../plans/journal.toml") },
    Shipped { name: "power-loss", text: include_str!("../../../plans/power-loss.toml") },
    Shipped { name: "schedulers", text: include_str!("../../../plans/schedulers.toml") },
    Shipped { name: "tandem", text: include_str!("../../../plans/tandem.toml") },
    Shipped { name: "wear", text: include_str!("../../../plans/wear.toml") },
];

/// Finds a shipped plan by name.
#[must_use]
pub fn find(name: &str) -> Option<Shipped> {
    ALL.into_iter().find(|plan| plan.name == name)
}
