//! `ssdlab evidence`: every published number, and what the models make of it.

use clap::Args;
use rayon::prelude::*;
use ssdlab_flash::presets;
use ssdlab_report::figures::{self as book, Figure, STORED_RESULTS, StoredResults};
use ssdlab_report::{self as report, Book};

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab evidence`.
#[derive(Debug, Args)]
pub struct EvidenceCommand {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl EvidenceCommand {
    pub fn run(&self) -> Exit {
        let of_drives = presets::ALL.into_par_iter().flat_map_iter(book::of_drive);
        let mut figures: Vec<Figure> = of_drives.collect();
        let kept = StoredResults::parse(STORED_RESULTS).expect("a test reads what is kept");
        figures.extend(book::of_plans(&kept));
        figures.extend(book::cross_checks());
        if self.json {
            output::print_json(&Book::new(&figures));
        } else {
            output::print(&report::book(&figures, output::style()));
        }
        Exit::Done
    }
}
