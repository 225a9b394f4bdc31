//! The plan that predicts what a plan of the live lab will measure: the same treatments and the
//! same work, on a simulated drive.

use toml::{Table, Value};

use super::error::PlanError;
use super::factor::{Factor, Levels};
use super::schedule::Schedule;

/// What a plan says of work and of what is measured, in any lab.
const KEPT: [&str; 5] = ["name", "question", "metric", "metrics", "workload"];

/// Writes the plan, with a treatment for each of the live lab's, in their order. `filesystem` is
/// what is mounted, and `options` are in force under each treatment.
pub fn predicted(
    text: &str,
    live: &Schedule,
    filesystem: &str,
    options: &[Vec<String>],
) -> Result<String, PlanError> {
    let mut plan: Table = super::parse_as(&live.plan, text)?;
    plan.retain(|key, _| KEPT.contains(&key));
    plan.insert("lab".to_owned(), "virtual".into());
    let levels = |(levels, options): (&Levels, &Vec<String>)| {
        // They are among the options.
        let is_other = |factor: Factor| !matches!(factor, Factor::Atime | Factor::Discard);
        let other = levels.0.iter().filter(|(factor, _)| is_other(**factor));
        let other = other.map(|(factor, level)| (factor.name().to_owned(), level.clone().into()));
        let mut levels: Table = other.collect();
        levels.insert(Factor::Filesystem.name().to_owned(), filesystem.into());
        levels.insert(Factor::Mount.name().to_owned(), options.join(",").into());
        Value::from(levels)
    };
    let treatments = live.treatments.iter().map(|treatment| &treatment.levels).zip(options);
    plan.insert("treatments".to_owned(), treatments.map(levels).collect::<Vec<_>>().into());
    Ok(format!("# Predicts what {} measures.\n\n{plan}", live.plan))
}

#[cfg(test)]
mod tests;
