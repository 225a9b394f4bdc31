//! Defines an effect across several groups, such as machines, each with its own effect.
//!
//! Pairs on one machine determine the precision of that machine's effect; only the differences
//! between machines show whether the next machine has it too. So an effect across groups counts
//! groups, not pairs, and a deviating group is shown.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use crate::error::{assert_fraction, assert_positive};
use crate::moments::count;
use crate::moments::rounding;
use crate::{Interval, LogRatio, student};

/// The estimated effect in one group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectGroup {
    /// The natural logarithm of the ratio, finite.
    pub log: f64,
    /// Its standard error, finite and not below 0. One that is smaller than the rounding error, as
    /// for counts that never vary, is raised to it.
    pub standard_error: f64,
}

/// An effect across groups, and how the groups differ.
///
/// The groups' effects are modelled as draws from a normal distribution, its variance estimated
/// by moments (`DerSimonian` & Laird 1986, "Meta-analysis in clinical trials", Controlled Clinical
/// Trials 7). The standard error of its mean is that of Hartung & Knapp 2001 ("A refined method for
/// the meta-analysis of controlled clinical trials with binary outcome", Statistics in Medicine 20)
/// and Sidik & Jonkman 2002 ("A simple confidence interval for meta-analysis", Statistics in
/// Medicine 21), which is valid for few groups, too; but it is never below that of sampling error
/// alone, as few groups may agree by luck (`Röver`, Knapp & Friede 2015,
/// "Hartung-Knapp-Sidik-Jonkman approach and its modification for random-effects meta-analysis with
/// few studies", BMC Medical Research Methodology 15).
#[derive(Debug, Clone, PartialEq)]
pub struct Heterogeneity {
    /// The groups, at least 2.
    pub k: usize,
    /// The mean of the groups' effects, a natural logarithm.
    pub mean_log: f64,
    /// The standard deviation of the groups' true effects, as natural logarithms; 0 if their
    /// estimates differ by no more than expected by chance.
    pub tau: f64,
    /// Cochran's Q: the sum of the squared distances from the common effect, each in standard
    /// errors (Cochran 1954, "The combination of estimates from different experiments", Biometrics
    /// 10). About k - 1 if the groups differ only by chance.
    pub q: f64,
    /// The p-value of "all groups have the same effect": Q / (k - 1) in the F distribution, which
    /// for known standard errors is Q in the chi-square distribution. By [`Heterogeneity::among`]
    /// it may be larger.
    pub p: f64,
    /// The share of the estimates' variance that is not chance, from 0 to 1: I² (Higgins & Thompson
    /// 2002, "Quantifying heterogeneity in a meta-analysis", Statistics in Medicine 21).
    pub i_squared: f64,
    /// How each group compares with all others, in the order of the groups.
    pub deviations: Vec<Deviation>,
    standard_error: f64,
}

/// How a group compares with all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The p-value of "it is like the others", by [`Heterogeneity::of`]. Absent for two groups, as
    /// either may be the deviating one.
    pub p: Option<f64>,
    /// The p-value of "its effect and the others' do not have opposite directions".
    pub p_reversed: f64,
}

