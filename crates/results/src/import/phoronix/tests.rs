use super::*;

#[test]
fn memory_is_read_as_it_is_sold() {
    for (text, expected) in [
        ("16GB", Some(16 << 30)),
        ("2 x 8 GB DDR4-3200MT/s Corsair", Some(16 << 30)),
        ("8192MB", Some(8 << 30)),
        ("lots", None),
        ("x 9", None),
        ("99999999999999999999GB", None),
    ] {
        assert_eq!(memory_bytes(text), expected, "{text}");
    }
}

#[test]
fn a_comma_in_a_value_is_no_new_pair() {
    let found = pairs("Disk: 2 x 500GB A, B, Memory: 16GB");
    let expected = [("Disk", "2 x 500GB A, B"), ("Memory", "16GB")];
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

/// A result of two runs, and more elements.
fn result(title: &str, scale: &str, more: &str, format: &str, values: &str) -> String {
    format!(
        "<Result><Title>{title}</Title><Scale>{scale}</Scale><Proportion>HIB</Proportion>{more}\
         <DisplayFormat>{format}</DisplayFormat><Data><Entry><Identifier>ext4</Identifier>\
         <Value>1</Value><RawString>{values}</RawString></Entry></Data></Result>"
    )
}

fn found(results: &[String]) -> Result<(Vec<String>, ImportedFile), String> {
    let text = format!("<PhoronixTestSuite>{}</PhoronixTestSuite>", results.concat());
    let found = read(&text).map_err(|fault| fault.of("a.xml").to_string())?;
    let names = found.samples.iter().flat_map(|sample| &sample.phases);
    let names: BTreeSet<String> = names.map(|phase| phase.name.clone()).collect();
    Ok((names.into_iter().collect(), found))
}

/// Case `phoronix-monitor-blocks`: a graph of readings is skipped, and the rest is read.
#[test]
fn case_phoronix_monitor_blocks_a_graph_of_readings_is_skipped() {
    let (names, found) = found(&[
        result("Disk", "MB/s", "", "BAR_GRAPH", "660:665:670"),
        result("SSD Temp Monitor", "Celsius", "", "LINE_GRAPH", "41,42,43,44"),
        result("SSD Temp Monitor", "Celsius", "", "LINE_GRAPH", "41,42,43,45"),
        result("Frames", "ms", "", "HORIZONTAL_BOX_PLOT", "1,2,3"),
        result("Readings", "W", "", "LINE_GRAPH", "5:6"),
    ])
    .unwrap();
    assert_eq!(names, ["Disk (MB/s)", "Readings (W)"]);
    assert_eq!(found.samples.len(), 3);
    let skipped =
        "`SSD Temp Monitor (Celsius)` is skipped: a LINE_GRAPH is not a number for each run";
    assert!(found.notes.contains(&skipped.to_owned()), "{:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("HORIZONTAL_BOX_PLOT")));
}

/// Tests of one title differ by their arguments, by their version, or not at all.
#[test]
fn tests_of_one_title_are_told_apart() {
    let of = |arguments: &str| {
        let more = format!("<Arguments>{arguments}</Arguments>");
        result("Disk", "MB/s", &more, "BAR_GRAPH", "1:2")
    };
    let (names, _) = found(&[of("read 4k"), of("write 4k")]).unwrap();
    assert_eq!(names, ["Disk (MB/s) [read 4k]", "Disk (MB/s) [write 4k]"]);
    let error = found(&[of("read 4k"), of("read 4k")]).map(|_| ()).unwrap_err();
    assert!(error.contains("two tests are called `Disk (MB/s)`"), "{error}");
}

#[test]
fn a_missing_or_negative_value_is_not_a_result() {
    let (names, found) = found(&[
        result("Disk", "MB/s", "", "BAR_GRAPH", "660::670:"),
        result("Change", "", "", "BAR_GRAPH", "-3:4"),
    ])
    .unwrap();
    assert_eq!(names, ["Disk (MB/s)"]);
    assert_eq!(found.samples.len(), 2);
    assert!(found.notes.iter().any(|note| note.contains("-3 is below 0")), "{:?}", found.notes);
}
