//! `ssdlab flip`: the values of a drive's and a host's parameters at which verdicts flip.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_advice::{self as advice, CaseByBlock, CaseSubject, Crossing, Flip, ThresholdSide};
use ssdlab_conductor::{Guests, ModelChange};
use ssdlab_flash::Plausible;
use ssdlab_flash::evidence::Value;
use ssdlab_flash::plausible::{PlausibleValues, UncertainValue};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{HostModel, LabKind, Model, Schedule};
use ssdlab_report::value;
use ssdlab_results::{Record, RunContents};

use super::executors::{self, RunOptions};
use super::exit::{Exit, UsageError};
use super::plan_arguments::KernelArgument;
use super::results_folder::ResultsArguments;
use super::{flips, output, report};

/// The factor by which a value is tried beyond its range.
const BEYOND: f64 = 10.0;

/// Trials that narrow down each flip.
const STEPS: usize = 6;

/// Arguments of `ssdlab flip`.
#[derive(Debug, Args)]
pub struct FlipCommand {
    /// The run's name or folder (virtual lab).
    run: PathBuf,
    #[command(flatten)]
    results: ResultsArguments,
    /// Only this claim.
    #[arg(long, value_name = "ID")]
    claim: Option<String>,
    #[command(flatten)]
    kernel: KernelArgument,
    /// Print one JSON list.
    #[arg(long)]
    json: bool,
}

/// A value that was tried, and the claims that then hold, by name.
struct TriedValue {
    value: Value,
    holds: BTreeMap<String, bool>,
}

/// A parameter of a model, and the values to try first.
struct Parameter {
    model: Model,
    key: String,
    published: Value,
    is_amount: bool,
    ends: Vec<Value>,
}

impl FlipCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let folder = self.results.find_or_last(Some(&self.run))?;
        let (_, contents) = report::read(&folder)?;
        let RunContents { schedule, records, .. } = contents;
        if !schedule.is_in(LabKind::Virtual) {
            return Err(UsageError::report(
                format!(
                    "{} ran in the {} lab, where no parameter of a model can be changed",
                    self.run.display(),
                    schedule.origin()
                ),
                "name a run of the virtual lab",
            ));
        }
        let standings = self.standings(&schedule, &records)?;
        let plausible = executors::plausible(&schedule)?;
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let hosts = executors::hosts(&schedule, &interrupt)?;
        let parameters = parameters(&schedule, &standings, &plausible, &hosts);
        let schedule = schedule.undrawn();
        let run_options = RunOptions { kernel: self.kernel.path(), ..RunOptions::default() };
        let found = executors::in_guests(&schedule, run_options, &interrupt, |mut guests| {
            guests.provide(plausible);
            let mut search = Search { schedule: &schedule, standings: &standings, guests };
            Ok(search.all(&parameters))
        })?;
        if interrupt.is_set() {
            return Ok(Exit::Interrupted);
        }
        let found = flips::merged(flips::stored(&folder), found);
        flips::keep(&folder, &found).into_diagnostic()?;
        if self.json {
            output::print_json(&found);
        } else {
            output::print(&told(&found));
        }
        Ok(Exit::Done)
    }

    /// The claims, as they stand on the published drive.
    fn standings(
        &self,
        schedule: &Schedule,
        records: &[Record],
    ) -> Result<Vec<CaseByBlock>, Report> {
        let mut standings = advice::standings(schedule, records);
        standings.retain(|one| one.holds.contains_key(&0));
        let is_named = |one: &CaseByBlock| {
            let CaseSubject { id, claim, .. } = &one.subject;
            self.claim.as_ref().is_none_or(|named| named == id || named == claim)
        };
        let known: Vec<String> = standings.iter().map(|one| one.subject.id.clone()).collect();
        standings.retain(is_named);
        if known.is_empty() {
            return Err(UsageError::report(
                "no claim was judged on the published drive".to_owned(),
                "finish the run; `ssdlab report` says of each claim why it was not judged",
            ));
        }
        if standings.is_empty() {
            return Err(UsageError::report(
                "no such claim was judged on the published drive".to_owned(),
                format!("name one of: {}", known.join(", ")),
            ));
        }
        Ok(standings)
    }
}

/// The uncertain parameters of the models that claims are about.
fn parameters(
    schedule: &Schedule,
    standings: &[CaseByBlock],
    plausible: &BTreeMap<String, Plausible>,
    hosts: &BTreeMap<String, HostModel>,
) -> Vec<Parameter> {
    let treatments = treatments(standings);
    let setups = treatments.iter().filter_map(|of| schedule.treatments[*of].setup.as_ref().ok());
    let models: BTreeSet<Model> = setups.flat_map(|setup| setup.simulated.models()).collect();
    let of_model = |model: Model| match &model {
        Model::Drive(level) => of_drive(&model, &plausible[level]),
        Model::Host(level) => of_host(&model, &hosts[level]),
    };
    models.into_iter().flat_map(of_model).collect()
}