impl Heterogeneity {
    /// Estimates from groups whose standard errors together have `freedom` degrees of freedom;
    /// infinite if they are known exactly. `None` for fewer than 2 groups.
    ///
    /// A group's p-value is that of its deleted residual (Viechtbauer & Cheung 2010, "Outlier and
    /// influence diagnostics for meta-analysis", Research Synthesis Methods 1): its distance from
    /// the mean of all others in standard errors, to which sampling error in the group, that in the
    /// mean and the spread of the others contribute. For few groups the normal distribution is too
    /// narrow; here it is Student's, with k - 2 degrees of freedom for the spread of k - 1 others,
    /// and those of Satterthwaite 1946 for the sum.
    ///
    /// An effect is reversed if a group's effect and the mean of the others' both differ
    /// significantly from 0, with opposite signs (Gail & Simon 1985, "Testing for qualitative
    /// interactions between treatment effects and patient subsets", Biometrics 41, test the same
    /// for two sets of groups). Its p-value is the larger of both two-sided p-values, as both
    /// effects must be significant (Berger 1982).
    ///
    /// # Panics
    ///
    /// Unless `freedom` is above 0, every logarithm finite, and every standard error finite and not
    /// below 0.
    pub fn of(groups: &[EffectGroup], freedom: f64) -> Option<Self> {
        assert!(freedom > 0.0, "the degrees of freedom must be above 0, but are {freedom}");
        for EffectGroup { log, standard_error } in groups {
            let is_valid = log.is_finite() && standard_error.is_finite() && *standard_error >= 0.0;
            assert!(is_valid, "no effect has the log {log} with standard error {standard_error}");
        }
        let deviating: Vec<(EffectGroup, f64)> =
            groups.iter().map(|group| (*group, freedom)).collect();
        Self::with_deviating(groups, &deviating, freedom)
    }

    /// Estimates from the pairs of each group, which are assumed to scatter equally in all of them,
    /// as in interlaboratory comparisons (ISO 5725-2: repeatability): two or three pairs say too
    /// little about a group's own scatter, and weights estimated from it would be mostly noise.
    ///
    /// Whether groups differ must not depend on that assumption, as the group with the fewest pairs
    /// may scatter most. So [`Self::p`] is the larger of two: that of the common scatter, and that
    /// of Welch's analysis of variance (1951, "On the comparison of several mean values: an
    /// alternative approach", Biometrika 38) with each group's own. The latter finds too many
    /// differences if pairs are few: a group with fewer than the mean of all, m, is assumed to
    /// scatter at least √(m / n) times as much as all together. In simulations both together find a
    /// difference between equal groups of two to twelve pairs in at most 7 % of cases (nominally 5
    /// %), even if some scatter four times as much as others; if a group has one pair, in up to 17
    /// %.
    ///
    /// A group that scatters more than that, and than all together, is tested for deviation with
    /// its own scatter and its own degrees of freedom. That alone finds too many for few pairs:
    /// name a group only if [`Self::p`] shows that groups differ.
    ///
    /// `None` for fewer than 2 groups, and if none has 2 pairs.
    pub fn among(groups: &[LogRatio]) -> Option<Self> {
        let freedom = count(groups.iter().map(|group| group.n() - 1).sum());
        if freedom == 0.0 {
            return None;
        }
        let own = |group: &LogRatio| group.sd_log().unwrap_or(0.0);
        let squares = groups.iter().map(|group| count(group.n() - 1) * own(group).powi(2));
        let common = (squares.sum::<f64>() / freedom).sqrt();
        let with = |sd: f64, group: &LogRatio| EffectGroup {
            log: group.mean_log(),
            standard_error: sd / count(group.n()).sqrt(),
        };
        let alike: Vec<EffectGroup> = groups.iter().map(|group| with(common, group)).collect();
        let pairs = count(groups.iter().map(LogRatio::n).sum()) / count(groups.len());
        // A scatter estimated from few pairs is easily too small.
        let least = |group: &LogRatio| {
            let share = pairs / count(group.n());
            if share > 1.0 { common * share.sqrt() } else { 0.0 }
        };
        let deviating = |group: &LogRatio| {
            let least = least(group).max(common);
            let is_unlike = own(group) > least;
            let freedom = if is_unlike { count(group.n() - 1) } else { freedom };
            (with(own(group).max(least), group), freedom)
        };
        let deviating: Vec<(EffectGroup, f64)> = groups.iter().map(deviating).collect();
        let unlike = |group: &LogRatio| {
            let freedom = count(group.n() - 1).max(1.0);
            (with(own(group).max(least(group)), group), freedom)
        };
        let unlike: Vec<(EffectGroup, f64)> = groups.iter().map(unlike).collect();
        let found = Self::with_deviating(&alike, &deviating, freedom)?;
        Some(Self { p: found.p.max(p_of_welch(&unlike)), ..found })
    }

