use std::path::Path;

use ssdlab_advice::{Analysis, Prediction, summarise};
use ssdlab_plan::metric;
use ssdlab_plan::{Levels, Overrides, Schedule, schedule};
use ssdlab_results::Ending;

const PLAN: &str = r#"
name = "here"
question = "Does it write less?"
[workload]
phases = [{ do = "append", name = "log", append = { records = 100, sync_every = 10 } }]
"#;

fn planned() -> Schedule {
    schedule("here.toml", PLAN, &Overrides::default(), Path::new("/")).unwrap()
}

fn analysis(numbers: &[(f64, f64)]) -> Analysis {
    let mut analysis = summarise("here", &planned(), &[], Ending::AllBlocks);
    analysis.predictions = numbers
        .iter()
        .map(|&(predicted, measured)| Prediction {
            levels: Levels::default(),
            phase: "log".to_owned(),
            metric: metric::of("written_bytes"),
            predicted,
            measured,
        })
        .collect();
    analysis
}

#[test]
fn a_prediction_counts_if_it_is_close_also_where_nothing_was_measured() {
    let says = |numbers: &[(f64, f64)]| super::sentence(&analysis(numbers));
    assert_eq!(says(&[]), None);
    assert!(super::table(&planned(), &analysis(&[])).is_none());
    let numbers = [(1.09e6, 1e6), (0.91e6, 1e6), (1.2e6, 1e6), (4096.0, 0.0)];
    assert!(says(&numbers).unwrap().contains("2 of 4 numbers"));
    let rows = super::table(&planned(), &analysis(&numbers)).unwrap().rows;
    assert_eq!(rows[0][3..], ["1.09 MB", "1.00 MB", "1.090"]);
    assert_eq!(rows[3][3..], ["4.10 kB", "0 B", ""]);
}
