//! Reports: an analysis as something people read. Pure: no clock, no machine, no file.

mod number;
mod table;
mod text;

pub use number::duration;
pub use text::{Style, text};