fn of_drive(model: &Model, plausible: &Plausible) -> Vec<Parameter> {
    let of = |uncertain: &UncertainValue| {
        let exists = |value: &Value| {
            let values = BTreeMap::from([(uncertain.key.clone(), value.clone())]);
            plausible.drive(&values).is_ok()
        };
        Parameter::of(model, uncertain, plausible.published(&uncertain.key)?, exists)
    };
    plausible.uncertain().iter().filter_map(of).collect()
}

fn of_host(model: &Model, host: &HostModel) -> Vec<Parameter> {
    let of = |uncertain: &UncertainValue| {
        let published = host.published(&uncertain.key)?.clone();
        let exists = |value: &Value| HostModel::may_cost(&uncertain.key, value);
        Parameter::of(model, uncertain, published, exists)
    };
    host.uncertain().iter().filter_map(of).collect()
}

/// The treatments that claims are about.
fn treatments(standings: &[CaseByBlock]) -> BTreeSet<usize> {
    standings.iter().flat_map(|one| one.subject.treatments.iter().copied()).collect()
}

impl Parameter {
    /// `exists` says whether the model can have a value.
    fn of(
        model: &Model,
        uncertain: &UncertainValue,
        published: Value,
        exists: impl Fn(&Value) -> bool,
    ) -> Option<Self> {
        let (is_amount, ends) = match &uncertain.spread {
            PlausibleValues::Choices(choices) => {
                let others = choices.iter().filter(|choice| **choice != published).cloned();
                (false, others.filter(|value| exists(value)).collect())
            }
            spread @ PlausibleValues::Range(_) => {
                let [least, most] = spread.ends()?;
                let beyond = |end: &Value, factor: f64| end.with_number(end.number()? * factor);
                // Ten times the value may give an invalid model.
                let farthest = |end: Value, factor: f64| {
                    let far = [factor, factor.sqrt()].into_iter();
                    far.filter_map(|factor| beyond(&end, factor))
                        .find(&exists)
                        .unwrap_or(end.clone())
                };
                (true, vec![farthest(least, 1.0 / BEYOND), farthest(most, BEYOND)])
            }
        };
        let (model, key) = (model.clone(), uncertain.key.clone());
        Some(Self { model, key, published, is_amount, ends })
    }
}

/// The search for flips.
struct Search<'a, 'b> {
    schedule: &'a Schedule,
    standings: &'a [CaseByBlock],
    guests: Guests<'b>,
}

/// A flip being narrowed down, between a value with the published verdict and one with another.
struct Bracket<'a> {
    parameter: &'a Parameter,
    standing: &'a CaseByBlock,
    same: Value,
    other: Value,
    /// Whether a trial between them failed, so that nothing is known of what is between.
    has_failed: bool,
}

impl Bracket<'_> {
    /// The value to try next, and to report in the end.
    fn middle(&self) -> Option<Value> {
        if self.has_failed {
            return None;
        }
        let (same, other) = (self.same.number()?, self.other.number()?);
        let is_logarithmic = same > 0.0 && other > 0.0;
        let middle =
            if is_logarithmic { (same * other).sqrt() } else { f64::midpoint(same, other) };
        self.same.with_number(middle).filter(|value| *value != self.same && *value != self.other)
    }

    /// Takes in whether the claim holds at a value, or that its trials failed.
    fn narrow(&mut self, value: Value, holds: Option<bool>) {
        match holds {
            Some(holds) if holds == self.standing.holds[&0] => self.same = value,
            Some(_) => self.other = value,
            None => self.has_failed = true,
        }
    }
}

