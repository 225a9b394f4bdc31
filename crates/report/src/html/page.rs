//! The frame of the page: its head, the opening above the sections, and the navigation.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use sha2::{Digest, Sha256};
use ssdlab_advice::{Analysis, Completeness};
use ssdlab_plan::Schedule;

use super::manual::ManualAddress;
use crate::answer::AnsweredQuestion;
use crate::screen::{drives, limits, tweak};
use crate::text::{how, so_far};

/// A section's anchor, its heading and its content.
pub(super) type Section = (&'static str, &'static str, Markup);

/// What a page has beside the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageOptions<'a> {
    /// A browser loads the page again after so many seconds, as the run goes on.
    pub reload_s: Option<u32>,
    /// Where the manual is, to which the page links.
    pub manual: Option<&'a ManualAddress>,
}

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The whole page.
pub(super) fn page(
    schedule: &Schedule,
    analysis: &Analysis,
    answer: &AnsweredQuestion,
    chart: Option<Markup>,
    sections: &[Section],
    options: PageOptions<'_>,
) -> Markup {
    let PageOptions { reload_s, manual } = options;
    markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                @if let Some(seconds) = reload_s { meta http-equiv="refresh" content=(seconds); }
                meta name="generator" content={ "ssdlab " (env!("CARGO_PKG_VERSION")) };
                title { (analysis.run) ": " (analysis.question) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#answer" { "Skip to the answer" }
                header { (banner()) }
                main {
                    (opening(schedule, analysis, answer, chart, options))
                    (contents(sections))
                    @for section in sections { (shown(section)) }
                }
                footer {
                    p {
                        "Made by ssdlab " (env!("CARGO_PKG_VERSION")) " from the records of "
                        code { (analysis.run) } ", analysis schema " (analysis.schema) "."
                    }
                    @if let Some(manual) = manual {
                        p {
                            "In the manual: " (manual.link("measuring", "how ssdlab measures")) ", "
                            (manual.link("method", "checks on method")) ", "
                            (manual.link("reference/metrics", "metrics")) "."
                        }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// A policy that forbids every request, and every script but the page's own. Charts need inline
/// styles.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'"
    )
}

fn banner() -> Markup {
    markup! {
        div.banner {
            span.mark { "ssdlab" }
            button #theme type="button" hidden { "Dark" }
        }
    }
}

/// The first screen: the question, its answer, what to do and how sure it is, and one chart.
fn opening(
    schedule: &Schedule,
    analysis: &Analysis,
    answer: &AnsweredQuestion,
    chart: Option<Markup>,
    PageOptions { reload_s, manual }: PageOptions<'_>,
) -> Markup {
    let is_partial = analysis.status == Completeness::Partial;
    let how = reload_s.map_or_else(
        || how(analysis),
        |s| format!("{}; it goes on, and this page reloads every {s} s", so_far(analysis)),
    );
    markup! {
        h1 { (analysis.question) }
        p #answer class=[is_partial.then_some("partial")] tabindex="-1" { (answer.sentence) }
        @for says in &answer.also { p.more { (says) } }
        @if let Some(chart) = chart { (chart) }
        dl.answer {
            @for says in limits(analysis) { dt { "But" } dd { (says) } }
            @for action in &answer.actions { dt { "Do" } dd { (action) } }
            @if let Some(says) = tweak(analysis) { dt { "Tweak" } dd { code { (says) } } }
            @if let Some(drive) = drives(&answer.drives) { dt { "Drive" } dd { (drive) } }
            dt {
                @match manual {
                    Some(manual) => (manual.link("how-sure", "How sure")),
                    None => "How sure",
                }
            }
            dd { b { (answer.sure.name()) } ": " (answer.because) }
        }
        p.about {
            code { (analysis.run) } ": " (how)
            @if let Some(source) = &schedule.source { br; "The question is from " (source) }
            @let shared = schedule.shared();
            @if schedule.treatments.len() > 1 && !shared.0.is_empty() {
                br; "All treatments: " (shared)
            }
        }
    }
}

fn contents(sections: &[Section]) -> Markup {
    markup! {
        nav aria-label="Sections" {
            ul { @for (id, title, _) in sections { li { a href={ "#" (id) } { (title) } } } }
        }
    }
}

fn shown((id, title, body): &Section) -> Markup {
    markup! {
        section id=(id) aria-labelledby={ (id) "-heading" } {
            h2 id={ (id) "-heading" } { (title) }
            (body)
        }
    }
}
