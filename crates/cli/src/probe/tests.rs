use ssdlab_flash::probe::{ProbeHost, SimulatedProbe, forecast};
use ssdlab_flash::{Drive, Nanos, Specification};

use super::cautions::CautionName;
use super::*;

fn place() -> ProbedPlace {
    ProbedPlace {
        folder: "/var/lib/etcd".to_owned(),
        filesystem: "ext4".to_owned(),
        devices: vec!["nvme0n1".to_owned()],
        model: None,
        kind: None,
        capacity_bytes: None,
        passes_fua: true,
    }
}

/// What a shipped drive answers under a host, as the output has it.
fn found(answers: &ProbeAnswers) -> ProbeOutput {
    let forecasts: Vec<_> =
        presets::ALL.into_iter().map(|preset| ProbeForecast::of(preset, 1).unwrap()).collect();
    ProbeOutput::new(answers, ranked(answers, &forecasts, true)[0], place(), 1)
}

fn of_drive(name: &str) -> ProbeOutput {
    let text = presets::find(name).unwrap().text;
    found(&forecast(text, ProbeHost { per_request: Nanos(1500) }, 2).unwrap())
}

#[test]
fn a_drive_is_named_with_its_verdicts_on_lines_of_80_columns() {
    let found = of_drive("tlc-dram");
    assert_eq!(found.nearest.unwrap().drive, "tlc-dram");
    let screen = found.screen();
    assert!(screen.contains("Fast enough for etcd, PostgreSQL and SQLite."), "{screen}");
    assert!(screen.contains("Like    tlc-dram, an NVMe SSD for consumers"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let markdown = found.markdown();
    assert!(markdown.contains("| write, then fdatasync | 1.0"), "{markdown}");
    assert!(markdown.contains("p99 duration should be less than 10ms"), "{markdown}");
}

#[test]
fn what_is_too_fast_is_called_that_and_fits_no_drive() {
    // Memory that answers at once, on a host that takes a microsecond.
    let text = presets::find("ideal").unwrap().text;
    let drive = Drive::new(Specification::parse(text).unwrap(), 1);
    let mut memory = SimulatedProbe::new(drive, ProbeHost { per_request: Nanos(100) });
    let found = found(&probe(&mut memory, 1, &mut |_| {}).unwrap());
    let cautions: Vec<_> = found.cautions.iter().map(|caution| caution.id).collect();
    assert_eq!(cautions, [CautionName::SyncTooFast, CautionName::ReadFromMemory]);
    let slow = of_drive("sd-card");
    assert!(slow.screen().contains("Too slow for"), "{}", slow.screen());
}
