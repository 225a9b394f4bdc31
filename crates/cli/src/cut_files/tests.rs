use std::fs;

use ssdlab_conductor::{CutState, PackedFiles, RequestAtCut, RequestSafety};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{
    Command, Extent, LoggedRequest, Nanos, RevertedSectors, SectorContents, Stream,
};
use ssdlab_host::whole_file::WholeFile;

use super::{write_image, write_log};

#[test]
fn an_image_has_every_byte_in_its_place() {
    // The last page reaches beyond the capacity.
    let mut image = Memory::new(100 * 4096 + 512);
    for at in [4096, 8192, 50 * 4096 + 512, 100 * 4096] {
        image.write(Nanos::ZERO, at, &[9; 512]).unwrap();
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("image");
    let mut file = WholeFile::begin(&path).unwrap();
    write_image(&image, &mut file).unwrap();
    file.keep().unwrap();
    let mut bytes = vec![0; 100 * 4096 + 512];
    image.load(0, &mut bytes).unwrap();
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn a_log_says_of_each_request_how_far_it_had_come() {
    let extent = Extent { offset_bytes: 4096, length_bytes: 1024 };
    let asked = |command, completed: Option<u64>, stage, at_risk_bytes| RequestAtCut {
        logged: LoggedRequest {
            submitted: Nanos(10),
            completed: completed.map(Nanos),
            command,
            is_fua: stage == RequestSafety::UnderWay,
        },
        stage,
        at_risk_bytes,
        is_lost: false,
    };
    let write = Command::Write(extent, Stream::Cold);
    let remains = CutState {
        image: Memory::new(8192),
        asked: vec![
            asked(Command::Flush, Some(20), RequestSafety::Safe, 0),
            asked(write, Some(30), RequestSafety::AtRisk, 512),
            asked(write, None, RequestSafety::UnderWay, 1024),
        ],
        files: PackedFiles::default(),
        reverted: vec![
            RevertedSectors { sectors: 8..9, to: SectorContents::Original },
            RevertedSectors { sectors: 9..10, to: SectorContents::Of(1) },
        ],
    };
    let mut out = Vec::new();
    write_log(&remains, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "0 10 20 flush 0 0 - safe 0",
            "1 10 30 write 4096 1024 - at-risk 512",
            "2 10 - write 4096 1024 fua under-way 1024",
            "",
            "4096 512 before-the-log",
            "4608 512 1",
        ]
    );
}
