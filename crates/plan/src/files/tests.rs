use crate::{Factor, Overrides, schedule};

use std::path::Path;

/// Wherever a plan names a file, it is the same file.
#[test]
fn a_file_is_one_level_in_every_table() {
    let text = r#"
        name = "p"
        question = "?"
        baseline = { host = "modern-2020s", drive = "./mine.toml" }
        exclude = [{ host = "./slow.toml", drive = "vertex-le" }]
        factors = { filesystem = "ext4", drive = ["vertex-le", "./mine.toml"] }
        [virtual.factors]
        host = ["modern-2020s", "./slow.toml"]
        [workload]
        phases = [{ do = "unpack" }]
        [[claims]]
        id = "slower"
        says = "?"
        phases = ["unpack"]
        compare = { host = "./slow.toml" }
        against = { host = "modern-2020s" }
        where = { drive = "./mine.toml" }
        at_least = 2
        [[claims]]
        id = "best"
        says = "?"
        phases = ["unpack"]
        best = { drive = "../plans/mine.toml" }
        among = { drive = ["vertex-le", "./mine.toml"] }
        where = { host = "modern-2020s" }
    "#;
    let schedule = schedule("p.toml", text, &Overrides::default(), Path::new("/plans")).unwrap();
    let [slow, mine] = ["/plans/slow.toml", "/plans/mine.toml"];
    assert_eq!(schedule.baseline.0[&Factor::Drive], mine);
    assert_eq!(schedule.drives, ["vertex-le", mine]);
    let pairs = schedule.treatments.iter().map(|own| {
        let level = |factor| own.levels.0[&factor].as_str();
        [level(Factor::Drive), level(Factor::Host)]
    });
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort_unstable();
    let expected = [[mine, slow], [mine, "modern-2020s"], ["vertex-le", "modern-2020s"]];
    assert_eq!(pairs, expected);
}
