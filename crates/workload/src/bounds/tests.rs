use super::*;

#[test]
fn a_budget_ends_with_its_last_operation_or_byte() {
    let mut budget = Budget::of(2, 10);
    assert_eq!(budget.take_operation(4), Ok(()));
    assert_eq!(budget.take_names(6), Ok(()));
    assert_eq!(budget.take_names(1), Err(ExceededLimit::NameBytes));
    assert_eq!(budget.take_operation(0), Ok(()));
    assert_eq!(budget.take_operation(0), Err(ExceededLimit::Operations));
}
