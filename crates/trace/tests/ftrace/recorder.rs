//! Defines sub-buffers as a kernel would record them, of events that a test makes up.
//!
//! Its layout is none of a true kernel, so that whoever knows one by heart reads nonsense.

use ssdlab_trace::ftrace::{RecordLayout, device_number};

/// The bytes of a sub-buffer.
pub const SUB_BUFFER_BYTES: usize = 1024;

/// Where the data begins.
const DATA: usize = 24;

pub const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:0;\tsize:8;\tsigned:1;\n\
    \tfield: char data;\toffset:24;\tsize:1000;\tsigned:0;\n";

pub const QUEUE: u16 = 11;
pub const ISSUE: u16 = 12;
pub const REQUEUE: u16 = 13;
pub const COMPLETE: u16 = 14;

/// The device that events are of unless they say otherwise.
pub fn device() -> u32 {
    device_number(259, 0)
}

/// The `format` of the event with this number.
pub fn format(id: u16) -> String {
    format!(
        "name: made_up\nID: {id}\nformat:\n\
         \tfield:unsigned short common_type;\toffset:2;\tsize:2;\tsigned:0;\n\
         \n\
         \tfield:char rwbs[8];\toffset:4;\tsize:8;\tsigned:0;\n\
         \tfield:unsigned int nr_sector;\toffset:12;\tsize:4;\tsigned:0;\n\
         \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
         \tfield:dev_t dev;\toffset:24;\tsize:4;\tsigned:0;\n\
         \tfield:__data_loc char[] cmd;\toffset:28;\tsize:4;\tsigned:0;\n\
         \nprint fmt: \"%d\", REC->dev\n"
    )
}

pub fn layout() -> RecordLayout {
    let formats = [QUEUE, ISSUE, REQUEUE, COMPLETE].map(format);
    RecordLayout::parse(HEADER_PAGE, formats.each_ref().map(String::as_str)).unwrap()
}

/// What is recorded at one time.
#[derive(Debug, Clone)]
pub struct Event {
    pub time_ns: u64,
    pub id: u16,
    pub device: u32,
    pub rwbs: &'static str,
    pub sector: u64,
    pub sectors: u32,
}

/// An event of the device.
pub fn event(time_ns: u64, id: u16, rwbs: &'static str, sector: u64, sectors: u32) -> Event {
    Event { time_ns, id, device: device(), rwbs, sector, sectors }
}

impl Event {
    fn data(&self) -> [u8; 32] {
        let mut data = [0; 32];
        data[2..4].copy_from_slice(&self.id.to_le_bytes());
        data[4..4 + self.rwbs.len()].copy_from_slice(self.rwbs.as_bytes());
        data[12..16].copy_from_slice(&self.sectors.to_le_bytes());
        data[16..24].copy_from_slice(&self.sector.to_le_bytes());
        data[24..28].copy_from_slice(&self.device.to_le_bytes());
        data
    }
}

/// The first 32 bits of a record.
pub fn head(kind: u32, time_ns: u64) -> Vec<u8> {
    let time = u32::try_from(time_ns).unwrap();
    assert!(time < 1 << 27, "a longer time needs a record of its own");
    (kind | (time << 5)).to_le_bytes().to_vec()
}

/// A record whose data is as long as its head says.
pub fn short(after_ns: u64, event: &Event) -> Vec<u8> {
    [head(8, after_ns), event.data().to_vec()].concat()
}

/// A record whose length stands before its data.
pub fn long(after_ns: u64, event: &Event) -> Vec<u8> {
    [head(0, after_ns), 36_u32.to_le_bytes().to_vec(), event.data().to_vec()].concat()
}

/// A sub-buffer that begins at a time and holds these records.
pub fn sub_buffer(time_ns: u64, records: &[Vec<u8>]) -> Vec<u8> {
    flagged(time_ns, 0, &records.concat(), &[])
}

/// The same with flags in its `commit`, and with something behind the data.
pub fn flagged(time_ns: u64, flags: u64, data: &[u8], behind: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; SUB_BUFFER_BYTES];
    bytes[..8].copy_from_slice(&(data.len() as u64 | flags).to_le_bytes());
    bytes[8..16].copy_from_slice(&time_ns.to_le_bytes());
    bytes[DATA..DATA + data.len()].copy_from_slice(data);
    bytes[DATA + data.len()..][..behind.len()].copy_from_slice(behind);
    bytes
}

/// The sub-buffers that a processor fills with events, which are in order of time.
pub fn record(events: &[Event]) -> Vec<Vec<u8>> {
    let fitting = (SUB_BUFFER_BYTES - DATA) / 40;
    events
        .chunks(fitting)
        .map(|events| {
            let began_ns = events[0].time_ns;
            let mut last_ns = began_ns;
            let records = events.iter().map(|event| {
                let after_ns = event.time_ns - last_ns;
                last_ns = event.time_ns;
                if after_ns % 2 == 0 { short(after_ns, event) } else { long(after_ns, event) }
            });
            sub_buffer(began_ns, &records.collect::<Vec<_>>())
        })
        .collect()
}
