use super::*;

fn labels(scale: &Scale) -> String {
    let labels: Vec<String> = scale.labels(5).iter().map(|v| written(scale.unit, *v)).collect();
    labels.join("  ")
}

#[test]
fn labels_are_few_and_round() {
    let fitting = |unit: Unit, values: &[f64]| labels(&Scale::fitting(unit, values));
    assert_eq!(fitting(Unit::Ns, &[1.2e9, 1.7e9]), "0  500 ms  1 s  1.5 s");
    assert_eq!(fitting(Unit::Ns, &[17e7, 40.4e9]), "300 ms  1 s  3 s  10 s  30 s");
    assert_eq!(fitting(Unit::Ns, &[300e9, 400e9]), "0  2 min  4 min  6 min");
    assert_eq!(fitting(Unit::BytesPerS, &[0.0, 9e7]), "0  20 MB/s  40 MB/s  60 MB/s  80 MB/s");
    assert_eq!(fitting(Unit::Number, &[0.0]), "0  0.5  1");
    assert_eq!(fitting(Unit::Number, &[0.34, 0.52]), "0  0.2  0.4");
}

#[test]
fn ratios_have_labels_however_close_they_are() {
    let ratios = |values: &[f64]| labels(&Scale::logarithmic(Unit::Ratio, values));
    assert_eq!(ratios(&[0.98, 1.02]), "0.98  1  1.02  1.04");
    assert_eq!(ratios(&[0.5, 1.0, 64.0]), "1  3  10  30");
    assert_eq!(ratios(&[1.0]), "0.99  1  1.01  1.02");
}

#[test]
fn every_value_has_a_place() {
    let all = [0.0, 1e-300, 1.0, 1e18, f64::MAX];
    for scale in [Scale::fitting(Unit::Ns, &all), Scale::logarithmic(Unit::Ns, &all)] {
        for value in all {
            assert!((0..=1000).contains(&scale.map(&value, (0, 1000))), "{value}");
        }
        assert!(scale.labels(5).len() <= 5, "{scale:?}");
    }
    assert!(Scale::fitting(Unit::Number, &[]).labels(5).len() <= 5);
}
