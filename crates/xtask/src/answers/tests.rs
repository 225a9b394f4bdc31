use super::*;

#[test]
fn the_manual_has_the_answers_that_the_kept_records_give() {
    let pages = pages().unwrap();
    assert!(pages.len() > 1, "no records are kept");
    let is_stale = |(file, text): &&(String, String)| {
        fs::read_to_string(source::path(file)).unwrap_or_default() != *text
    };
    let stale: Vec<&String> = pages.iter().filter(is_stale).map(|(file, _)| file).collect();
    assert!(stale.is_empty(), "`cargo xtask answers` writes {stale:?}");
}

/// mkfs writes most of many runs, so what the work writes has to be within a factor of two, too.
#[test]
fn what_kept_runs_wrote_was_foreseen() {
    for plan in shipped::ALL {
        let Some((_, records)) = kept(plan.name).unwrap() else { continue };
        let schedule = of(plan).unwrap();
        let foreseen = ssdlab_plan::estimate(&schedule).unwrap();
        let share = records.len() as f64 / schedule.expected_trials() as f64;
        let made = foreseen.made_bytes.unwrap() as f64 * share;
        let work = foreseen.written_bytes as f64 * share;
        let all = records.iter().map(|record| record.written_bytes as f64).sum::<f64>();
        let before = records.iter().map(|record| record.before.unwrap().written_bytes as f64);
        let before = before.sum::<f64>();
        // Prefills and files that are read are written before the first phase, too.
        let worked = if before > 1.2 * made { all - made } else { all - before };
        for (foreseen, written) in [(work + made, all), (work, worked)] {
            let ratio = foreseen / written;
            assert!((0.5..=2.0).contains(&ratio), "{}: {foreseen}, but {written}", plan.name);
        }
    }
}