impl Search<'_, '_> {
    fn all(&mut self, parameters: &[Parameter]) -> Vec<Flip> {
        let standings = self.standings;
        let first: Vec<(&Parameter, Value)> = parameters
            .iter()
            .flat_map(|of| of.ends.iter().map(move |end| (of, end.clone())))
            .collect();
        let tried = self.round(&first);
        let mut found = Vec::new();
        let mut brackets = Vec::new();
        for parameter in parameters {
            for standing in standings {
                let holds = standing.holds[&0];
                let mut flips = Vec::new();
                for ((of, end), tried) in first.iter().zip(&tried) {
                    let is_own = of.model == parameter.model && of.key == parameter.key;
                    let own = tried.holds.get(&standing.subject.id);
                    if !is_own || own.is_none_or(|own| *own == holds) {
                        continue;
                    }
                    if parameter.is_amount {
                        let (same, other) = (parameter.published.clone(), end.clone());
                        let has_failed = false;
                        brackets.push(Bracket { parameter, standing, same, other, has_failed });
                    } else {
                        flips.push(Crossing { side: ThresholdSide::At, value: end.clone() });
                    }
                }
                found.push(Flip {
                    claim: standing.subject.id.clone(),
                    model: parameter.model.clone(),
                    parameter: parameter.key.clone(),
                    published: parameter.published.clone(),
                    holds,
                    searched: parameter.ends.clone(),
                    flips,
                });
            }
        }
        for bracket in self.narrowed(brackets) {
            let value = bracket.middle().unwrap_or_else(|| bracket.other.clone());
            let is_above = bracket.other.number() > bracket.same.number();
            let side = if is_above { ThresholdSide::Above } else { ThresholdSide::Below };
            let own = found.iter_mut().find(|one| {
                one.claim == bracket.standing.subject.id
                    && one.model == bracket.parameter.model
                    && one.parameter == bracket.parameter.key
            });
            own.expect("each bracket has a place").flips.push(Crossing { side, value });
        }
        found
    }

    fn narrowed<'a>(&mut self, mut brackets: Vec<Bracket<'a>>) -> Vec<Bracket<'a>> {
        for _ in 0..STEPS {
            let middles: Vec<Option<Value>> = brackets.iter().map(Bracket::middle).collect();
            let open: Vec<(&Parameter, Value)> = brackets
                .iter()
                .zip(&middles)
                .filter_map(|(bracket, middle)| Some((bracket.parameter, middle.clone()?)))
                .collect();
            let mut tried = self.round(&open).into_iter();
            for (bracket, _) in brackets.iter_mut().zip(middles).filter(|(_, m)| m.is_some()) {
                let TriedValue { value, holds } = tried.next().expect("one for each value");
                bracket.narrow(value, holds.get(&bracket.standing.subject.id).copied());
            }
        }
        brackets
    }

    /// Tries values, each with all treatments of the claims, on the seed of the first block.
    fn round(&mut self, values: &[(&Parameter, Value)]) -> Vec<TriedValue> {
        let treatments = treatments(self.standings);
        let seed = self.schedule.trials.first().map_or(0, |trial| trial.seed);
        let (mut trials, mut changes) = (Vec::new(), BTreeMap::new());
        for ((parameter, value), block) in values.iter().zip(1..) {
            let values = BTreeMap::from([(parameter.key.clone(), value.clone())]);
            changes.insert(block, ModelChange { model: parameter.model.clone(), values });
            for treatment in &treatments {
                let position = u32::try_from(trials.len()).expect("few trials");
                trials.push(Trial { block, position, treatment: *treatment, seed });
            }
        }
        let (mut done, all) = (0, trials.len());
        let records = self.guests.measure(changes, trials, &mut |record| {
            done += 1;
            let reason = record.reason.as_deref().map_or(String::new(), |why| format!(": {why}"));
            output::tell(&format!("trial {done} of {all}: {}{reason}", record.status));
        });
        let standings = advice::standings(self.schedule, &records);
        let tried = |((_, value), block): (&(&Parameter, Value), u32)| TriedValue {
            value: value.clone(),
            holds: standings
                .iter()
                .filter_map(|one| Some((one.subject.id.clone(), *one.holds.get(&block)?)))
                .collect(),
        };
        values.iter().zip(1..).map(tried).collect()
    }
}

fn told(found: &[Flip]) -> String {
    let mut out = String::new();
    let claims: BTreeSet<&String> = found.iter().map(|one| &one.claim).collect();
    for claim in claims {
        let own: Vec<&Flip> = found.iter().filter(|one| one.claim == *claim).collect();
        let holds = own.first().is_some_and(|one| one.holds);
        let word = if holds { "holds" } else { "does not hold" };
        let _ = writeln!(out, "{claim}: {word} on the published drive");
        for one in &own {
            for at in &one.flips {
                let (side, at, now) = (at.side, value(&at.value), value(&one.published));
                let _ = writeln!(
                    out,
                    "  flips where {} of {} is {side} {at} (published: {now})",
                    one.parameter,
                    one.model.level()
                );
            }
        }
        let without = own.iter().filter(|one| one.flips.is_empty()).count();
        let _ = writeln!(
            out,
            "  {without} of {} parameters flip nothing up to ten times their ranges",
            own.len()
        );
    }
    out
}

#[cfg(test)]
mod tests;
