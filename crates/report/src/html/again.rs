//! How to repeat the run: the command and the plan.

use maud::{Markup, html as markup};
use ssdlab_plan::{Schedule, shipped};

/// The command and the plan's text, each to be copied; `None` if the run was imported.
pub(super) fn again(schedule: &Schedule, plan: &str) -> Option<Markup> {
    let is_shipped = shipped::find(&schedule.plan).is_some_and(|shipped| shipped.text == plan);
    let file = format!("{}.toml", schedule.plan);
    let named = if is_shipped { &schedule.plan } else { &file };
    let body = markup! {
        (copied("command", "The command", &command(schedule, named)))
        @if !plan.is_empty() {
            @if !is_shipped { p { "It reads the plan from " code { (file) } ":" } }
            details open[!is_shipped] {
                summary { "The plan" }
                (copied("plan", "The plan as it was written", plan))
            }
        }
    };
    schedule.target.is_some().then_some(body)
}

/// The command with all of its changes to the plan.
fn command(schedule: &Schedule, plan: &str) -> String {
    let mut words = vec!["ssdlab", "run", plan];
    words.extend(schedule.overrides.iter().map(String::as_str));
    words.extend(schedule.verify.then_some("--verify"));
    let quoted = |word| shlex::try_quote(word).unwrap_or_default().into_owned();
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn copied(id: &str, label: &str, text: &str) -> Markup {
    markup! {
        div.copied {
            pre id=(id) tabindex="0" role="region" aria-label=(label) { code { (text) } }
            button.copy type="button" data-copies=(id) hidden { "Copy" }
        }
    }
}
