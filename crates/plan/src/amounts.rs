//! Whether amounts of a run can be compared with those that its plan names.
//!
//! A published number, and a claim on an amount instead of a ratio, are about one size of work on
//! one drive. For less work, or on another drive, the same number would mean something else.

use std::borrow::Cow;

use ssdlab_flash::presets;

use super::factor::{Factor, Levels};
use super::lab_kind::LabKind;
use super::metric::Metric;
use super::published::{PublishedBasis, PublishedValue};
use super::schedule::{Claim, Schedule};
use super::target::Target;
use super::written::Plan;

/// The drives that a plan names, as levels of its treatments.
pub(super) fn named_drives(plan: &Plan) -> Vec<String> {
    let named = plan.simulated.factors.get(&Factor::Drive).or(plan.factors.get(&Factor::Drive));
    let named = named.into_iter().flat_map(|levels| levels.get_ref().levels());
    let listed = plan.treatments.iter().filter_map(|of| of.get_ref().0.get(&Factor::Drive));
    named.chain(listed.cloned()).collect()
}

impl Schedule {
    /// The published value for a treatment's phase; none if the run is not comparable.
    pub fn published(&self, levels: &Levels, phase: &str) -> Option<PublishedValue> {
        if self.unlike(self.metric).is_some() {
            return None;
        }
        let mut beside = self.published.iter().filter(|published| levels.matches(&published.only));
        beside.find_map(|published| published.of(phase))
    }

    /// What a claim follows from without any trial: what the plan says of its models, if its trials
    /// run on them, at any capacity; or the contents that are written.
    pub fn by_construction<'a>(&self, claim: &'a Claim) -> Option<Cow<'a, str>> {
        let is_of_models = self.is_in(LabKind::Virtual) && self.is_on_named_drives();
        let said = claim.by_construction.as_deref().filter(|_| is_of_models);
        said.map(Cow::Borrowed).or_else(|| self.by_contents(claim).map(Cow::Owned))
    }

    /// Why a claim cannot be tested in this run's lab, and where it can.
    pub fn not_testable(&self, claim: &Claim) -> Option<String> {
        let lab = self.target.as_ref()?.lab();
        let why = claim.not_testable.get(&lab)?;
        let elsewhere = [(LabKind::Image, "--lab image"), (LabKind::Device, "--device PATH")];
        let elsewhere = elsewhere.into_iter().filter(|(other, _)| claim.is_testable_in(*other));
        let options: Vec<&str> = elsewhere.map(|(_, option)| option).collect();
        Some(match options[..] {
            [] => why.clone(),
            _ => format!("{why}; {} can test it", options.join(" or ")),
        })
    }

    /// By how much the plan's workload was scaled.
    pub fn scale(&self) -> f64 {
        // Earlier versions stored only the command line.
        let written = || self.argument("--scale")?.parse().ok();
        self.scale.or_else(written).unwrap_or(1.0)
    }

    /// Why amounts of a metric cannot be compared with those that the plan names; none if they can.
    pub fn unlike(&self, metric: Metric) -> Option<String> {
        #[expect(clippy::float_cmp, reason = "it is 1 as long as nobody gives another")]
        let is_scaled = self.scale() != 1.0;
        if is_scaled {
            return Some(format!(
                "an amount at scale 1 does not apply at scale {}: run without --scale",
                self.scale()
            ));
        }
        if metric.is_of_the_drive() && !self.is_on_named_drives() {
            return Some(format!(
                "an amount on {} does not apply to another drive: run it on that one",
                self.drives.join(" and ")
            ));
        }
        // What a filesystem writes and discards depends on its size, and so does what a drive keeps
        // free; a larger drive is as good as the plan's.
        if self.is_smaller() {
            return Some(
                "an amount at the plan's capacity does not apply at a smaller one: run without \
                 --capacity"
                    .to_owned(),
            );
        }
        let has_size_of_drive = self.is_in(LabKind::Virtual) && self.capacity_bytes().is_none();
        (has_size_of_drive && !self.is_on_named_drives()).then(|| {
            format!(
                "an amount at the capacity of {} does not apply at another drive's: run it on \
                 that one",
                self.drives.join(" and ")
            )
        })
    }

    /// Whether its trials run on the drives that the plan names, at any capacity; true if it names
    /// none.
    pub(super) fn is_on_named_drives(&self) -> bool {
        let is_named = |levels: &Levels| {
            levels.0.get(&Factor::Drive).is_some_and(|drive| self.drives.contains(drive))
        };
        let own = || self.treatments.iter().all(|treatment| is_named(&treatment.levels));
        let is_virtual = matches!(self.target, Some(Target::Virtual { .. }));
        self.drives.is_empty() || (is_virtual && own())
    }

    /// Whether its drives were given a smaller capacity than the plan gives them, or, if it gives
    /// them none, than they have.
    fn is_smaller(&self) -> bool {
        let Some(given) = self.argument("--capacity").and_then(|bytes| bytes.parse::<u64>().ok())
        else {
            return false;
        };
        if let Some(planned) = self.plan_capacity_bytes {
            return given < planned;
        }
        let used = self.setups().map(|setup| &setup.simulated.drive);
        let mut drives: Vec<&String> = self.drives.iter().collect();
        if drives.is_empty() {
            drives.extend(used);
        }
        drives
            .into_iter()
            .any(|drive| presets::find(drive).is_none_or(|own| given < own.capacity_bytes()))
    }

    /// The capacity in bytes of the drives, images or devices of its trials, if the target gives
    /// one.
    pub fn capacity_bytes(&self) -> Option<u64> {
        self.target.as_ref()?.size_bytes()
    }

    /// The conditions that simulated drives are brought into, in the treatments' order.
    pub fn conditions(&self) -> Vec<String> {
        let mut conditions = Vec::new();
        for setup in self.setups().filter(|_| self.is_in(LabKind::Virtual)) {
            let condition = setup.simulated.condition.to_string();
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        conditions
    }

    /// The value of a command-line argument.
    fn argument(&self, name: &str) -> Option<&str> {
        let given = self.overrides.iter().position(|argument| argument == name)?;
        self.overrides.get(given + 1).map(String::as_str)
    }
}

impl Claim {
    /// Whether a lab other than the virtual one can test it: nothing is said against it, and what
    /// the claim names is there.
    fn is_testable_in(&self, lab: LabKind) -> bool {
        let named =
            [&self.compare, &self.against, &self.only].into_iter().chain(self.excess_over());
        let is_there = |levels: &Levels| levels.0.keys().all(|factor| !factor.is_simulated());
        !self.not_testable.contains_key(&lab) && named.into_iter().all(is_there)
    }

    /// What agreement with its published number means.
    pub const fn basis(&self) -> PublishedBasis {
        PublishedBasis::of(self.by_construction.is_some())
    }
}
