//! Records the requests to a block device through the kernel, as a log.
//!
//! It has the format of a simulated drive's log, so the same code reads both. Times are those of
//! `CLOCK_MONOTONIC`.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::sysfs::{self, BlockDevice};
use crate::tracefs::{Instance, Sink, TraceRecording, Tracepoint};
use ssdlab_trace::RequestLogWriter;
use ssdlab_trace::ftrace::{Assembler, EVENTS, RecordLayout, TracedDevice, device_number};

/// A recording in progress; if dropped before it is finished, the log is incomplete.
#[derive(Debug)]
pub struct RequestRecording {
    recording: TraceRecording<Log>,
}

impl RequestRecording {
    /// Records the requests to a device into a log. `instance` is the folder of the tracefs
    /// instance to create.
    pub fn record(instance: PathBuf, device: &BlockDevice, log: &Path) -> io::Result<Self> {
        let target = target(device)?;
        let instance = Instance::create(instance)?;
        let names = EVENTS.map(|event| format!("block/{event}"));
        let mut formats = Vec::new();
        for name in &names {
            formats.push(instance.read(&format!("events/{name}/format"))?);
        }
        let formats: [&str; EVENTS.len()] = std::array::from_fn(|index| formats[index].as_str());
        let layout = RecordLayout::parse(&instance.read("events/header_page")?, formats)
            .map_err(io::Error::other)?;
        let events = names.map(|name| Tracepoint { name, filter: target.filter() });
        let sub_buffer_bytes = layout.sub_buffer_bytes();
        let output = BufWriter::new(File::create(log)?);
        let writer = RequestLogWriter::new(output, device.size_bytes()?);
        let sink = Log {
            assembler: Assembler::new(layout, target),
            writer: writer.map_err(io::Error::other)?,
            trouble: None,
        };
        Ok(Self { recording: TraceRecording::start(instance, &events, sub_buffer_bytes, sink)? })
    }

    /// Ends the recording when all requests have completed. The error says why the log is
    /// incomplete.
    pub fn finish(self) -> io::Result<()> {
        let (mut log, losses) = self.recording.stop()?;
        log.assembler.end();
        log.write();
        if let Some(trouble) = log.trouble {
            return Err(io::Error::other(trouble));
        }
        let lost = log.assembler.lost();
        let events = losses.all().max(lost.overwritten) + lost.given_up;
        if events > 0 {
            return Err(io::Error::other(format!(
                "{events} block-layer events were lost; measure again when this machine is less \
                 busy"
            )));
        }
        log.writer.finish().map(drop).map_err(io::Error::other)
    }
}

/// The device as the kernel's events know it.
fn target(device: &BlockDevice) -> io::Result<TracedDevice> {
    let disk = number(&sysfs::read(&device.disk_folder().join("dev"))?)?;
    let partition = device.is_partition().then(|| number(&device.number)).transpose()?;
    Ok(TracedDevice { disk, partition, sectors: device.sectors()? })
}

/// The number of a device from `major:minor`.
fn number(text: &str) -> io::Result<u32> {
    let parts = text
        .split_once(':')
        .and_then(|(major, minor)| Some(device_number(major.parse().ok()?, minor.parse().ok()?)));
    parts.ok_or_else(|| io::Error::other(format!("`{text}` is not a device number")))
}

/// Where recorded events go.
#[derive(Debug)]
struct Log {
    assembler: Assembler,
    writer: RequestLogWriter<BufWriter<File>>,
    /// The first error; nothing is written after it.
    trouble: Option<String>,
}

impl Log {
    fn write(&mut self) {
        while let Some(request) = self.assembler.pop() {
            if self.trouble.is_none()
                && let Err(error) = self.writer.append(&request)
            {
                self.trouble = Some(error.to_string());
            }
        }
    }
}

impl Sink for Log {
    fn sub_buffer(&mut self, bytes: &[u8]) {
        if let Err(error) = self.assembler.take(bytes) {
            self.trouble.get_or_insert_with(|| error.to_string());
        }
    }

    fn advance(&mut self, until_ns: u64) {
        self.assembler.advance(until_ns);
        self.write();
    }
}

#[cfg(test)]
mod tests;
