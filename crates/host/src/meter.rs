//! Meters. Each reads something that the kernel or a drive publishes, and parses it purely, so that
//! every parser is tested on text.

pub mod block;
pub mod environment;
pub mod ext4;
pub mod pressure;
pub mod process;
pub mod processor;
pub mod quiet;
pub mod requests;
pub mod smart;
