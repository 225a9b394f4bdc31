//! A plan's sentences about the levels that run, which the command line may have changed.
//!
//! `{filesystem}` in a question, a claim or what follows from it stands for the levels of that
//! factor in this run. A question that names a level itself is followed by what runs instead.

use ssdlab_quantity::listed;

use super::factor::Factor;
use super::varied::VariedFactor;
use super::written::{OneOrMany, Plan, WrittenClaim};

/// What a plan says when it runs with these factors.
pub(super) struct PlanWording<'a> {
    plan: &'a Plan,
    factors: &'a [VariedFactor],
}

impl<'a> PlanWording<'a> {
    pub fn new(plan: &'a Plan, factors: &'a [VariedFactor]) -> Self {
        Self { plan, factors }
    }

    /// A sentence with the levels for which its placeholders stand.
    pub fn filled(&self, text: &str) -> String {
        filled(text, |factor| Some(self.varied(factor)?.levels.clone()))
    }

    fn varied(&self, factor: Factor) -> Option<&VariedFactor> {
        self.factors.iter().find(|varied| varied.factor == factor && !varied.levels.is_empty())
    }

    /// The question. If it names a level that is not in this run, it says which are.
    pub fn question(&self) -> String {
        let question = self.filled(&self.plan.question);
        let written = self.plan.factors.iter().chain(&self.plan.simulated.factors);
        let here = written.filter_map(|(factor, levels)| {
            let own = self.varied(*factor)?;
            let dropped = levels.get_ref().levels();
            let mut dropped = dropped.iter().filter(|level| !own.levels.contains(level));
            let is_name = |level: &&String| level.len() > 2 && level.parse::<f64>().is_err();
            let is_named = dropped.any(|level| is_name(&level) && has_word(&question, level));
            is_named.then(|| format!("{factor} = {}", own.levels.join(", ")))
        });
        let here: Vec<String> = here.collect();
        if here.is_empty() { question } else { format!("{question} (here: {})", here.join("; ")) }
    }

    /// A claim with its sentences filled.
    pub fn claim(&self, claim: &WrittenClaim) -> WrittenClaim {
        let of = |text: &Option<String>| text.as_ref().map(|text| self.filled(text));
        WrittenClaim {
            says: self.filled(&claim.says),
            if_holds: of(&claim.if_holds),
            if_refuted: of(&claim.if_refuted),
            ..claim.clone()
        }
    }
}

impl Plan {
    /// The question, with the plan's own levels for which its placeholders stand.
    pub fn own_question(&self) -> String {
        let levels = |factor| {
            let written = self.factors.get(&factor).or(self.simulated.factors.get(&factor))?;
            Some(OneOrMany::levels(written.get_ref()))
        };
        filled(&self.question, levels)
    }
}

fn filled(text: &str, levels: impl Fn(Factor) -> Option<Vec<String>>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled += before;
        let named = after
            .split_once('}')
            .and_then(|(name, after)| Some((levels(Factor::find(name)?)?, after)));
        if let Some((levels, after)) = named {
            filled += &listed(&levels);
            rest = after;
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled + rest
}

/// Whether a text has a word, which may be one of several in it, joined by signs.
fn has_word(text: &str, word: &str) -> bool {
    let is_end = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        is_end(text[..at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests;