    /// As [`Self::of`]; `deviating` are the same groups with the standard errors, and their degrees
    /// of freedom, for the test of whether they deviate.
    fn with_deviating(
        groups: &[EffectGroup],
        deviating: &[(EffectGroup, f64)],
        freedom: f64,
    ) -> Option<Self> {
        if groups.len() < 2 {
            return None;
        }
        let all = Pooled::of(groups);
        let between = count(groups.len() - 1);
        let deviation = |(index, own): (usize, &(EffectGroup, f64))| {
            let mut others = groups.to_vec();
            others.remove(index);
            deviation(*own, &others, freedom)
        };
        Some(Self {
            k: groups.len(),
            mean_log: all.mean,
            tau: all.between.sqrt(),
            q: all.q,
            p: p_of_q(all.q, between, freedom),
            i_squared: if all.q > between { (all.q - between) / all.q } else { 0.0 },
            deviations: deviating.iter().enumerate().map(deviation).collect(),
            standard_error: all.standard_error(),
        })
    }

    /// The mean effect as a ratio: 1 is no effect, 1.1 is 10 % above the baseline.
    pub fn ratio(&self) -> f64 {
        self.mean_log.exp()
    }

    /// The interval of [`Self::ratio`], by Student's t with k - 1 degrees of freedom: where the
    /// mean of all groups of this kind lies, not where each of them lies.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Interval {
        assert_fraction("the confidence", confidence);
        let half = student::critical(1.0 - confidence, count(self.k - 1)) * self.standard_error;
        Interval { lo: (self.mean_log - half).exp(), hi: (self.mean_log + half).exp() }
    }

    /// The p-value for the claim that the mean ratio of all groups of this kind is above `bound`:
    /// the one-sided test that goes with [`Self::interval`].
    ///
    /// # Panics
    ///
    /// Unless `bound` is a finite number above 0.
    pub fn p_above(&self, bound: f64) -> f64 {
        student::upper_tail(self.standardised(bound), count(self.k - 1))
    }

    /// The p-value for the claim that the mean ratio of all groups of this kind is below `bound`:
    /// 1 less [`Self::p_above`].
    ///
    /// # Panics
    ///
    /// Unless `bound` is a finite number above 0.
    pub fn p_below(&self, bound: f64) -> f64 {
        student::upper_tail(-self.standardised(bound), count(self.k - 1))
    }

    /// The distance from the bound to the mean in standard errors.
    fn standardised(&self, bound: f64) -> f64 {
        assert_positive("the bound", bound);
        (self.mean_log - bound.ln()) / self.standard_error
    }
}

/// Pooled groups.
struct Pooled<'a> {
    groups: &'a [EffectGroup],
    mean: f64,
    /// The variance of the groups' true effects.
    between: f64,
    q: f64,
}

impl<'a> Pooled<'a> {
    /// Pools one group or more.
    fn of(groups: &'a [EffectGroup]) -> Self {
        let (common, weights) = weighted(groups, 0.0);
        let squares = groups.iter().zip(&weights);
        let q = squares.map(|(group, weight)| weight * (group.log - common).powi(2)).sum::<f64>();
        // The sum of w (1 - w / W), written without the difference of large numbers if one weight
        // dominates.
        let total: f64 = weights.iter().sum();
        let others = |index: usize| -> f64 {
            let others = weights.iter().enumerate().filter(|(other, _)| *other != index);
            others.map(|(_, weight)| weight).sum()
        };
        let scale: f64 =
            weights.iter().enumerate().map(|(index, w)| w * (others(index) / total)).sum();
        let excess = q - count(groups.len() - 1);
        let between = if excess > 0.0 && scale > 0.0 { excess / scale } else { 0.0 };
        Self { groups, mean: weighted(groups, between).0, between, q }
    }

    /// The variance of the mean due to the groups' standard errors and [`Self::between`].
    fn variance(&self) -> f64 {
        1.0 / weighted(self.groups, self.between).1.iter().sum::<f64>()
    }

