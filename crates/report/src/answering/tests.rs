use super::*;

#[test]
fn a_question_with_a_choice_is_not_answered_by_yes() {
    assert!(asks_for_yes_or_no("Does discard make deleting slow, and is fstrim better?"));
    assert!(!asks_for_yes_or_no("Which filesystem is the fastest?"));
    assert!(!asks_for_yes_or_no("Does a journal or do access times wear out a spot?"));
    assert!(!asks_for_yes_or_no(""));
}
