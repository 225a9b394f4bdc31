//! Tests of how functions are ranked.

use super::*;

#[test]
fn the_functions_with_most_blocks_come_first_and_the_rest_is_told() {
    let executed: BTreeMap<String, u64> =
        (0..20).map(|number| (format!("function_{number:02}"), 5 * (number + 1))).collect();
    let text = functions("delete", &executed, Style { is_coloured: false, width: None });
    assert!(text.starts_with("delete: 1.05 k blocks, 7.1 % of them in 5 functions not shown"));
    let place = |name: &str| text.find(name);
    assert!(place("function_19") < place("function_18"));
    assert_eq!(place("function_04"), None, "{text}");
}
