//! The answer to a run's question: the plan's own sentences with what was found, or, where the plan
//! has none, one short sentence for each claim that decides.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{Analysis, Completeness, Judgement, TreatmentResult, TreatmentStatus, Verdict};
use ssdlab_flash::presets;
use ssdlab_plan::{AnswerVerdict, Factor, Levels, Remark, Schedule, Sentence, SentencePart};
use ssdlab_quantity::{grouped, listed};

use super::cuts;
use super::levels::label;
use super::nouns::capitalised;
use super::words::plain;

mod certainty;
pub(super) mod facts;
mod generated;
pub(super) mod ranking;

pub use certainty::Certainty;

use facts::ClaimFacts;

/// A question with its answer, as every report begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub struct AnsweredQuestion {
    /// What became of the question.
    pub verdict: AnswerVerdict,
    /// The answer in words, with its numbers.
    pub sentence: String,
    /// What else was found.
    pub also: Vec<String>,
    /// What to do.
    #[serde(rename = "do")]
    pub actions: Vec<String>,
    /// The simulated drives that it is about, with what they model; empty for what was measured.
    pub drives: Vec<String>,
    /// What the answer is worth.
    pub sure: Certainty,
    /// Why: on how much it rests, its range, and what it does not show.
    pub because: String,
}

/// An analysis with its answer, for programs.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answered")]
pub struct AnsweredAnalysis<'a> {
    /// The answer to the question.
    pub answer: AnsweredQuestion,
    /// The analysis.
    #[serde(flatten)]
    pub analysis: &'a Analysis,
}

impl<'a> AnsweredAnalysis<'a> {
    pub fn new(schedule: &Schedule, analysis: &'a Analysis) -> Self {
        Self { answer: answer(schedule, analysis), analysis }
    }
}

/// The answer of a run.
pub fn answer(schedule: &Schedule, analysis: &Analysis) -> AnsweredQuestion {
    let reader = AnswerReader { schedule, analysis };
    let (verdict, sentence) = reader.sentence();
    let sentence = match analysis.status {
        Completeness::Complete => sentence,
        Completeness::Partial => format!("So far: {sentence}"),
    };
    let is_judged = match verdict {
        AnswerVerdict::Depends => true,
        AnswerVerdict::Yes | AnswerVerdict::No | AnswerVerdict::InPart => {
            !asks_which(&analysis.question)
        }
        AnswerVerdict::Undecided | AnswerVerdict::Untested | AnswerVerdict::Answered => false,
    };
    let (sure, because) = certainty::certainty(schedule, analysis, &reader.deciding(), is_judged);
    AnsweredQuestion {
        verdict,
        sentence,
        also: reader.also(),
        actions: reader.actions(),
        drives: reader.drives(),
        sure,
        because,
    }
}

/// Reads a run for its answer.
struct AnswerReader<'a> {
    schedule: &'a Schedule,
    analysis: &'a Analysis,
}

