//! Tests of reading the lab kernel's reports.

use super::*;

const TOLD: &str = "processes 12 ns\nkernel_threads 5 ns\ninterrupts 1 ns\nblocks 99\n";

#[test]
fn each_account_is_found_by_its_name() {
    let computed = parse_computed(TOLD).unwrap();
    assert_eq!(
        computed,
        ProcessorTime { processes_ns: 12, kernel_threads_ns: 5, interrupts_ns: 1 }
    );
    let earlier = ProcessorTime { processes_ns: 2, ..ProcessorTime::default() };
    assert_eq!(computed.since(earlier).processes_ns, 10);
    assert_eq!(parse_computed("processes 12 ns\n"), None);
    assert_eq!(parse_computed("processes many ns\n"), None);
}

#[test]
fn parts_of_a_function_are_added_up() {
    let functions = parse_functions("vfs_read 7\nvfs_read 2\next4_map_blocks 1\nodd\n");
    let expected = [("ext4_map_blocks".to_owned(), 1), ("vfs_read".to_owned(), 9)];
    assert_eq!(functions, BTreeMap::from(expected));
}
