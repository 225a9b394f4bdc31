//! Tests of disks as a guest sees them: the rules of backends, virtual time, and guests that send
//! what they should not.

mod body;
mod conformance;
mod driver;
mod frontend;
mod guest;
mod malformed;
mod virtual_time;

use ssdlab_flash::{Drive, Specification};

/// A small drive that takes time: two channels of two dies, discards that cost something.
const DRIVE: &str = r#"
name = "small"
description = "A small drive for tests"
capacity = "8 MiB"
page = "4 KiB"
pages_per_block = 16
spare_factor = 0.25
mapping = "page"

[wear]
levelling = "none"

[trim]
honoured = true
per_command = "50 us"

[write_buffer]
size = "64 KiB"

[timing]
channels = 2
dies_per_channel = 2
read = "50 us"
program = "900 us"
erase = "3500 us"
bus = "40 MB/s"
link_read = "250 MB/s"
link_write = "70 MB/s"
controller_read = "20 us"
controller_write = "30 us"
"#;

fn drive() -> Drive {
    Drive::new(Specification::parse(DRIVE).unwrap(), 1)
}
