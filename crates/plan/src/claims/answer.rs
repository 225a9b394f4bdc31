//! Resolves a plan's answer: its sentences name only claims that there are.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use crate::answer::{Answer, AnswerBasis, AnswerVerdict, Remark};
use crate::error::PlanFault;
use crate::schedule::Claim;
use crate::sentence::Sentence;
use crate::wording::PlanWording;
use crate::written::{Plan, WrittenAnswer, WrittenCondition, WrittenRemark};

/// The answer, checked: it names only claims of the plan, and gives labels only to what `is_named`
/// there: levels, phases and metrics.
pub(crate) fn answer(
    plan: &Plan,
    claims: &[Claim],
    wording: &PlanWording<'_>,
    is_ranked: bool,
    is_named: impl Fn(&str) -> bool,
) -> Result<Answer, PlanFault> {
    let check = AnswerCheck { claims, wording, is_ranked };
    let only = || match claims {
        [only] => vec![only.id.clone()],
        _ => Vec::new(),
    };
    let Some(written) = &plan.answer else {
        return Ok(Answer { decides: only(), ..Answer::default() });
    };
    let span = written.span();
    let table = match written.get_ref() {
        WrittenAnswer::Decides(ids) => {
            check.ids(ids).map_err(|fault| fault.placed(span))?;
            return Ok(Answer { decides: ids.clone(), ..Answer::default() });
        }
        WrittenAnswer::Table(table) => table,
    };
    let named = |ids: &Option<Spanned<Vec<String>>>| {
        let Some(ids) = ids else { return Ok(None) };
        check.ids(ids.get_ref()).map_err(|fault| fault.placed(ids.span()))?;
        Ok(Some(ids.get_ref().clone()))
    };
    let decides = named(&table.decides)?.unwrap_or_else(only);
    let chart = named(&table.chart)?.unwrap_or_default();
    let mut says = BTreeMap::new();
    for (verdict, sentence) in [
        (AnswerVerdict::Yes, &table.yes),
        (AnswerVerdict::No, &table.no),
        (AnswerVerdict::InPart, &table.in_part),
        (AnswerVerdict::Depends, &table.depends),
        (AnswerVerdict::Undecided, &table.undecided),
        (AnswerVerdict::Untested, &table.untested),
        (AnswerVerdict::Answered, &table.says),
    ] {
        let Some(sentence) = sentence else { continue };
        says.insert(verdict, check.sentence(sentence.get_ref(), sentence.span())?);
    }
    let is_decided_by_says = [AnswerVerdict::Yes, AnswerVerdict::No, AnswerVerdict::InPart];
    if table.says.is_some() && is_decided_by_says.iter().any(|own| says.contains_key(own)) {
        return Err(PlanFault::at(
            span,
            "`says` answers questions that neither yes nor no answers, and there is a `yes`, `no` \
             or `in_part`",
            "leave out one or the other",
        ));
    }
    let also = table.also.iter().map(|remark| check.remark(remark));
    let also = also.collect::<Result<_, _>>()?;
    let rests_on = match (&table.reproduced, &table.assumed) {
        (Some(_), Some(_)) => {
            let help = "if the model was fitted to the source, leave out `assumed`";
            let message = "an answer is either `reproduced` or `assumed`";
            return Err(PlanFault::at(span, message, help));
        }
        (Some(why), None) => Some(AnswerBasis::Reproduced(why.clone())),
        (None, Some(why)) => Some(AnswerBasis::Assumed(why.clone())),
        (None, None) => None,
    };
    if let Some(labels) = &table.labels
        && let Some(unknown) = labels.get_ref().keys().find(|name| !is_named(name))
    {
        let message = format!("`labels` names `{unknown}`, no level, phase or metric of the plan");
        return Err(PlanFault::at(labels.span(), message, "copy a name from the plan"));
    }
    let labels = table.labels.as_ref().map(|own| own.get_ref().clone()).unwrap_or_default();
    Ok(Answer { decides, says, also, rests_on, chart, labels })
}

/// Checks what an answer names.
struct AnswerCheck<'a> {
    claims: &'a [Claim],
    wording: &'a PlanWording<'a>,
    is_ranked: bool,
}

impl AnswerCheck<'_> {
    fn ids(&self, ids: &[String]) -> Result<(), PlanFault> {
        for (index, id) in ids.iter().enumerate() {
            self.id(id)?;
            if ids[..index].contains(id) {
                let message = format!("`answer` names `{id}` twice");
                return Err(PlanFault::nowhere(message, "name each claim once"));
            }
        }
        Ok(())
    }

    fn id(&self, id: &str) -> Result<(), PlanFault> {
        if self.claims.iter().any(|claim| claim.id == id) {
            return Ok(());
        }
        let known: Vec<&str> = self.claims.iter().map(|claim| claim.id.as_str()).collect();
        let message = format!("`answer` names `{id}`, and no claim is called so");
        Err(PlanFault::nowhere(message, format!("claims: {}", known.join(", "))))
    }

    fn sentence(&self, text: &str, span: Range<usize>) -> Result<Sentence, PlanFault> {
        let help = "a gap is `{claim.value}`; `{.value}` is about the claim before";
        let sentence = Sentence::try_from(self.wording.filled(text))
            .map_err(|message| PlanFault::at(span.clone(), message, help))?;
        for id in sentence.claims() {
            self.id(id).map_err(|fault| fault.placed(span.clone()))?;
        }
        if sentence.names_best() && !self.is_ranked {
            let message = "`{best}` is the first of a ranking, and the plan ranks nothing";
            return Err(PlanFault::at(span, message, "name a claim, or add `[ranking]`"));
        }
        Ok(sentence)
    }

    fn remark(&self, written: &Spanned<WrittenRemark>) -> Result<Remark, PlanFault> {
        let span = written.span();
        match written.get_ref() {
            WrittenRemark::Sentence(says) => {
                let says = self.sentence(says, span.clone())?;
                let holds: Vec<String> = says.claims().map(str::to_owned).collect();
                if holds.is_empty() {
                    let message = "this sentence names no claim that must hold for it to be said";
                    let help = "write { says = \"...\", holds = [\"claim\"] }";
                    return Err(PlanFault::at(span, message, help));
                }
                Ok(Remark { says, holds, refuted: Vec::new() })
            }
            WrittenRemark::Conditional(WrittenCondition { says, holds, refuted }) => {
                let says = self.sentence(says, span.clone())?;
                for ids in [holds, refuted] {
                    self.ids(ids).map_err(|fault| fault.placed(span.clone()))?;
                }
                Ok(Remark { says, holds: holds.clone(), refuted: refuted.clone() })
            }
        }
    }
}

#[cfg(test)]
mod tests;
