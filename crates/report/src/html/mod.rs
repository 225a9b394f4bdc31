//! The report as one self-contained HTML page: no network, no other file.
//!
//! It can be sent and archived, because it loads nothing else: its policy forbids every request.
//! The template library escapes text. The page is complete without its script, which only sorts,
//! filters, copies and switches the colours.

mod again;
mod cells;
mod claims;
mod compared;
mod cuts;
mod figures;
mod hosts;
mod manual;
mod method;
mod page;
mod published;
mod samples;
mod treatments;

use maud::{Markup, html as markup};
use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

use super::answer::answer;
use super::charts;
use super::prediction::{HEADING, table};
use super::programs;
use super::words::is_unseen;

pub use manual::ManualAddress;
pub use page::PageOptions;

/// The report of a run; `plan` is the plan's text.
pub fn html(schedule: &Schedule, analysis: &Analysis, plan: &str) -> String {
    html_with(schedule, analysis, plan, PageOptions::default())
}

/// The same with what the page has beside it.
pub fn html_with(
    schedule: &Schedule,
    analysis: &Analysis,
    plan: &str,
    options: PageOptions<'_>,
) -> String {
    let all_claims = crate::claims::claims(schedule, analysis);
    let all_charts = charts(schedule, analysis);
    let (first_chart, other_charts) = all_charts.split_at(all_charts.len().min(1));
    let sections = [
        ("follows", "What follows", claims::settings(analysis, &all_claims)),
        ("claims", "Claims", claims::claims(&all_claims)),
        ("published", "Beside the published numbers", published::table(schedule, analysis)),
        ("rankings", "Rankings", compared::rankings(schedule, analysis)),
        ("charts", "Charts", figures::figures(other_charts)),
        ("treatments", "Treatments", Some(treatments::table(schedule, analysis))),
        ("cuts", "Power cuts", cuts::cuts(schedule, analysis)),
        ("programs", "Programs", programs(schedule, analysis)),
        ("predicted", HEADING, prediction(schedule, analysis)),
        ("hosts", "By host", hosts::hosts(schedule, analysis)),
        ("aged", "Aged filesystems", compared::layout_scores(schedule, analysis)),
        ("features", "What the filesystems can", compared::feature_table(schedule, analysis)),
        ("samples", "Samples", samples::samples(schedule, analysis)),
        ("caveats", "Caveats", method::warnings(analysis)),
        ("method", "Method", Some(method::method(schedule, analysis))),
        ("environment", "Environment", method::environment(analysis)),
        ("again", "Run it again", again::again(schedule, plan)),
    ];
    let present = |(id, title, body)| Some((id, title, body?));
    let sections: Vec<page::Section> = sections.into_iter().filter_map(present).collect();
    let answer = answer(schedule, analysis);
    let chart = figures::figures(first_chart);
    without_controls(page::page(schedule, analysis, &answer, chart, &sections, options))
}

/// What was predicted; `None` if nothing was.
fn prediction(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let table = table(schedule, analysis)?;
    Some(cells::boxed(
        "predicted-values",
        "predicted",
        &markup! { (HEADING) },
        &hosts::rows(&table),
    ))
}

/// Programs by treatments; `None` if it is not known who wrote.
fn programs(schedule: &Schedule, analysis: &Analysis) -> Option<Markup> {
    let table = programs::tables(schedule, analysis, hosts::STYLE).pop()?;
    let caption = markup! { (programs::HEADING) };
    Some(cells::boxed("program-bytes", "programs", &caption, &hosts::rows(&table)))
}

/// HTML does not allow control characters, not even escaped; and characters that change the
/// direction of text would let a name pass for another.
fn without_controls(page: Markup) -> String {
    let allowed = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let seen = page.into_string();
    let seen = seen.chars().filter(|c| !is_unseen(*c));
    seen.map(|c| if allowed(c) { c } else { ' ' }).collect()
}
