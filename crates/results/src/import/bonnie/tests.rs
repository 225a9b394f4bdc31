use super::*;

/// bonnie++ 1.93c on a machine of 2005: the layout is that of 1.96.
const OLD: &str = "1.93c,1.93c,x,1,1125982584,800M,,496,87,34925,12,37639,16,868,99,566685,98,\
    3144,39,16,,,,,100,99,199,99,1480,98,148,99,201,99,349,99,753ms,380ms,9518us,18260us,8728us,\
    95532us,39390us,19146us,10730us,22799us,18930us,16815us";

#[test]
fn versions_since_latencies_are_read() {
    let found = read(&format!("{OLD}\r\n")).unwrap();
    assert_eq!(found.version.as_deref(), Some("1.93c"));
    let phase = &found.samples[0].phases[1];
    assert_eq!(phase.name, "seq_output_block");
    let value = |source| phase.reported[&Metric::from(source)].round();
    assert_eq!(value(Source::ByteRate).to_bits(), f64::from(34925 * 1024).to_bits());
    assert_eq!(value(Source::LatencyMax).to_bits(), 380e6_f64.to_bits());
}

/// What was too fast for a rate still has its longest operation.
#[test]
fn a_latency_without_a_rate_is_kept() {
    let found = read(&OLD.replace(",34925,12,", ",+++++,+++,")).unwrap();
    let phase = &found.samples[0].phases[1];
    let names: Vec<&str> = phase.reported.keys().map(|metric| metric.name).collect();
    assert_eq!(names, ["latency.max_ns"]);
    assert!(found.samples[0].told["seq_output_block"].is_too_fast);
}
