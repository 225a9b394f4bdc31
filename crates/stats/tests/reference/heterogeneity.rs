//! Groups with effects of their own, against statsmodels, metafor and by hand.

use ssdlab_stats::{EffectGroup, Heterogeneity, LogRatio};

use super::{assert_close, assert_within};

/// Thirteen trials of the BCG vaccine: tuberculosis and none among the vaccinated, and among the
/// others (Colditz et al. 1994, "Efficacy of BCG vaccine in the prevention of tuberculosis", JAMA
/// 271; `dat.bcg` of metafor).
const BCG: [[f64; 4]; 13] = [
    [4.0, 119.0, 11.0, 128.0],
    [6.0, 300.0, 29.0, 274.0],
    [3.0, 228.0, 11.0, 209.0],
    [62.0, 13_536.0, 248.0, 12_619.0],
    [33.0, 5_036.0, 47.0, 5_761.0],
    [180.0, 1_361.0, 372.0, 1_079.0],
    [8.0, 2_537.0, 10.0, 619.0],
    [505.0, 87_886.0, 499.0, 87_892.0],
    [29.0, 7_470.0, 45.0, 7_232.0],
    [17.0, 1_699.0, 65.0, 1_600.0],
    [186.0, 50_448.0, 141.0, 27_197.0],
    [5.0, 2_493.0, 3.0, 2_338.0],
    [27.0, 16_886.0, 29.0, 17_825.0],
];

/// Logarithms of relative risks, with their usual standard errors.
fn bcg() -> Vec<EffectGroup> {
    let group = |[ill, well, ill_other, well_other]: [f64; 4]| {
        let (all, all_other) = (ill + well, ill_other + well_other);
        let variance = 1.0 / ill - 1.0 / all + 1.0 / ill_other - 1.0 / all_other;
        EffectGroup {
            log: (ill / all / (ill_other / all_other)).ln(),
            standard_error: variance.sqrt(),
        }
    };
    BCG.map(group).to_vec()
}

/// metafor prints for `rma(yi, vi, data = dat, method = "DL")`: tau^2 0.3088, I^2 92.12 %,
/// Q(df = 12) = 152.2330, estimate -0.7141. The further digits and the standard error of Hartung
/// and Knapp (`sd_eff_w_re_hksj`) are of `combine_effects(y, v, method_re="dl")` of statsmodels'
/// `stats.meta_analysis`, and the end of the interval of that and `st.t.ppf(0.975, 12)`.
#[test]
fn agrees_with_metafor_and_statsmodels_on_the_bcg_vaccine() {
    let found = Heterogeneity::of(&bcg(), f64::INFINITY).expect("there are 13 groups");
    assert_eq!(found.k, 13);
    assert_close(found.tau.powi(2), 0.308_760_262_862_374);
    assert_close(found.q, 152.233_008_082_373_4);
    assert_close(found.i_squared, 0.921_173_468_545_620_5);
    assert_close(found.mean_log, -0.714_117_222_073_226_9);
    assert_within(found.p / 1.996_764_590_845_9e-26, 1.0, 1e-9);
    let interval = found.interval(0.95);
    let half = 2.178_812_829_667_228_4 * 0.180_696_628_335_547_45;
    assert_close(interval.hi.ln(), -0.714_117_222_073_226_9 + half);
    assert_close(interval.lo.ln(), -0.714_117_222_073_226_9 - half);
    assert_close(found.ratio(), found.mean_log.exp());
}

/// `st.f.sf(152.23300808237337 / 12, 12, 20)`: standard errors that are estimates themselves.
#[test]
fn estimated_standard_errors_make_it_less_sure_that_groups_differ() {
    let found = Heterogeneity::of(&bcg(), 20.0).expect("there are 13 groups");
    assert_within(found.p / 7.672_678_782_871_8e-7, 1.0, 1e-9);
}

/// Each trial against `combine_effects` of all others (tau2 and its mean), by the formula of the
/// documentation in numpy and `2 * st.t.sf(abs(z), freedom)`.
#[test]
fn deleted_residuals_agree_with_numpy() {
    for (freedom, expected) in [
        (f64::INFINITY, [0.823_241_473_947, 0.210_258_081_651, 0.449_151_242_552]),
        (20.0, [0.823_802_989_012, 0.212_408_136_61, 0.451_926_672_154]),
    ] {
        let found = Heterogeneity::of(&bcg(), freedom).expect("there are 13 groups");
        for (deviation, expected) in found.deviations.iter().zip(expected) {
            assert_within(deviation.p.expect("there are 12 others"), expected, 1e-10);
        }
    }
}

