use super::{PAGE_BYTES, Writes};

#[test]
fn writes_are_kept_once_and_read_from_anywhere() {
    let mut writes = Writes::default();
    let data: Vec<u8> = (0..=250).cycle().take(PAGE_BYTES + 700).collect();
    writes.push(&data[..512]);
    writes.push(&data);
    writes.push(&data);
    assert_eq!((writes.writes.len(), writes.pages.len()), (3, 3));
    assert_eq!((writes.data(0), writes.data(2)), (data[..512].to_vec(), data.clone()));
    let mut part = [0; 900];
    writes.copy(1, PAGE_BYTES - 300, &mut part);
    assert_eq!(part, data[PAGE_BYTES - 300..PAGE_BYTES + 600]);
}
