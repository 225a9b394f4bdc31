//! Location and spread against certified values of NIST's Statistical Reference Datasets.

use ssdlab_stats::Summary;

use super::{assert_close, assert_within};

/// NIST `StRD` "Michelso": Michelson's 1879 speeds of light, here in km/s less 299 000; the data
/// set itself is in thousands of km/s.
const MICHELSON: [f64; 100] = [
    850.0, 740.0, 900.0, 1070.0, 930.0, 850.0, 950.0, 980.0, 980.0, 880.0, 1000.0, 980.0, 930.0,
    650.0, 760.0, 810.0, 1000.0, 1000.0, 960.0, 960.0, 960.0, 940.0, 960.0, 940.0, 880.0, 800.0,
    850.0, 880.0, 900.0, 840.0, 830.0, 790.0, 810.0, 880.0, 880.0, 830.0, 800.0, 790.0, 760.0,
    800.0, 880.0, 880.0, 880.0, 860.0, 720.0, 720.0, 620.0, 860.0, 970.0, 950.0, 880.0, 910.0,
    850.0, 870.0, 840.0, 840.0, 850.0, 840.0, 840.0, 840.0, 890.0, 810.0, 810.0, 820.0, 800.0,
    770.0, 760.0, 740.0, 750.0, 760.0, 910.0, 920.0, 890.0, 860.0, 880.0, 720.0, 840.0, 850.0,
    850.0, 780.0, 890.0, 840.0, 780.0, 810.0, 760.0, 810.0, 790.0, 810.0, 820.0, 850.0, 870.0,
    870.0, 810.0, 740.0, 810.0, 940.0, 950.0, 800.0, 810.0, 870.0,
];

#[test]
fn agrees_with_nist_michelso() {
    let samples: Vec<f64> = MICHELSON.iter().map(|speed| (299_000.0 + speed) / 1000.0).collect();
    let summary = Summary::of(&samples).expect("there are samples");
    assert_eq!(summary.n, 100);
    assert_within(summary.mean, 299.852_400_000_000, 1e-12);
    assert_within(summary.sd.expect("n is 100"), 0.079_010_547_819_051_8, 1e-13);
    assert_within(summary.median, 299.85, 1e-12);
    assert_within(summary.min, 299.62, 1e-12);
    assert_within(summary.max, 300.07, 1e-12);
}

#[test]
fn agrees_with_nist_num_acc_1() {
    let summary =
        Summary::of(&[10_000_001.0, 10_000_003.0, 10_000_002.0]).expect("there are samples");
    assert_within(summary.mean, 10_000_002.0, 0.0);
    assert_within(summary.sd.expect("n is 3"), 1.0, 0.0);
}

/// `NumAcc2`, 3 and 4 are 1001 values: a centre, then the centre ∓ 0.1 in turn; their certified
/// mean is the centre and their certified sd is 0.1.
#[test]
fn agrees_with_nist_num_acc_2_to_4() {
    // The tolerance of the sd is that of writing the data themselves in binary.
    for (centre, tolerance) in [(1.2, 1e-15), (1_000_000.2, 1e-10), (10_000_000.2, 1e-9)] {
        let samples: Vec<f64> = (0..1001)
            .map(|i| match i {
                0 => centre,
                i if i % 2 == 1 => centre - 0.1,
                _ => centre + 0.1,
            })
            .collect();
        let summary = Summary::of(&samples).expect("there are samples");
        assert_within(summary.mean, centre, centre * f64::EPSILON);
        assert_within(summary.sd.expect("n is 1001"), 0.1, tolerance);
    }
}

/// `np.mean(x), np.median(x), np.std(x, ddof=1), st.variation(x, ddof=1)`
#[test]
fn agrees_with_numpy_on_an_even_number_of_samples() {
    let summary = Summary::of(&[12.5, 11.9, 14.2, 12.1, 30.7, 12.3]).expect("there are samples");
    assert_close(summary.mean, 15.616_666_666_666_665);
    assert_close(summary.median, 12.4);
    assert_close(summary.sd.expect("n is 6"), 7.435_164_199_038_691);
    assert_close(summary.cv.expect("n is 6"), 0.476_104_431_101_730_4);
    assert_within(summary.min, 11.9, 0.0);
    assert_within(summary.max, 30.7, 0.0);
}

/// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.5.2 "Confidence Limits for the Mean":
/// the 195 measurements of ZARR13.DAT.
#[test]
fn interval_of_the_mean_of_the_heat_flow_meter() {
    let summary = Summary {
        n: 195,
        mean: 9.261_460,
        median: 9.26,
        sd: Some(0.022_789),
        cv: None,
        min: 9.19,
        max: 9.33,
    };
    let interval = summary.interval(0.95).expect("there are samples");
    assert!((interval.lo - 9.258_242).abs() < 2e-6, "{interval:?}");
    assert!((interval.hi - 9.264_679).abs() < 2e-6, "{interval:?}");
    assert_eq!(Summary::of(&[1.0]).expect("there is a sample").interval(0.95), None);
}
