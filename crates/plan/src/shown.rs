//! The metrics that the reader of a report asks for instead of the plan's.

use super::metric;
use super::schedule::Schedule;

impl Schedule {
    /// Shows other metrics than the plan's, separated by commas: the first instead of it, the
    /// others beside that. The published values are about the plan's metric, so they are dropped
    /// with it. Fails with what is wrong, and what to write instead, if phases have no metric of
    /// that name.
    pub fn show(&mut self, names: &str) -> Result<(), (String, String)> {
        let asked: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
        for (index, name) in asked.iter().enumerate() {
            metric::of_phases(name)?;
            if asked[..index].contains(name) {
                let message = format!("`{name}` is asked for twice");
                return Err((message, "name each metric once".to_owned()));
            }
        }
        if self.metric != asked[0] {
            self.metric.clone_from(&asked[0]);
            self.published.clear();
        }
        self.asked = asked;
        Ok(())
    }

    /// The metrics that are shown beside the first.
    #[must_use]
    pub fn beside(&self) -> &[String] {
        self.asked.get(1..).unwrap_or_default()
    }
}
