use super::*;

#[test]
fn a_refusal_names_1000_against_2000_records_in_words_without_braces() {
    let phase = |records: u64, think_ns: u64| {
        json!({
            "do": { "append": { "records": records, "sync_every": null, "think_ns": think_ns } },
            "sync": true, "cold": false, "reader": false,
        })
    };
    let records = differing("`log`", &phase(1000, 5), &phase(2000, 5)).unwrap();
    assert_eq!(records, "`log`, do append records: 1000 against 2000");
    let think = differing("`log`", &phase(9, 1_000_000), &phase(9, 2_000_000_000)).unwrap();
    assert_eq!(think, "`log`, do append think: 1ms against 2s");
    let other = json!({ "do": "sync", "sync": true, "cold": false, "reader": false });
    let other = differing("`log`", &phase(9, 1), &other).unwrap();
    assert_eq!(other, "`log`, do: append records 9; sync every none; think 1ns against sync");
    assert_eq!(differing("`log`", &phase(9, 1), &phase(9, 1)), None);
}
