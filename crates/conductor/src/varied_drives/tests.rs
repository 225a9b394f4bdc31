//! Tests of what draws depend on.

use super::*;

#[test]
fn other_plans_seeds_and_models_draw_other_values() {
    let seed = |seed, plan: &str, name| {
        seed_of(&Schedule { seed, plan: plan.to_owned(), ..Schedule::default() }, name)
    };
    let own = seed(1, "etcd", "tlc-dram");
    assert_eq!(own, seed(1, "etcd", "tlc-dram"));
    for other in
        [seed(1, "sqlite", "tlc-dram"), seed(2, "etcd", "tlc-dram"), seed(1, "etcd", "qlc")]
    {
        assert_ne!(own, other);
    }
}
