//! The file for the textfile collector of Prometheus's node exporter, and what a recording has in
//! it.
//!
//! Source: Prometheus, Exposition formats, text-based format 0.0.4: the samples of a metric are
//! together below its `HELP` and `TYPE`; backslash, quote and line feed are escaped in labels.

use std::collections::BTreeMap;
use std::fmt::Write;

use ssdlab_attribution::{DeviceWrites, WhoOutput};

/// The labels of a sample.
pub type Labels = Vec<(&'static str, String)>;

type DeviceValue = fn(&DeviceWrites) -> f64;

/// Adds a metric.
pub fn metric(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    samples: impl Iterator<Item = (Labels, f64)>,
) {
    let mut samples = samples.peekable();
    if samples.peek().is_none() {
        return;
    }
    let _ = writeln!(text, "# HELP ssdlab_{name} {help}\n# TYPE ssdlab_{name} {kind}");
    for (labels, value) in samples {
        let labels = labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value)));
        let _ = writeln!(text, "ssdlab_{name}{{{}}} {value}", labels.collect::<Vec<_>>().join(","));
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The text of a recording: its rows without their files.
pub fn recording(found: &WhoOutput) -> String {
    let mut text = String::new();
    let of_device: [(&str, &str, DeviceValue); 5] = [
        ("seconds", "The length of the recording.", |device| device.seconds),
        ("counter_bytes", "What the device's counter grew by.", |device| {
            device.counter_bytes as f64
        }),
        ("unseen_bytes", "Bytes of which no event was seen.", |device| device.unseen_bytes as f64),
        ("lost_events", "Events that the kernel could not record.", |device| {
            device.lost_events as f64
        }),
        ("discarded_bytes", "Bytes discarded.", |device| device.discarded_bytes as f64),
    ];
    for (name, help, value) in of_device {
        let samples = found.devices.iter().map(|device| (labels(&device.device), value(device)));
        metric(&mut text, &format!("recorded_{name}"), "gauge", help, samples);
    }
    let mut sums: BTreeMap<Labels, [u64; 3]> = BTreeMap::new();
    for device in &found.devices {
        for row in &device.rows {
            let [program, service, cgroup, kind] =
                [&row.program, &row.service, &row.cgroup, &row.kind].map(String::clone);
            let own =
                [("program", program), ("service", service), ("cgroup", cgroup), ("kind", kind)];
            let sum =
                sums.entry(labels(&device.device).into_iter().chain(own).collect()).or_default();
            for (sum, own) in sum.iter_mut().zip([row.bytes, row.asked_bytes, row.syncs]) {
                *sum += own;
            }
        }
    }
    let of_rows = [
        ("written_bytes", "Bytes that a program caused to be written to the device."),
        ("asked_bytes", "Bytes that a program asked for."),
        ("syncs", "Calls of fsync(2) and fdatasync(2)."),
    ];
    for (index, (name, help)) in of_rows.into_iter().enumerate() {
        let samples = sums.iter().map(|(labels, sums)| (labels.clone(), sums[index] as f64));
        metric(&mut text, &format!("recorded_{name}"), "gauge", help, samples);
    }
    text
}

/// The labels of every sample of a device.
pub fn labels(device: &str) -> Labels {
    vec![("device", device.to_owned())]
}