impl<'a> AnswerReader<'a> {
    /// The cases of a claim; empty if the run does not judge it.
    fn cases(&self, id: &str) -> Vec<&'a Judgement> {
        self.analysis.claims.iter().filter(|judged| judged.claim.id == id).collect()
    }

    /// The cases of each claim that decides. None if another metric was asked for: what is shown
    /// is then not the answer.
    fn deciding(&self) -> Vec<Vec<&'a Judgement>> {
        if self.schedule.is_asked_for {
            return Vec::new();
        }
        let ids = self.schedule.answer.decides.iter();
        ids.map(|id| self.cases(id)).filter(|cases| !cases.is_empty()).collect()
    }

    fn sentence(&self) -> (AnswerVerdict, String) {
        if let Some(nothing) = nothing(self.analysis) {
            return (AnswerVerdict::Untested, nothing);
        }
        let deciding = self.deciding();
        let Some(found) = verdict(&deciding) else {
            return (AnswerVerdict::Answered, self.without_claims());
        };
        let says = &self.schedule.answer.says;
        let own = |verdict| says.get(&verdict).and_then(|sentence| self.filled(sentence));
        let is_testable =
            deciding.iter().flatten().all(|case| case.outcome.verdict() != Verdict::Untested);
        if let Some(says) = own(AnswerVerdict::Answered).filter(|_| is_testable) {
            return (AnswerVerdict::Answered, says);
        }
        if let Some(says) = own(found).filter(|_| found == AnswerVerdict::Depends) {
            return (found, says);
        }
        let says = own(found).unwrap_or_else(|| {
            let first = generated::claims(self.schedule, self.analysis, &deciding);
            let ranked = ranking::leader(self.schedule, self.analysis);
            ranked.into_iter().chain([first]).collect::<Vec<_>>().join(" ")
        });
        let word = first_word(found, asks_which(&self.analysis.question));
        (found, if word.is_empty() { says } else { format!("{word} {says}") })
    }

    /// The answer of a run without claims that decide.
    fn without_claims(&self) -> String {
        let (schedule, analysis) = (self.schedule, self.analysis);
        // Whoever cuts the power asks what is lost.
        let losses = analysis.claims.is_empty().then(|| cuts::losses(schedule, analysis)).flatten();
        let found = ranking::leader(schedule, analysis)
            .or_else(|| losses.map(|losses| format!("{}.", capitalised(&losses))))
            .or_else(|| generated::largest(schedule, analysis))
            .or_else(|| generated::alone(analysis));
        found.unwrap_or_else(|| "Nothing was compared.".to_owned())
    }

    /// A sentence with its gaps filled; `None` if one of them is not known.
    fn filled(&self, sentence: &Sentence) -> Option<String> {
        let mut last = self.schedule.answer.decides.first().map_or("", String::as_str);
        let mut filled = String::new();
        let mut parts = sentence.parts().iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                SentencePart::Text(text) => filled += text,
                SentencePart::Best => filled += &ranking::best(self.schedule, self.analysis)?,
                SentencePart::Gap { claim, what } => {
                    last = claim.as_deref().unwrap_or(last);
                    let cases = self.cases(last);
                    let facts = ClaimFacts {
                        schedule: self.schedule,
                        analysis: self.analysis,
                        cases: &cases,
                    };
                    let found = facts.find(*what)?;
                    let is_compared = parts.peek().is_some_and(
                        |next| matches!(next, SentencePart::Text(text) if text.starts_with(" as ")),
                    );
                    let times = found.strip_suffix(" times").and_then(|times| times.parse().ok());
                    let is_just = is_compared && times.is_some_and(ranking::is_negligible);
                    filled += if is_just { "just" } else { &found };
                }
            }
        }
        Some(filled)
    }

    /// Further sentences whose claims came out as they say, and what could not be answered.
    fn also(&self) -> Vec<String> {
        let came_out = |ids: &[String], verdict: Verdict| {
            ids.iter().all(|id| {
                let cases = self.cases(id);
                !cases.is_empty() && cases.iter().all(|case| case.outcome.verdict() == verdict)
            })
        };
        let is_said = |remark: &&Remark| {
            came_out(&remark.holds, Verdict::Holds) && came_out(&remark.refuted, Verdict::Refuted)
        };
        let own = self.schedule.answer.also.iter().filter(is_said);
        let own = own.filter_map(|remark| self.filled(&remark.says));
        own.chain(unmeasured(self.schedule, self.analysis)).collect()
    }

    /// The drives of the claims that decide, or of all treatments if none does.
    fn drives(&self) -> Vec<String> {
        let deciding = self.deciding();
        let cases = deciding.iter().flatten();
        let cases = cases.flat_map(|case| case.levels.iter().chain(&case.baseline));
        let all = self.analysis.treatments.iter().map(|own| &own.levels);
        let drives_of = |levels: &Levels| levels.0.get(&Factor::Drive).cloned();
        let mut drives: BTreeSet<String> = cases.filter_map(drives_of).collect();
        if drives.is_empty() {
            drives = all.filter_map(drives_of).collect();
        }
        drives.iter().map(|name| drive_name(name)).collect()
    }

    /// What to do: first what follows from the claims that decide.
    fn actions(&self) -> Vec<String> {
        let decides = &self.schedule.answer.decides;
        let is_deciding = |ids: &[String]| {
            let of = |id: &String| self.analysis.claims.iter().find(|own| own.id == *id);
            let mut claims = ids.iter().filter_map(of);
            claims.any(|own| decides.contains(&own.claim.id))
        };
        let (mut actions, others): (Vec<_>, Vec<_>) =
            self.analysis.settings.iter().partition(|setting| is_deciding(&setting.claims));
        actions.extend(others);
        actions.iter().map(|setting| setting.says.clone()).collect()
    }
}

