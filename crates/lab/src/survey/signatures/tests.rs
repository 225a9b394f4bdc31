use super::*;

#[test]
fn what_wipefs_prints_is_understood() {
    let printed = r#"{ "signatures": [ { "device":"loop0", "offset":"0x438", "type":"ext4",
            "uuid":"8e4f", "label":"data" } ] }"#;
    let found = parse(printed, "loop0").unwrap();
    assert_eq!(found[0].kind, "ext4");
    assert_eq!(found[0].label.as_deref(), Some("data"));
    assert!(parse("", "loop0").unwrap().is_empty());
    assert!(parse("no such device", "loop0").is_err());
}
