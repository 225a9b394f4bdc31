use super::*;

#[test]
fn nothing_steers_and_values_are_equal() {
    let mut hostile: String = ('\0'..='\u{a0}').collect();
    hostile += "\u{61c}\u{200f}\u{202e}\u{2066}\u{feff}é\u{1f600}";
    let mut pretty = Vec::new();
    write(&[&hostile], &mut pretty).unwrap();
    for text in [String::from_utf8(pretty).unwrap(), line(&[&hostile]).unwrap()] {
        assert!(text.contains("\\u009b") && text.contains("\\u202e"), "{text}");
        assert!(text.contains("é\u{1f600}"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' || is_unseen(c)));
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [hostile.clone()]);
    }
}

/// No character is cut where a block of the buffer ends.
#[test]
fn any_length_is_written_whole() {
    let long: Vec<String> = (0..60_000).map(|length| "é\u{9b}".repeat(length % 7)).collect();
    let mut pretty = Vec::new();
    write(&long, &mut pretty).unwrap();
    assert!(pretty.len() > 2 * BUFFER_BYTES);
    assert_eq!(serde_json::from_slice::<Vec<String>>(&pretty).unwrap(), long);
}
