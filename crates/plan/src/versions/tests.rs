use std::path::Path;

use super::Append;
use crate::schedule::Action;
use crate::{Overrides, PlanError, schedule};

fn append(written: &str) -> Result<Append, PlanError> {
    let text = format!(
        "name = \"log\"\nquestion = \"?\"\n[factors]\nfilesystem = \"ext4\"\n\
         [workload]\nphases = [{{ do = \"append\", append = {{ records = 10, {written} }} }}]\n"
    );
    let schedule = schedule("log.toml", &text, &Overrides::default(), Path::new("/"))?;
    let Action::Append(append) = schedule.workload.phases[0].action else { panic!("{text}") };
    Ok(append)
}

#[test]
fn a_record_that_is_appended_has_20_bytes_to_64_kib_by_default_500() {
    let usual = append("think = \"1 s\"").unwrap();
    assert_eq!(usual.record_bytes, 500);
    assert!(!serde_json::to_string(&usual).unwrap().contains("record_bytes"));
    let small = append("record = \"100 B\"").unwrap();
    assert_eq!(small.record_bytes, 100);
    assert!(small.to_string().contains("record = \"100 B\""), "{small}");
    assert!(append("record = \"64 KiB\"").is_ok());
    for wrong in ["19 B", "65537 B", "1 TB"] {
        let error = append(&format!("record = \"{wrong}\"")).unwrap_err();
        assert!(error.to_string().contains("20 bytes"), "{wrong}: {error}");
    }
}
