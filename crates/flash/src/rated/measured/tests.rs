use super::*;
use crate::grounded::grounded;
use crate::presets;

#[test]
fn the_file_of_a_drive_between_two_presets_answers_more_like_it_and_is_sound() {
    let text = |name: &str| presets::find(name).unwrap().text;
    let slower = text("sata-tlc")
        .replace("flush_latency = \"1300 us\"", "flush_latency = \"2 ms\"")
        .replace("read_latency = \"54 us\"", "read_latency = \"80 us\"");
    let host = ProbeHost::ALL[1];
    let answers = forecast(&slower, host, 2).unwrap();
    let before = answers.distance(&forecast(text("sata-tlc"), host, 1).unwrap(), false);
    let capacity = Some(Bytes(250_059_350_016));
    let made = measured("mine", &answers, capacity, (text("sata-tlc"), host), false).unwrap();
    assert!(made.distance < before / 2.0, "{} of {before}", made.distance);
    assert!(made.measured.contains(&"timing.flush_latency"), "{:?}", made.measured);
    grounded(&made.text).unwrap();
    let drive = crate::Specification::parse(&made.text).unwrap();
    assert_eq!(drive.capacity_bytes(), 250_059_350_016);
}
