use super::*;

const TB: u64 = 1_000_000_000_000;

fn inputs(wear: &DriveWear) -> LifeInputs<'_> {
    LifeInputs {
        kind: DiskKind::Nvme,
        size_bytes: TB,
        seconds: Some(10 * DAY_S),
        bytes_per_day: Some(100e9),
        rated_bytes: None,
        wear,
    }
}

fn years(life: Option<YearsLeft>) -> f64 {
    match life {
        Some(
            YearsLeft::RatingLeft { years }
            | YearsLeft::Rating { years }
            | YearsLeft::UsedShare { years }
            | YearsLeft::LowestRating { years },
        ) => years,
        None => f64::NAN,
    }
}

#[test]
fn years_follow_from_the_best_that_is_known() {
    let unknown = DriveWear::default();
    let told = DriveWear {
        host_written_bytes: Some(60 * TB),
        used_percent: Some([9, 9]),
        ..DriveWear::default()
    };
    let rated = |wear| LifeInputs { rated_bytes: Some(600 * TB), ..inputs(wear) };
    // 540 TB at 100 GB a day.
    assert!((years(years_left(rated(&told))) - 5400.0 / DAYS_PER_YEAR).abs() < 1e-9);
    assert!((years(years_left(rated(&unknown))) - 6000.0 / DAYS_PER_YEAR).abs() < 1e-9);
    // At most 10 % are used: 60 TB are at least a tenth.
    assert!((years(years_left(inputs(&told))) - 5400.0 / DAYS_PER_YEAR).abs() < 1e-9);
    assert!((years(years_left(inputs(&unknown))) - 2000.0 / DAYS_PER_YEAR).abs() < 1e-9);
}

/// 60 % are used after a tenth of the rating.
#[test]
fn a_drive_that_wears_faster_than_its_rating_is_believed() {
    let wear = DriveWear {
        host_written_bytes: Some(60 * TB),
        used_percent: Some([60, 60]),
        ..DriveWear::default()
    };
    let life = years_left(LifeInputs { rated_bytes: Some(600 * TB), ..inputs(&wear) });
    assert!(matches!(life, Some(YearsLeft::UsedShare { years }) if years < 2.0), "{life:?}");
}

#[test]
fn what_is_not_known_gives_no_years() {
    let wear = DriveWear::default();
    for other in [
        LifeInputs { seconds: Some(DAY_S - 1), ..inputs(&wear) },
        LifeInputs { seconds: None, bytes_per_day: None, ..inputs(&wear) },
        LifeInputs { bytes_per_day: Some(0.0), ..inputs(&wear) },
        LifeInputs { kind: DiskKind::Virtual, ..inputs(&wear) },
        LifeInputs { kind: DiskKind::HardDisk, ..inputs(&wear) },
        LifeInputs { kind: DiskKind::SdCard, ..inputs(&wear) },
    ] {
        assert_eq!(years_left(other), None, "{other:?}");
    }
}

#[test]
fn more_than_what_is_rated_leaves_nothing() {
    let wear = DriveWear { host_written_bytes: Some(700 * TB), ..DriveWear::default() };
    let life = years_left(LifeInputs { rated_bytes: Some(600 * TB), ..inputs(&wear) });
    assert_eq!(life, Some(YearsLeft::RatingLeft { years: 0.0 }));
    assert_eq!(advice(DiskKind::Nvme, &wear, life), WearAdvice::SeeWhoWrites);
}

/// Ratings are between the lowest, 200 times the size, and what no flash would take.
#[test]
fn ratings_name_models_and_sources() {
    assert_eq!(rated_bytes("Samsung SSD 970 EVO Plus 1TB"), Some(600 * TB));
    assert_eq!(rated_bytes("Samsung SSD 970 EVO Plus 2TB"), None);
    assert!(RATED.iter().all(|(model, terabytes, source)| {
        !model.is_empty() && (200..60_000).contains(terabytes) && !source.is_empty()
    }));
}