/// With equal standard errors the method of moments is the analysis of variance: the groups' means
/// 1, 2 and 6 have the variance 7, of which 1 is chance. Q is 14 / 1, and every mean weighs alike.
#[test]
fn groups_of_one_size_agree_with_the_analysis_of_variance() {
    let groups = [1.0, 2.0, 6.0].map(|log| EffectGroup { log, standard_error: 1.0 });
    let found = Heterogeneity::of(&groups, f64::INFINITY).expect("there are 3 groups");
    assert_close(found.q, 14.0);
    assert_close(found.tau.powi(2), 6.0);
    assert_close(found.i_squared, 6.0 / 7.0);
    assert_close(found.mean_log, 3.0);
    // Student's interval of the three means: t(2) is 4.302 653.
    let half = 4.302_652_729_749_462 * (7.0_f64 / 3.0).sqrt();
    assert_close(found.interval(0.95).hi.ln(), 3.0 + half);
}

fn group(logs: &[f64]) -> LogRatio {
    super::from_logs(logs)
}

/// The larger of `st.f_oneway(*groups).pvalue` and `f_oneway(*groups, equal_var=False)`, which is
/// Welch's: either may be it.
#[test]
fn pairs_of_groups_agree_with_scipy_s_analyses_of_variance() {
    let p = |third: [[f64; 3]; 3]| {
        let found = Heterogeneity::among(&third.map(|logs| group(&logs)));
        found.expect("there are 3 groups").p
    };
    let pooled = p([[0.1, 0.2, 0.3], [0.0, 0.5, 1.0], [0.9, 1.1, 1.0]]);
    assert_within(pooled, 0.044_838_442_192_74, 1e-10);
    let welch = p([[0.1, 0.2, 0.3], [0.1, 0.2, 0.6], [0.9, 1.1, 1.9]]);
    assert_within(welch, 0.103_149_163_517_8, 1e-10);
}

/// Of groups of 6.5 pairs on average, that of two is taken to scatter at least √(6.5 / 2) times as
/// much as all together, on one degree of freedom, however alike its two pairs are.
#[test]
fn a_group_of_few_pairs_is_not_taken_for_quieter_than_it_may_be() {
    let eight = |mean: f64| {
        let logs: Vec<f64> = (0..8).map(|i| mean + 0.1 * f64::from(i % 2)).collect();
        group(&logs)
    };
    let p = |few: &[f64]| {
        let groups = [group(few), eight(0.0), eight(0.0), eight(0.0)];
        Heterogeneity::among(&groups).expect("there are 4 groups").p
    };
    assert!(p(&[0.25, 0.26]) > 0.05);
    assert!(p(&[9.0, 9.01]) < 0.05);
}

/// Three groups of one effect, as near as their scatter lets them seldom be: the interval is that
/// of chance, `st.t.ppf(0.975, 2) * 0.1 / sqrt(3)` to each side, and not a point.
#[test]
fn groups_that_agree_by_luck_have_the_interval_of_chance() {
    let groups = [EffectGroup { log: 0.5, standard_error: 0.1 }; 3];
    let found = Heterogeneity::of(&groups, f64::INFINITY).expect("there are 3 groups");
    let half = 4.302_652_729_749_462 * 0.1 / 3.0_f64.sqrt();
    assert_close(found.interval(0.95).hi.ln(), 0.5 + half);
    // The test against a bound is that of the interval.
    assert_within(found.p_above((0.5 - half).exp()), 0.025, 1e-12);
    assert_within(found.p_below((0.5 + half).exp()), 0.025, 1e-12);
    assert_within(found.p_below(1.0) + found.p_above(1.0), 1.0, 1e-12);
}

