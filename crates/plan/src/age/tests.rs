use super::*;

#[test]
fn a_level_is_a_profile_and_perhaps_a_score() {
    let age = |profile, target| Some(Age { profile, target });
    assert_eq!(read("off").unwrap(), None);
    assert_eq!(read("desktop").unwrap(), age(&DESKTOP, None));
    assert_eq!(read("desktop to 0.7").unwrap(), age(&DESKTOP, Some(0.7)));
    for bad in ["desktop to", "desktop to 2", "desktop to -0.1", "desktop to NaN", "server"] {
        assert!(read(bad).unwrap_err().help.contains("desktop"), "{bad}");
    }
}

#[test]
fn sizes_are_those_of_the_study() {
    let sizes = DESKTOP.sizes;
    assert!(sizes.is_sorted());
    assert_eq!(sizes[16], 4096);
    // The area under straight lines between the quantiles.
    let position = |entry: usize| match entry {
        0..32 => entry as f64 / 32.0,
        39 => 1.0,
        _ => 1.0 - 0.5_f64.powi(i32::try_from(entry).unwrap() - 26),
    };
    let area = |entry: usize| {
        let middle = (sizes[entry] + sizes[entry + 1]) as f64 / 2.0;
        middle * (position(entry + 1) - position(entry))
    };
    let mean: f64 = (0..39).map(area).sum();
    assert!((mean / (189.0 * 1024.0) - 1.0).abs() < 0.03, "{mean}");
}
