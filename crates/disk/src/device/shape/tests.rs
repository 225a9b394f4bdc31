use super::*;

#[test]
fn the_configuration_space_is_laid_out_as_the_standard_says() {
    let shape = Shape { write_cache: WriteCache::Switchable, ..Shape::default() };
    let config = shape.config(1 << 30);
    let bytes = config.as_bytes();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes.len(), 60);
    assert_eq!(number(0), 1 << 21);
    assert_eq!((number(12), number(20), bytes[24]), (126, 512, 3));
    assert_eq!((number(28), bytes[WRITEBACK_AT]), (0, 1));
    assert_eq!((number(36), number(40), number(44)), (1 << 21, 256, 8));
    assert_eq!((number(48), number(52), bytes[56]), (1 << 15, 1, 1));
    let without = Shape { discards: false, ..shape }.config(1 << 30);
    assert_eq!(without.as_bytes()[36..48], [0; 12]);
}

#[test]
fn a_drive_looks_as_its_specification_says() {
    let text = r#"
            name = "A drive with a très long name"
            description = "For this test"
            capacity = "8 MiB"
            page = "4 KiB"
            pages_per_block = 16
            spare_factor = 0.25
            mapping = "page"
            [wear]
            levelling = "none"
        "#;
    let shape = Shape::of(&Specification::parse(text).unwrap());
    assert_eq!((shape.id.as_str(), shape.segments), ("Adrivewithatrslongna", 168));
    assert_eq!(shape.check(8 << 20), Ok(()));
    assert!(shape.features().contains(Features::DISCARD | Features::CONFIG_WCE));
    let text = format!("{text}\n[trim]\nhonoured = false");
    let shape = Shape::of(&Specification::parse(&text).unwrap());
    assert!(!shape.features().contains(Features::DISCARD));
}

#[test]
fn impossible_shapes_are_refused() {
    let good = Shape::default();
    assert_eq!(good.check(1 << 20), Ok(()));
    assert!(good.check(1000).is_err());
    assert!(good.check(0).is_err());
    assert!(Shape { segments: 0, ..good.clone() }.check(1 << 20).is_err());
    assert!(Shape { id: "x".repeat(21), ..good }.check(1 << 20).is_err());
}
