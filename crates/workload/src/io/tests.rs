use std::time::Duration;

use ssdlab_plan::metric::find;

use super::*;

#[test]
fn every_metric_has_its_name_in_plans() {
    let mut counted = OperationTally { took: Duration::from_secs(2), ..OperationTally::new() };
    assert!(metrics("read", &counted).is_empty());
    for micros in 1..=1000 {
        counted.count(Duration::from_secs(1), Duration::from_micros(micros));
    }
    for kind in ["read", "write", "sync"] {
        let metrics = metrics(kind, &counted);
        assert_eq!(metrics[0], (format!("{kind}.ops_per_second"), 500.0));
        for (name, value) in metrics {
            assert!(value > 0.0);
            assert!(find(&name).is_some(), "{name}");
        }
    }
}
