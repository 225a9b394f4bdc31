use std::path::Path;

use miette::Diagnostic;

use crate::{Overrides, schedule};

/// Why a workload of 1 GB does not fit on a drive of 2 GB; nothing if it fits.
fn refusal(factors: &str) -> Option<String> {
    let text = format!(
        r#"
        name = "x"
        question = "?"
        [target]
        lab = "virtual"
        [virtual]
        capacity = "2 GB"
        [factors]
        filesystem = "ext4"
        {factors}
        [workload]
        phases = [{{ do = "io", io = {{ size = "1 GB", operations = 1 }} }}]
        "#
    );
    let made = schedule("plan.toml", &text, &Overrides::default(), Path::new("/"));
    made.err().map(|error| format!("{error}; {}", error.help().unwrap()))
}

#[test]
fn what_does_not_fit_is_told_with_what_may_become_smaller() {
    for fits in ["", "prefill = \"0 %\"", "prefill = \"40 %\"", "stale = \"90 %\""] {
        assert_eq!(refusal(fits), None, "{fits}");
    }
    for (factors, words) in [
        (
            "prefill = \"60 %\"",
            ["needs about 1.0 GB besides a prefill of 1.2 GB", "smaller prefill or --scale"],
        ),
        ("age = \"desktop\"", ["besides 1.6 GB of an aged filesystem", "or a smaller --scale"]),
        (
            "prefill = \"40 %\"\nstale = \"70 %\"",
            [
                "stale data need about 1.4 GB besides a prefill of 800.0 MB",
                "smaller stale or prefill",
            ],
        ),
    ] {
        let refusal = refusal(factors).unwrap_or_default();
        assert!(words.iter().all(|words| refusal.contains(words)), "{factors}: {refusal}");
    }
}
