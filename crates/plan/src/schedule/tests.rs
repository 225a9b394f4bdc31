//! Schedules as earlier versions wrote them.

use super::*;

#[test]
fn a_phase_of_bonnie_plus_plus_is_another_program_s() {
    let phase = r#"{ "name": "all", "action": "bonnie++", "sync": false, "limit_ns": 1 }"#;
    let phase: Phase = serde_json::from_str(phase).unwrap();
    assert_eq!(phase, Phase::new("all", Action::Imported, 1));
}
