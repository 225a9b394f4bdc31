//! Tests of what draws depend on.

use super::*;

#[test]
fn other_plans_seeds_and_models_draw_other_values() {
    let own = seed_of(1, "etcd", "tlc-dram");
    assert_eq!(own, seed_of(1, "etcd", "tlc-dram"));
    for (seed, plan, name) in
        [(1, "sqlite", "tlc-dram"), (2, "etcd", "tlc-dram"), (1, "etcd", "qlc")]
    {
        assert_ne!(own, seed_of(seed, plan, name));
    }
}
