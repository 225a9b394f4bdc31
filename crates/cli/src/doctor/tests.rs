use ssdlab_doctor::CheckName;

use super::*;

fn output(findings: Vec<SetupFinding>) -> DoctorOutput {
    let machine = ExaminedMachine {
        kernel: "6.12.48".to_owned(),
        distribution: "Debian GNU/Linux 13 (trixie)".to_owned(),
        place: MachinePlace::VirtualMachine,
        filesystems: 2,
    };
    DoctorOutput { schema: SCHEMA, machine, findings }
}

fn finding(subject: &str, state: FindingState, risk: Option<&str>) -> SetupFinding {
    SetupFinding {
        id: CheckName::TrimPath,
        subject: subject.to_owned(),
        state,
        grade: AdviceGrade::Fact,
        why: "Discards stop at LUKS (root_crypt): the drive never learns of deleted files, and \
              wears more as it fills."
            .to_owned(),
        remedy: "cryptsetup refresh --allow-discards root_crypt".to_owned(),
        risk: risk.map(str::to_owned),
    }
}

#[test]
fn a_plain_machine_has_nothing_to_do() {
    insta::assert_snapshot!(output(Vec::new()).screen());
}

#[test]
fn what_is_to_be_done_comes_with_its_reason_and_its_risk() {
    let risk = Some("Who reads the drive itself can tell which blocks are free.");
    let found = output(vec![
        finding("/", FindingState::ToDo, risk),
        finding("/srv/\u{1b}[31mred", FindingState::OnTheHost, None),
    ]);
    let screen = found.screen();
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    insta::assert_snapshot!("found_as_text", screen);
    insta::assert_snapshot!("found_as_markdown", found.markdown());
}

#[test]
fn an_unreadable_table_of_mounts_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = DoctorOutput::of_machine(folder.path(), 0).unwrap_err();
    assert!(error.to_string().contains("cannot read the mounts of"), "{error}");
}
