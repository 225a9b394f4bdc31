//! Power cuts of a logged device, for the terminal.

use std::fmt::Write;

use ssdlab_advice::DeviceCuts;
use ssdlab_operations::cuts::CutMoment;
use ssdlab_results::{DeviceCase, DeviceCut};

use super::cuts::{proportion, quantiles};
use super::grid::ReportTable;
use super::number;
use super::repeat::{ReportedRecovery, at_risk, write_recovery};
use super::words::{Style, wrapped, written};

/// The heading of the table.
const HEADING: &str = "After power cuts: how many cuts did what (95 %), and how long mounting took \
                       (median / 99 % / worst)";

pub fn device_cuts(cuts: &DeviceCuts, style: Style) -> String {
    let header = ["cuts", "unmountable", "check fails", "time to mount"];
    let row = vec![
        number::count(cuts.number as f64),
        proportion(Some(cuts.unmountable), ""),
        proportion(cuts.amiss, "not checked"),
        quantiles(cuts.recovery_ns, number::duration),
    ];
    let header = header.map(str::to_owned).to_vec();
    let table = ReportTable { header, rows: vec![row], numbers: 0 }.text(style);
    format!("{}\n{table}\n", wrapped("", HEADING, "", style))
}

pub fn device_cut(cut: &DeviceCut, style: Style) -> String {
    written(|out| write_cut(out, cut, style))
}

fn write_cut(out: &mut String, cut: &DeviceCut, style: Style) -> std::fmt::Result {
    let DeviceCut { case, drive, contents_sha256, image_bytes, .. } = cut;
    let DeviceCase { cut, survivor, entry, mark, moment, .. } = case;
    let after = mark.as_ref().map_or_else(String::new, |mark| format!(", after the mark {mark:?}"));
    let chosen = match moment {
        CutMoment::Event => "at a request or a flush",
        CutMoment::Random => "at a random place",
    };
    let mut say = |text: &str| writeln!(out, "{}", wrapped("", text, "", style));
    say(&format!("Cut {cut}, survivor {survivor}: in entry {entry} of the log{after}, {chosen}."))?;
    say(&at_risk(drive))?;
    say(&format!("Image: {image_bytes} bytes, SHA-256 {contents_sha256}"))?;
    let recovered = ReportedRecovery {
        unmountable: case.unmountable.as_deref(),
        recovery_ns: case.recovery_ns,
        checked_before: case.checked_before.as_ref(),
        amiss: case.amiss.as_deref(),
        unchecked: case.unchecked,
    };
    write_recovery(out, &recovered, style)
}
