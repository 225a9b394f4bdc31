//! `ssdlab evidence`: every published number, and what the models make of it.

use clap::Args;
use rayon::prelude::*;
use ssdlab_book::{self as book, DriveFigures, Figure, KEPT, Kept};
use ssdlab_report::{self as report, Book};

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab evidence`.
#[derive(Debug, Args)]
pub struct Evidence {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Evidence {
    /// Runs the command.
    pub fn run(&self) -> Exit {
        let drives: Vec<DriveFigures> = book::drives().collect();
        let of_drives: Vec<Vec<Figure>> =
            drives.into_par_iter().map(DriveFigures::compute).collect();
        let mut figures: Vec<Figure> = of_drives.into_iter().flatten().collect();
        let kept = Kept::parse(KEPT).expect("a test reads what is kept");
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
