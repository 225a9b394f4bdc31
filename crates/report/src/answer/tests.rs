use super::*;

#[test]
fn a_question_that_asks_which_is_not_answered_by_yes() {
    for question in ["Which filesystem?", "how much is it", "What helps?"] {
        assert!(asks_which(question), "{question}");
    }
    for question in ["Does it help?", "Is ext4 or xfs the faster?", "Can a drive be trimmed?"] {
        assert!(!asks_which(question), "{question}");
    }
}
