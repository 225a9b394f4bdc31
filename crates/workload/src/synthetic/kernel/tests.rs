use super::*;

#[test]
fn shares_are_of_ten_thousand() {
    assert_eq!(KINDS.iter().map(|kind| kind.share).sum::<u64>(), 10_000);
}

#[test]
fn depths_count_every_directory_below_the_top() {
    assert_eq!(DIRECTORIES_AT_DEPTH.iter().sum::<u64>() + 1, DIRECTORIES);
}

#[test]
fn means_of_the_tables_are_near_the_measured_means() {
    let measured = [(&C_SIZES, 19_018), (&H_SIZES, 7155), (&OTHER_SIZES, 5251)];
    for (table, mean) in measured {
        let values = 100_000;
        let of_table = table.spread(values).sum::<u64>() / values;
        assert!(of_table.abs_diff(mean) * 100 <= mean * 3, "{of_table} is far from {mean}");
    }
}
