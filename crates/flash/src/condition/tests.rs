use super::*;

#[test]
fn states_are_written_as_they_are_read() {
    for text in ["purged", "filled", "overwritten:2.5", "overwritten:3", "steady", "aged:500"] {
        assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
    }
}

#[test]
fn steady_means_close_together_and_level() {
    assert!(!is_steady(&[100; 4]), "too few rounds");
    assert!(is_steady(&[100; 5]));
    assert!(is_steady(&[300, 100, 100, 100, 100, 100]), "only the last five count");
    assert!(is_steady(&[95, 105, 95, 105, 100]));
    // A range of 30 %.
    assert!(!is_steady(&[85, 115, 100, 85, 115]));
    // Level enough in range (16 %), but falling by 16 % from end to end.
    assert!(!is_steady(&[108, 104, 100, 96, 92]));
    assert!(is_steady(&[104, 102, 100, 98, 96]));
}
