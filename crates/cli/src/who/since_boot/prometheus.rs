//! What was written since boot, for Prometheus.

use super::super::exposition::{labels, metric};
use super::drive_writes::{DriveSinceBoot, SinceBoot};
use super::wording;

/// A metric's name, its help, and its value of a drive.
type Metric<T> = (&'static str, &'static str, fn(&DriveSinceBoot) -> T);

/// The file's text.
pub fn prometheus(found: &SinceBoot) -> String {
    let mut text = String::new();
    let counters: [Metric<u64>; 5] = [
        ("written_bytes", "Bytes written to the drive.", |drive| drive.counter_bytes),
        ("write_requests", "Write requests.", |drive| drive.write_requests),
        ("discarded_bytes", "Bytes discarded.", |drive| drive.discarded_bytes),
        ("discard_requests", "Discard requests.", |drive| drive.discard_requests),
        ("flushes", "Flushes.", |drive| drive.flushes),
    ];
    for (name, help, value) in counters {
        let samples =
            found.devices.iter().map(|drive| (labels(&drive.device), value(drive) as f64));
        metric(&mut text, &format!("{name}_total"), "counter", help, samples);
    }
    let rows = found.devices.iter().flat_map(|drive| {
        drive.rows.iter().map(move |row| {
            let service = [("service", wording::writer(row)), ("cgroup", row.cgroup.clone())];
            (labels(&drive.device).into_iter().chain(service).collect(), row.bytes as f64)
        })
    });
    let help = "Bytes written to the drive by a service since it was started.";
    metric(&mut text, "service_written_bytes_total", "counter", help, rows);
    let gauges: [Metric<Option<f64>>; 5] = [
        ("unattributed_bytes", "Bytes written that no cgroup is charged with.", |drive| {
            Some(drive.unseen_bytes as f64)
        }),
        ("used_ratio", "The used share of the drive's life, as it states it at most.", |drive| {
            drive.wear.used_percent.map(|[_, used]| used as f64 / 100.0)
        }),
        ("life_written_bytes", "Bytes written by hosts in the drive's life.", |drive| {
            drive.wear.host_written_bytes.map(|bytes| bytes as f64)
        }),
        ("life_amplification", "Bytes written to flash by those that hosts wrote.", |drive| {
            drive.wear.amplification
        }),
        ("temperature_celsius", "The drive's temperature.", |drive| {
            drive.wear.temperature_c.map(|degrees| degrees as f64)
        }),
    ];
    for (name, help, value) in gauges {
        let told =
            found.devices.iter().filter_map(|drive| Some((labels(&drive.device), value(drive)?)));
        metric(&mut text, name, "gauge", help, told);
    }
    text
}
