use ssdlab_plan::metric;

use super::*;

#[test]
fn three_digits_and_a_unit() {
    assert_eq!(duration(1_214_000_000.0), "1.21 s");
    assert_eq!(duration(999_700_000.0), "1.00 s");
    assert_eq!(duration(40_410_000_000.0), "40.4 s");
    assert_eq!(duration(360e9), "6 min 00 s");
    assert_eq!(duration(12.0), "12 ns");
    assert_eq!(value(metric::of("written_bytes"), 493e6), "493 MB");
    assert_eq!(value(metric::of("years_until_worn"), 1.2345), "1.23 years");
    assert_eq!(value(metric::of("written_bytes"), 0.0), "0 B");
    assert_eq!(value(metric::of("write_requests"), 36_706.0), "36.7 k");
    assert_eq!(value(metric::of("flushes"), 8.0), "8");
    assert_eq!(value(metric::of("flushes"), 8.4), "8.40");
    assert_eq!(value(metric::of("phoronix.lower_is_better"), 0.345), "0.345");
    assert_eq!(value(metric::of("phoronix.lower_is_better"), 12.34), "12.3");
    assert_eq!(value(metric::of("beside.bytes_per_second"), 8.01e6), "8.01 MB/s");
    assert_eq!(value(metric::of("fio.read_iops"), 509.0), "509/s");
    assert_eq!(value(metric::of("written_bytes"), 512.4), "512 B");
    assert_eq!(rate(493e6, 2.87e9), "172 MB/s");
    assert_eq!(value(metric::of("ops_per_second"), 36_706.0), "36.7 k/s");
}

#[test]
fn every_moment_can_be_told() {
    assert_eq!(moment(1_310_000_000), "2011-07-07T00:53:20Z");
    assert_eq!(moment(u64::MAX), "9999-12-31T23:59:59Z");
}

#[test]
fn p_values_are_as_long_as_they_are_sure() {
    let written = [1.0, 0.614, 0.0421, 0.0032, 0.000_31, 0.0].map(p_value);
    let expected = ["p = 1.00", "p = 0.61", "p = 0.042", "p = 0.0032", "p = 0.00031"];
    assert_eq!(written[..5], expected);
    assert_eq!(written[5], "p < 0.0001");
}

#[test]
fn small_effects_keep_their_digits() {
    assert_eq!(effect(1.0415, Some([1.039, 1.0441])), "x1.042 [1.039, 1.044]");
    assert_eq!(effect(63.9, Some([58.2, 104.4])), "x63.9 [58.2, 104.4]");
    assert_eq!(effect(2.0, None), "x2.00");
    assert_eq!(effect(1.5e40, Some([0.5, 1e80])), "x1.50e40 [below 1, above 1.50e43]");
    assert_eq!(effect(0.747, Some([1.4e-6, 390_291.981])), "x0.747 [below 0.001, above 747]");
    assert_eq!(effect(0.747, Some([0.0006, 746.0])), "x0.747 [below 0.001, 746.000]");
    assert_eq!(effect(0.0, Some([0.0, 0.0])), "x0.000000 [0.000000, 0.000000]");
    assert_eq!(effect(0.028_71, Some([0.028_5, 0.029])), "x0.0287 [0.0285, 0.0290]");
    assert_eq!(effect(0.5, Some([0.35, 0.72])), "x0.500 [0.350, 0.720]");
}

#[test]
fn nothing_in_six_of_six_runs_is_said_without_a_ratio() {
    let found = ZeroComparison { own: 0.0, other: Some(287_000.0), in_runs: 6, of: 6 };
    assert_eq!(
        against_nothing(metric::of("written_bytes"), &found),
        "0 B against 287 kB in 6 of 6 runs"
    );
    let some = ZeroComparison { in_runs: 2, ..found };
    let says = "0 B against 287 kB (nothing on one side in 2 of 6 runs)";
    assert_eq!(against_nothing(metric::of("written_bytes"), &some), says);
    let amount = ZeroComparison { other: None, ..found };
    assert_eq!(against_nothing(metric::of("written_bytes"), &amount), "0 B in 6 of 6 runs");
}

#[test]
fn people_say_two_digits() {
    for (unit, value, says) in [
        (Unit::Ns, 40.41e9, "40 s"),
        (Unit::Ns, 0.56e9, "0.56 s"),
        (Unit::Ns, 3.44e6, "3.4 ms"),
        (Unit::Ns, 99.6e6, "0.10 s"),
        (Unit::Ns, 360e9, "6 minutes"),
        (Unit::Ns, 7.2e12, "2 hours"),
        (Unit::Bytes, 2.53e9, "2.5 GB"),
        (Unit::Bytes, 158e3, "160 kB"),
        (Unit::Bytes, 999.6e3, "1 MB"),
        (Unit::BytesPerS, 311e6, "310 MB/s"),
        (Unit::PerS, 34_090.0, "34,000 a second"),
        (Unit::Years, 4.25, "4.3 years"),
        (Unit::Years, 0.41, "4.9 months"),
        (Unit::Years, 0.02, "7.3 days"),
        (Unit::Percent, 0.0, "0 %"),
        (Unit::Number, 1_234_567.0, "1,200,000"),
    ] {
        assert_eq!(spoken(unit, value), says);
    }
    for (ratio, says) in [(72.6, "73"), (1.36, "1.4"), (1.04, "1.04"), (0.357, "0.36")] {
        assert_eq!(spoken_ratio(ratio), says);
    }
    for (ratio, says) in
        [(1.001, "as much"), (1.038, "3.8 % more"), (0.88, "12 % less"), (2.5, "2.5 times as much")]
    {
        assert_eq!(spoken_change(ratio), says);
    }
}

#[test]
fn values_beside_each_other_have_one_unit() {
    let beside = |least, most, unit| [least, most].map(|value| spoken_beside(most, 3, unit, value));
    assert_eq!(beside(103e3, 119e6, Unit::Ns), ["0.103 ms", "119 ms"]);
    assert_eq!(beside(0.5655e9, 40.9e9, Unit::Ns), ["0.566 s", "40.9 s"]);
    assert_eq!(beside(897e3, 66.3e6, Unit::Bytes), ["0.897 MB", "66.3 MB"]);
    // A row of zeros is no easier to read than another unit.
    assert_eq!(beside(12e3, 40.9e9, Unit::Ns), ["12 us", "40.9 s"]);
    assert_eq!(beside(0.0684, 1.5, Unit::Years), ["25 days", "18 months"]);
    assert_eq!(beside(0.0, 0.0, Unit::Bytes), ["0 B", "0 B"]);
}