#[test]
fn one_group_tells_nothing_of_others() {
    assert_eq!(Heterogeneity::of(&bcg()[..1], f64::INFINITY), None);
    assert_eq!(Heterogeneity::of(&[], f64::INFINITY), None);
    assert_eq!(Heterogeneity::among(&[group(&[0.1, 0.2])]), None);
    // One pair each: nothing tells chance from difference.
    assert_eq!(Heterogeneity::among(&[group(&[0.1]), group(&[0.2])]), None);
    // One group of two pairs is enough to tell.
    assert!(Heterogeneity::among(&[group(&[0.1]), group(&[0.2, 0.3])]).is_some());
}

#[test]
fn identical_groups_do_not_differ() {
    let groups = vec![group(&[0.1, 0.3]); 4];
    let found = Heterogeneity::among(&groups).expect("there are 4 groups");
    assert_eq!((found.q, found.tau, found.i_squared, found.p), (0.0, 0.0, 0.0, 1.0));
    assert_close(found.mean_log, 0.2);
    let is_like_others = |p: Option<f64>| p.is_some_and(|p| p > 0.999);
    assert!(found.deviations.iter().all(|d| is_like_others(d.p) && d.p_reversed >= 1.0));
}

/// Counts that are the same every time leave nothing to chance, be they the same in all groups or
/// not.
#[test]
fn groups_without_scatter_are_compared_to_the_last_bit() {
    let third = (1.0_f64 / 3.0).ln();
    let equal = vec![group(&[third, (0.1_f64 / 0.3).ln()]); 3];
    let found = Heterogeneity::among(&equal).expect("there are 3 groups");
    assert!(found.p > 0.05 && found.tau < 1e-12, "{found:?}");
    let interval = found.interval(0.95);
    assert_within(interval.hi - interval.lo, 0.0, 2e-12);

    let mut one_apart = equal;
    one_apart.push(group(&[1.0, 1.0]));
    let found = Heterogeneity::among(&one_apart).expect("there are 4 groups");
    assert!(found.p < 1e-12 && found.i_squared > 0.999, "{found:?}");
    // The variance of the four values, which is all that is left.
    let apart = 1.0 - third;
    assert_within(found.tau, apart / 2.0, 1e-9);
    let p = |index: usize| found.deviations[index].p.expect("there are 3 others");
    assert!(p(3) < 1e-12 && p(0) > 0.05, "{found:?}");
    assert!(found.deviations[3].p_reversed < 1e-12, "{found:?}");

    let mixed = [group(&[0.0, 0.0]), group(&[0.1, 0.3]), group(&[0.0, 0.0])];
    assert!(Heterogeneity::among(&mixed).expect("there are 3 groups").mean_log.is_finite());
    let exact = EffectGroup { log: 0.5, standard_error: 0.0 };
    let groups = [exact, EffectGroup { log: 0.7, standard_error: 0.1 }];
    let found = Heterogeneity::of(&groups, f64::INFINITY).expect("there are 2 groups");
    assert_close(found.q, 4.0);
    assert!(found.tau.is_finite() && (0.5..0.6).contains(&found.mean_log), "{found:?}");
}

/// A group that does the opposite is told from one that only does less.
#[test]
fn an_opposite_effect_is_found() {
    let more = |log: f64| EffectGroup { log, standard_error: 0.02 };
    let p_of = |last: f64| {
        let groups = [more(0.5), more(0.52), more(0.48), more(last)];
        let found = Heterogeneity::of(&groups, 8.0).expect("there are 4 groups");
        let own: Vec<f64> = found.deviations.iter().map(|own| own.p_reversed).collect();
        (own[3], found.deviations[3].p.expect("there are 3 others"))
    };
    assert!(p_of(-0.2).0 < 0.01 && p_of(-0.2).1 < 0.01);
    assert!(p_of(0.2).0 >= 1.0 && p_of(0.2).1 < 0.01);
    assert!(p_of(-0.01).0 > 0.5, "its own is not shown to be any");
    // Of two, each has the other for its opposite, and neither is the one that deviates.
    let found = Heterogeneity::of(&[more(0.3), more(-0.3)], 4.0).expect("there are 2 groups");
    assert!(found.deviations.iter().all(|d| d.p.is_none() && d.p_reversed < 0.01));
}

#[test]
#[should_panic(expected = "no effect has the log")]
fn a_standard_error_below_zero_is_the_callers_fault() {
    let _ = Heterogeneity::of(&[EffectGroup { log: 0.0, standard_error: -1.0 }], f64::INFINITY);
}
