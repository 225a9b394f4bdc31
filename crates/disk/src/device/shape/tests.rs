use super::*;

#[test]
fn the_configuration_space_is_laid_out_as_the_standard_says() {
    let shape = DiskShape { write_cache: CacheMode::Switchable, ..DiskShape::default() };
    let config = shape.config(1 << 30);
    let bytes = config.as_bytes();
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(bytes.len(), 60);
    assert_eq!(number(0), 1 << 21);
    assert_eq!((number(12), number(20), bytes[24]), (126, 512, 3));
    assert_eq!((number(28), bytes[WRITEBACK_AT]), (0, 1));
    assert_eq!((number(36), number(40), number(44)), (1 << 21, 256, 8));
    assert_eq!((number(48), number(52), bytes[56]), (1 << 15, 1, 1));
    let without = DiskShape { discards: false, ..shape }.config(1 << 30);
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
    let shape = DiskShape::of(&Specification::parse(text).unwrap());
    assert_eq!((shape.id.as_str(), shape.segments), ("Adrivewithatrslongna", 168));
    assert_eq!(shape.check(8 << 20), Ok(()));
    assert!(shape.features().contains(Features::DISCARD | Features::CONFIG_WCE));
    let text = format!("{text}\n[trim]\nhonoured = false");
    let shape = DiskShape::of(&Specification::parse(&text).unwrap());
    assert!(!shape.features().contains(Features::DISCARD));
}

/// The lab kernel reads the byte that VIRTIO reserves; a drive without volatile cache gets no
/// flush.
#[test]
fn a_drive_says_what_its_host_may_ask_of_its_cache() {
    let shape = |keys: &str| {
        let text = format!(
            "name = \"cached\"\ncapacity = \"8 MiB\"\nspare_factor = 0.25\n\
             pages_per_block = 16\npower_loss_protection = true\n{keys}"
        );
        DiskShape::of(&Specification::parse(&text).unwrap())
    };
    let timing = "[timing]\nchannels = 1\ndies_per_channel = 1\nread = \"50 us\"\n\
                  program = \"900 us\"\nerase = \"3 ms\"\nbus = \"40 MB/s\"\n\
                  link_read = \"270 MB/s\"\nlink_write = \"235 MB/s\"\n";
    let fua = format!("{timing}fua_latency = \"1 ms\"\n");
    let byte = |shape: &DiskShape| shape.config(8 << 20).as_bytes()[WRITEBACK_AT + 1];
    let flushes = |shape: &DiskShape| shape.features().contains(Features::FLUSH);
    for (keys, has_fua, is_flushed) in [
        (timing.to_owned(), 0, true),
        (fua.clone(), 1, true),
        (format!("write_cache = \"through\"\n{fua}"), 0, false),
    ] {
        let shape = shape(&keys);
        assert_eq!((byte(&shape), flushes(&shape)), (has_fua, is_flushed), "{keys}");
    }
}

#[test]
fn impossible_shapes_are_refused() {
    let good = DiskShape::default();
    assert_eq!(good.check(1 << 20), Ok(()));
    assert!(good.check(1000).is_err());
    assert!(good.check(0).is_err());
    assert!(DiskShape { segments: 0, ..good.clone() }.check(1 << 20).is_err());
    assert!(DiskShape { id: "x".repeat(21), ..good }.check(1 << 20).is_err());
}
