//! Tests of the evidence that a drive file may have.

use super::grounded;
use crate::evidence::Basis;
use crate::presets;

const DRIVE: &str = r#"
    name = "tried"
    capacity = "1 GiB"
    spare_factor = 0.1
    mapping = "page"
    [trim]
    per_command = "1 ms"
    blocking = true
"#;

fn with(evidence: &str) -> Result<Vec<super::EvidencedValue>, String> {
    grounded(&format!("{DRIVE}\n[evidence]\n{evidence}")).map_err(|error| error.message)
}

#[test]
fn values_are_found_by_their_dotted_keys() {
    let values = with(
        r#""trim.per_command" = { basis = "assumed", source = "x", range = ["100 us", "2 ms"] }"#,
    )
    .unwrap();
    let keys: Vec<_> = values.iter().map(|value| value.key.as_str()).collect();
    assert_eq!(keys, ["capacity", "mapping", "spare_factor", "trim.blocking", "trim.per_command"]);
    let trim = values.last().unwrap();
    assert_eq!(trim.value, "\"1 ms\"");
    assert_eq!(trim.evidence.as_ref().unwrap().basis, Basis::Assumed);
    assert!(values[0].evidence.is_none());
}

#[test]
fn evidence_that_contradicts_its_value_is_refused() {
    let refused = |evidence: &str, says: &str| {
        let message = with(evidence).unwrap_err();
        assert!(message.contains(says), "{evidence}: {message}");
    };
    refused(r#"size = { basis = "assumed", source = "?" }"#, "does not set");
    refused(r#"capacity = { basis = "datasheet", source = " " }"#, "no source");
    refused(r#"capacity = { basis = "fitted", source = "x" }"#, "does not fit its basis");
    refused(
        r#"capacity = { basis = "datasheet", source = "x", fitted_to = ["y"] }"#,
        "does not fit its basis",
    );
    refused(
        r#""trim.per_command" = { basis = "assumed", source = "x", range = ["2 ms", "3 ms"] }"#,
        "is not an interval around its value",
    );
    refused(
        r#""trim.per_command" = { basis = "assumed", source = "x", range = ["2 ms", "500 us"] }"#,
        "is not an interval around its value",
    );
    refused(
        r#"mapping = { basis = "assumed", source = "x", choices = ["fast", "bast"] }"#,
        "do not include its value",
    );
    refused(
        r#"mapping = { basis = "assumed", source = "x", choices = ["page", "fst"] }"#,
        "makes no drive",
    );
    refused(
        r#"spare_factor = { basis = "assumed", source = "x", range = [0.05, 1.5] }"#,
        "makes no drive",
    );
    refused(
        r#""trim.blocking" = { basis = "assumed", source = "x", range = [false, true] }"#,
        "is not an interval around its value",
    );
}

#[test]
fn every_value_of_a_shipped_drive_has_its_evidence() {
    for preset in presets::ALL {
        for value in
            grounded(preset.text).unwrap_or_else(|error| panic!("{}: {error}", preset.name))
        {
            let of = format!("{}: {}", preset.name, value.key);
            let evidence = value.evidence.unwrap_or_else(|| panic!("{of} has no evidence"));
            let is_certain = matches!(evidence.basis, Basis::Datasheet | Basis::Measured);
            let varies = evidence.range.is_some() || !evidence.choices.is_empty();
            assert!(is_certain || varies, "{of} is {:?} and cannot vary", evidence.basis);
        }
    }
}
