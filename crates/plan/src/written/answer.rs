//! `[answer]` of a plan.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize as DeriveDeserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

/// How the question is answered: in the author's words, with the numbers of a run.
#[derive(Debug, Clone, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Answer")]
pub struct AnswerTable {
    /// The ids of the claims that answer the question (default: the only claim): yes if all of them
    /// hold, no if all are refuted.
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(example = ["bfq-slower"])]
    pub decides: Option<Spanned<Vec<String>>>,
    /// What to say if all of them hold. `{bfq-slower.times}` names a claim and what is known of it:
    /// `value`, `against` (the same of the other side), `times`, `more` (`4 % more`), `percent`
    /// (the ratio), `range`, `share` (of plausible drives), `verdict` (yes, no or the share),
    /// `each` (the value or ratio of each case), `separates` (the drives' parameter that decides),
    /// `most` (the levels of the case with the most). `{best}` is the best of a ranking.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"bfq does {bfq-slower.value}, without it {.against}.")]
    pub yes: Option<Spanned<String>>,
    /// What to say if all are refuted.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"bfq is about as fast: {bfq-slower.value} against {.against}.")]
    pub no: Option<Spanned<String>>,
    /// What to say if some hold and others are refuted.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"Writes are slower, but reads take {reads.times} as long.")]
    pub in_part: Option<Spanned<String>>,
    /// What to say if it depends on the drive.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"It is {bfq-slower.separates} that decides.")]
    pub depends: Option<Spanned<String>>,
    /// What to say if there is no verdict.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"So far bfq does {bfq-slower.value}.")]
    pub undecided: Option<Spanned<String>>,
    /// What to say if the lab cannot tell.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"One processor does not show it; run the plan in the image lab.")]
    pub untested: Option<Spanned<String>>,
    /// What to say, whatever the verdicts, to a question that neither yes nor no answers.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"bfq does {bfq-slower.value}, none {.against}.")]
    pub says: Option<Spanned<String>>,
    /// More sentences, each said if all claims hold that it names.
    #[serde(default)]
    #[schemars(with = "Vec<WrittenRemark>")]
    #[schemars(example = ["Reads gain most: {reads.times} as long."])]
    pub also: Vec<Spanned<WrittenRemark>>,
    /// Why agreement with the source is no evidence: what was fitted to the source's numbers.
    #[schemars(example = &"what a discard costs was fitted to the post's 40 s")]
    pub reproduced: Option<String>,
    /// The assumption of the models from which the answer follows.
    #[schemars(example = &"the model writes to any place as fast as to the next")]
    pub assumed: Option<String>,
    /// The claims whose sides the answer's chart shows (default: those that decide).
    #[schemars(with = "Option<Vec<String>>")]
    #[schemars(example = ["bfq-slower", "reads"])]
    pub chart: Option<Spanned<Vec<String>>>,
    /// What the answer and its chart call levels, phases and the plan's metric whose names do not
    /// explain themselves; an empty name leaves a level out.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    #[schemars(example = BTreeMap::from([("busy", "beside 100 MB/s"), ("none", "no scheduler")]))]
    pub labels: Option<Spanned<BTreeMap<String, String>>>,
}

/// A sentence that is not always said.
#[derive(Debug, Clone, DeriveDeserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a sentence, or a table with `says` and `holds`")]
#[schemars(rename = "Remark")]
pub enum WrittenRemark {
    /// Said if all claims hold that it names.
    Sentence(String),
    /// Said if these claims hold and those are refuted.
    Conditional(WrittenCondition),
}

/// A sentence, and the claims on which it depends.
#[derive(Debug, Clone, DeriveDeserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Condition")]
pub struct WrittenCondition {
    /// The sentence.
    #[schemars(example = &"Reads gain nothing.")]
    pub says: String,
    /// The claims that must hold.
    #[serde(default)]
    #[schemars(example = ["bfq-slower"])]
    pub holds: Vec<String>,
    /// The claims that must be refuted.
    #[serde(default)]
    #[schemars(example = ["reads"])]
    pub refuted: Vec<String>,
}

/// A plan's answer: a table, or only the ids of the claims that decide.
#[derive(Debug, Clone)]
pub enum WrittenAnswer {
    /// The claims that decide.
    Decides(Vec<String>),
    /// The whole answer.
    Table(Box<AnswerTable>),
}

impl<'de> Deserialize<'de> for WrittenAnswer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        // Not serde's untagged enum, whose errors have no place in the file.
        impl<'de> Visitor<'de> for Either {
            type Value = WrittenAnswer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table `[answer]`, or a list of claims")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<WrittenAnswer, A::Error> {
                let ids = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(WrittenAnswer::Decides(ids))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenAnswer, A::Error> {
                let table = AnswerTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WrittenAnswer::Table(Box::new(table)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
