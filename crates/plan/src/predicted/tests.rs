use std::path::Path;

use crate::{LabKind, Overrides, Setup, schedule};

const LIVE: &str = r#"
name = "here"
question = "Does it write less?"
lab = "live"
metric = "written_bytes"

[answer]
decides = ["less"]
yes = "Yes."
no = "No."

[factors]
mount = ["commit=1", "commit=5"]
atime = ["strictatime", "noatime"]

[baseline]
mount = "commit=1"
atime = "strictatime"

[workload]
phases = [{ do = "append", name = "log", append = { records = 100, sync_every = 10 } }]

[[claims]]
id = "less"
says = "It writes less"
phases = ["log"]
compare = { mount = "commit=5" }
at_most = 0.9
"#;

#[test]
fn a_prediction_has_the_treatments_in_their_order_under_the_options_in_force() {
    let here = Path::new("/");
    let live = schedule("here.toml", LIVE, &Overrides::default(), here).unwrap();
    let options: Vec<Vec<String>> = (0..live.treatments.len())
        .map(|treatment| vec!["data=journal".to_owned(), format!("commit={}", treatment + 1)])
        .collect();
    let text = super::predicted(LIVE, &live, "ext3", &options).unwrap();
    let predicted = schedule("here.toml", &text, &Overrides::default(), here).unwrap();
    assert!(predicted.is_in(LabKind::Virtual));
    assert_eq!(predicted.treatments.len(), 4);
    assert_eq!(predicted.workload, live.workload);
    let setups: Vec<&Setup> = predicted.setups().collect();
    for (setup, options) in setups.iter().zip(&options) {
        assert_eq!(setup.filesystem.unwrap().name, "ext3");
        assert_eq!(setup.mount, *options);
        assert_eq!((setup.atime, setup.discard), (None, None));
    }
}
