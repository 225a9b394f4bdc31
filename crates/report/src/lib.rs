//! Reports: analyses and outcomes as something people read. Pure: no clock, no machine, no file.

mod aged;
mod answer;
mod bars;
mod chart;
mod comparison;
mod evidence;
mod features;
mod grid;
mod history;
mod hosts;
mod html;
mod live;
mod markdown;
mod method;
mod number;
mod reason;
mod serving;
mod simulation;
mod table;
mod text;
mod trace;

pub use chart::{Chart, charts, trace_chart};
pub use comparison::{comparison, comparison_markdown};
pub use features::features;
pub use history::{HISTORY_SCHEMA, History, Past, history};
pub use html::html;
pub use live::{Going, Shown, live};
pub use markdown::markdown;
pub use method::method;
pub use number::{bytes, duration, roughly};
pub use serving::serving;
pub use simulation::{simulation, specification};
pub use text::{Style, counted, is_unseen, text};
pub use trace::{Traced, trace, traces};
