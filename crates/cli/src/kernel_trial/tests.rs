use super::*;

/// The records of a trial and its repetition, each with its status and fingerprint.
fn judged(trials: [(TrialStatus, &str); 2]) -> Result<(), String> {
    let path = Path::new("/");
    let schedule = plan::schedule("kernel_trial.toml", PLAN, &Overrides::default(), path).unwrap();
    let records = trials.map(|(status, fingerprint)| Record {
        status,
        reason: Some("of the moon".to_owned()),
        fingerprint: Some(fingerprint.to_owned()),
        ..Record::new(&schedule, schedule.trials[0], 0)
    });
    judge(&records).map_err(|error| error.to_string())
}

#[test]
fn a_kernel_whose_trials_fail_or_differ_is_unfit() {
    assert_eq!(judged([(TrialStatus::Ok, "a"), (TrialStatus::Ok, "a")]), Ok(()));
    let differs = judged([(TrialStatus::Ok, "a"), (TrialStatus::Ok, "b")]).unwrap_err();
    assert!(differs.contains("fingerprint a, then b"), "{differs}");
    let fails = judged([(TrialStatus::Failed, "a"), (TrialStatus::Failed, "a")]).unwrap_err();
    assert!(fails.contains("no trial runs in it on this machine: of the moon"), "{fails}");
}

#[test]
fn a_machine_that_lacks_mkfs_has_its_kernel() {
    assert_eq!(judged([(TrialStatus::Unavailable, "a"), (TrialStatus::Unavailable, "a")]), Ok(()));
}