/// A simulated drive, with the product that it models if it comes with the program.
fn drive_name(name: &str) -> String {
    let preset = presets::find(name);
    let description = preset.map_or(String::new(), |preset| preset.specification().description);
    let models = description.split_once("(as ").and_then(|(_, models)| models.split_once(')'));
    let what = models.map(|(models, _)| format!(": as {models}"));
    let product = || Some(format!(": {}", description.split_once(':')?.0));
    let what = what.or_else(product).unwrap_or_default();
    format!("{} (simulated){what}", plain(name))
}

/// What becomes of the question; `None` if no claim decides.
fn verdict(deciding: &[Vec<&Judgement>]) -> Option<AnswerVerdict> {
    let all: BTreeSet<Option<bool>> = deciding.iter().flatten().map(|case| told(case)).collect();
    let is =
        |verdict: Verdict| deciding.iter().flatten().any(|case| case.outcome.verdict() == verdict);
    let verdicts: Vec<Option<bool>> = all.into_iter().collect();
    Some(match &verdicts[..] {
        [] => return None,
        _ if is(Verdict::Undecided) => AnswerVerdict::Undecided,
        _ if is(Verdict::Depends) => AnswerVerdict::Depends,
        // What was found of the other claims is no answer without these.
        [None, ..] => AnswerVerdict::Untested,
        [Some(true)] => AnswerVerdict::Yes,
        [Some(false)] => AnswerVerdict::No,
        _ => AnswerVerdict::InPart,
    })
}

/// Whether a case holds; `None` if it has no verdict.
fn told(case: &Judgement) -> Option<bool> {
    match case.outcome.verdict() {
        Verdict::Holds => Some(true),
        Verdict::Refuted => Some(false),
        Verdict::Depends | Verdict::Undecided | Verdict::Identical | Verdict::Untested => None,
    }
}

/// Whether neither yes nor no answers a question.
fn asks_which(question: &str) -> bool {
    const WORDS: [&str; 8] = ["which", "what", "how", "why", "when", "where", "who", "whose"];
    let first = question.split_whitespace().next().unwrap_or_default().to_lowercase();
    WORDS.contains(&first.as_str())
}

/// The first word of an answer; empty if it needs none.
fn first_word(verdict: AnswerVerdict, is_open: bool) -> &'static str {
    match verdict {
        AnswerVerdict::Depends => "It depends on the drive.",
        AnswerVerdict::Undecided => "Not decided yet.",
        AnswerVerdict::Untested => "Not testable here.",
        _ if is_open => "",
        AnswerVerdict::Yes => "Yes.",
        AnswerVerdict::No => "No.",
        AnswerVerdict::InPart => "In part.",
        AnswerVerdict::Answered => "",
    }
}

/// Why nothing could be measured, if nothing was.
fn nothing(analysis: &Analysis) -> Option<String> {
    if analysis.treatments.iter().any(|own| own.status == TreatmentStatus::Ok) {
        return None;
    }
    let reason = analysis.treatments.iter().find_map(|own| own.reason.as_deref());
    let reason = reason.and_then(|why| why.lines().next());
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    Some(format!("Nothing could be measured{reason}."))
}

/// The treatments of which nothing was measured, by the reason: what is said of the others does
/// not hold for them.
fn unmeasured(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let is_lost = |own: &&TreatmentResult| {
        matches!(own.status, TreatmentStatus::Failed | TreatmentStatus::Unavailable)
    };
    let of = |own: &TreatmentResult| {
        let why = own.reason.as_deref().and_then(|why| why.lines().next());
        (why.unwrap_or("it failed").to_owned(), label(schedule, &own.levels))
    };
    let lost = grouped(analysis.treatments.iter().filter(is_lost).map(of));
    let of_reason = |(why, labels): (String, Vec<String>)| match &labels[..] {
        [first, _, _, _, ..] => format!("{first} and {} others ({why})", labels.len() - 1),
        few => format!("{} ({why})", listed(few)),
    };
    let lost: Vec<String> = lost.into_iter().map(of_reason).collect();
    let is_answered = nothing(analysis).is_none();
    (is_answered && !lost.is_empty()).then(|| format!("Not measured: {}.", lost.join("; ")))
}

#[cfg(test)]
mod tests;