    /// The standard error of the mean, from the groups' distances to it, and not below that of
    /// sampling error alone.
    fn standard_error(&self) -> f64 {
        let (mean, weights) = weighted(self.groups, self.between);
        let squares = self.groups.iter().zip(&weights);
        let spread: f64 = squares.map(|(group, w)| w * (group.log - mean).powi(2)).sum();
        let freedom = count(self.groups.len() - 1).max(1.0);
        ((spread / freedom).max(1.0) / weights.iter().sum::<f64>()).sqrt()
    }
}

/// The weighted mean of groups, and their weights: the inverse of their variances plus the variance
/// between them.
fn weighted(groups: &[EffectGroup], between: f64) -> (f64, Vec<f64>) {
    let least = groups.iter().map(|group| rounding(group.log)).fold(0.0, f64::max);
    let variance = |group: &EffectGroup| group.standard_error.max(least).powi(2) + between;
    let weights: Vec<f64> = groups.iter().map(|group| 1.0 / variance(group)).collect();
    let total: f64 = weights.iter().sum();
    // Relative to the first, so that the mean of equal values is exactly that value.
    let first = groups[0].log;
    let sum: f64 = groups.iter().zip(&weights).map(|(group, w)| w * (group.log - first)).sum();
    (first + sum / total, weights)
}

fn p_of_q(q: f64, between: f64, freedom: f64) -> f64 {
    let valid = "the degrees of freedom are above 0";
    if freedom.is_infinite() {
        ChiSquared::new(between).expect(valid).sf(q)
    } else {
        FisherSnedecor::new(between, freedom).expect(valid).sf(q / between)
    }
}

/// The p-value of "all groups have the same effect" by Welch's analysis of variance, of groups and
/// the degrees of freedom of their standard errors.
fn p_of_welch(groups: &[(EffectGroup, f64)]) -> f64 {
    let (groups, freedoms): (Vec<EffectGroup>, Vec<f64>) = groups.iter().copied().unzip();
    let all = Pooled::of(&groups);
    let weights = weighted(&groups, 0.0).1;
    let total: f64 = weights.iter().sum();
    let chance: f64 =
        weights.iter().zip(freedoms).map(|(w, freedom)| (1.0 - w / total).powi(2) / freedom).sum();
    let k = count(groups.len());
    let scale = 1.0 + 2.0 * (k - 2.0) / (k * k - 1.0) * chance;
    p_of_q(all.q / scale, k - 1.0, (k * k - 1.0) / (3.0 * chance))
}

/// `freedom` are the degrees of freedom of the others' standard errors.
fn deviation(
    (own, own_freedom): (EffectGroup, f64),
    others: &[EffectGroup],
    freedom: f64,
) -> Deviation {
    let rest = Pooled::of(others);
    let chance = own.standard_error.max(rounding(own.log)).powi(2);
    let two_sided = |t: f64, freedom: f64| (2.0 * student::upper_tail(t.abs(), freedom)).min(1.0);
    let k = count(others.len());
    let is_several = others.len() > 1;
    let p = is_several.then(|| {
        let variance = chance + rest.between + rest.variance();
        // The others' spread contributes twice: to the group itself, and to their mean.
        let spread = rest.between * (1.0 + 1.0 / k);
        let by_chance = (variance - spread).max(0.0);
        let freedom =
            variance.powi(2) / (by_chance.powi(2) / own_freedom + spread.powi(2) / (k - 1.0));
        two_sided((own.log - rest.mean) / variance.sqrt(), freedom)
    });
    let p_own = two_sided(own.log / chance.sqrt(), own_freedom);
    let others_freedom = if is_several { k - 1.0 } else { freedom };
    let p_others = two_sided(rest.mean / rest.standard_error(), others_freedom);
    let is_opposite = own.log * rest.mean < 0.0;
    Deviation { p, p_reversed: if is_opposite { p_own.max(p_others) } else { 1.0 } }
}
