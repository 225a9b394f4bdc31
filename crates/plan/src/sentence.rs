//! Sentences by a plan's author, which the results complete.
//!
//! Between braces a sentence names a claim and what is to be known of it: `{delete-slower.value}`.
//! A brace without a claim, `{.against}`, is about the claim named last, or the first that decides.

use serde::{Deserialize, Serialize};

/// A sentence with gaps for what is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sentence(Vec<SentencePart>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentencePart {
    /// Words.
    Text(String),
    /// What is known of a claim.
    Gap {
        /// The claim's id; `None` for the claim of the gap before, or the first that decides.
        claim: Option<String>,
        what: ClaimFact,
    },
    /// The best of the last ranking, `{best}`, with what cannot be told apart from it.
    Best,
}

/// The gap of [`SentencePart::Best`].
const BEST: &str = "best";

/// What is known of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFact {
    /// The metric on the claim's side.
    Value,
    /// The metric on the side that it is compared with.
    Against,
    /// The ratio: `73 times`.
    Times,
    /// The ratio as a difference: `4 % more`.
    More,
    /// The ratio as a share: `91 %`.
    Percent,
    /// The range of ratio or amount over drives, or over runs.
    Range,
    /// On how many plausible drives it holds.
    Share,
    /// Yes or no, or on how many plausible drives it holds.
    Verdict,
    /// The value or ratio of each case, with the levels in which cases differ.
    Each,
    /// The parameter of drives that decides.
    Separates,
    /// The levels of the case with the most: `ext2`.
    Most,
}

ssdlab_operations::words! {
    ClaimFact {
        Value: "value",
        Against: "against",
        Times: "times",
        More: "more",
        Percent: "percent",
        Range: "range",
        Share: "share",
        Verdict: "verdict",
        Each: "each",
        Separates: "separates",
        Most: "most",
    }
}

impl Sentence {
    /// Its parts in order.
    pub fn parts(&self) -> &[SentencePart] {
        &self.0
    }

    /// The claims that it names.
    pub fn claims(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            SentencePart::Gap { claim, .. } => claim.as_deref(),
            SentencePart::Text(_) | SentencePart::Best => None,
        })
    }

    /// Whether it names the best of a ranking.
    pub fn names_best(&self) -> bool {
        self.0.contains(&SentencePart::Best)
    }
}

impl TryFrom<String> for Sentence {
    type Error = String;

    /// # Errors
    ///
    /// Says which gap is not closed, or names nothing that can be known of a claim.
    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((gap, after)) = after.split_once('}') else {
                return Err(format!("`{{{after}` has no closing brace"));
            };
            if !before.is_empty() {
                parts.push(SentencePart::Text(before.to_owned()));
            }
            rest = after;
            if gap == BEST {
                parts.push(SentencePart::Best);
                continue;
            }
            let (claim, name) = gap.rsplit_once('.').unwrap_or((gap, ""));
            let what = ClaimFact::ALL.into_iter().find(|fact| fact.name() == name);
            let what = what.ok_or_else(|| {
                let known = ClaimFact::ALL.map(ClaimFact::name);
                format!(
                    "`{{{gap}}}` is neither `{{{BEST}}}` nor a claim and one of .{}",
                    known.join(", .")
                )
            })?;
            let claim = (!claim.is_empty()).then(|| claim.to_owned());
            parts.push(SentencePart::Gap { claim, what });
        }
        if !rest.is_empty() {
            parts.push(SentencePart::Text(rest.to_owned()));
        }
        Ok(Self(parts))
    }
}

impl From<Sentence> for String {
    fn from(sentence: Sentence) -> Self {
        let text = |part: &SentencePart| match part {
            SentencePart::Text(text) => text.clone(),
            SentencePart::Best => format!("{{{BEST}}}"),
            SentencePart::Gap { claim, what } => {
                format!("{{{}.{}}}", claim.as_deref().unwrap_or_default(), what.name())
            }
        };
        sentence.0.iter().map(text).collect()
    }
}
