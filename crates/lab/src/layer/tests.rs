use super::{Pool, crypt};

#[test]
fn dm_crypt_covers_the_drive_in_whole_sectors_under_a_constant_key() {
    let parameters = ["allow_discards", "sector_size:4096"];
    let table = crypt("254:0", 2_000_003, &parameters);
    let words: Vec<&str> = table.split(' ').collect();
    assert_eq!(words[..4], ["0", "2000000", "crypt", "aes-xts-plain64"]);
    assert_eq!(words[4].len(), 128);
    assert!(words[4].starts_with("000102"));
    assert_eq!(words[5..], ["0", "254:0", "0", "2", "allow_discards", "sector_size:4096"]);
    assert!(crypt("254:0", 8, &[]).ends_with(" 0 254:0 0"));
}

#[test]
fn a_pool_has_metadata_before_its_data_and_gives_one_volume_all_of_it() {
    let pool = Pool::new(8_000_000_000, 64 << 10);
    assert_eq!(pool.metadata("254:0"), "0 16384 linear 254:0 0");
    assert_eq!(pool.data("254:0"), "0 15608576 linear 254:0 16384");
    assert_eq!(
        pool.table("253:0", "253:1", &["skip_block_zeroing"]),
        "0 15608576 thin-pool 253:0 253:1 128 0 1 skip_block_zeroing"
    );
    assert_eq!(pool.table("253:0", "253:1", &[]), "0 15608576 thin-pool 253:0 253:1 128 0");
    assert_eq!(pool.volume("253:2"), "0 15608576 thin 253:2 0");
}

#[test]
fn a_small_pool_has_as_much_metadata_as_lvm_makes_at_least() {
    let pool = Pool::new(100 << 20, 64 << 10);
    assert_eq!(pool.metadata("254:0"), "0 4096 linear 254:0 0");
}
