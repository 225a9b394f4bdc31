//! The manual's pages of answers: one for each shipped plan, and a table of all.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use ssdlab_advice::analyse;
use ssdlab_plan::shipped::{self, QuestionEra, ShippedPlan};
use ssdlab_plan::{Overrides, Schedule, schedule};
use ssdlab_report::{AnsweredQuestion, answer, answer_markdown, how, inline};
use ssdlab_results::RunFolder;

use super::source;

const INDEX: &str = "docs/answers.md";

/// Writes a page for each shipped plan that has a run in this folder, and the index of all, where
/// the others keep the row that they have.
pub fn write(runs: &Path) -> Result<()> {
    let before = fs::read_to_string(source::path(INDEX))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {INDEX}"))?;
    let mut rows = Vec::new();
    for plan in shipped::ALL {
        let schedule = schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"))?;
        let run = last_run(runs, plan.name)?;
        let answer = run.map(|run| write_page(plan, &schedule, &run)).transpose()?;
        rows.push(IndexRow { plan, question: schedule.question.clone(), answer });
    }
    source::write(INDEX, &index(&rows, &before))
}

/// The newest run of a plan in a folder; `None` if there is none.
fn last_run(runs: &Path, plan: &str) -> Result<Option<PathBuf>> {
    let wrong = || format!("cannot read {}", runs.display());
    let mut found: Vec<PathBuf> = Vec::new();
    for run in fs::read_dir(runs).into_diagnostic().wrap_err_with(wrong)? {
        let run = run.into_diagnostic().wrap_err_with(wrong)?.path();
        let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_own = name.strip_prefix(plan).is_some_and(|rest| rest.starts_with("-2"));
        if is_own && run.join("records.jsonl").is_file() {
            found.push(run);
        }
    }
    found.sort();
    Ok(found.pop())
}

/// A question in the index.
struct IndexRow {
    plan: ShippedPlan,
    question: String,
    /// The answer, if the plan has a run.
    answer: Option<AnsweredQuestion>,
}

/// Writes the page of a plan. The plan of today says how the run's records answer.
fn write_page(plan: ShippedPlan, schedule: &Schedule, run: &Path) -> Result<AnsweredQuestion> {
    let contents = RunFolder::read(run)?;
    if contents.schedule.trials != schedule.trials {
        return Err(miette!("{} is a run of another version of the plan", run.display()));
    }
    let analysis = analyse(plan.name, schedule, contents.records, contents.ending);
    let found = answer(schedule, &analysis);
    let mut page = format!("# {}\n\n", inline(&analysis.question));
    let _ = writeln!(page, "{}", answer_markdown(schedule, &analysis));
    let _ = writeln!(page, "{}\n", inline(&format!("It holds for: {}.", how(&analysis))));
    if let Some(source) = &schedule.source {
        let _ = writeln!(page, "The question is from {}.\n", inline(source));
    }
    let _ = writeln!(
        page,
        "```console minutes\n$ ssdlab run {name}\n$ ssdlab report {name} --why\n```",
        name = plan.name
    );
    if plan.asked == QuestionEra::Founding {
        let name = plan.name;
        let _ = writeln!(
            page,
            "\n![The first chart of the report](../gallery/{name}.svg)\n\n[The whole \
             report](../gallery/{name}.html)"
        );
    }
    source::write(&format!("docs/answers/{}.md", plan.name), &page)?;
    Ok(found)
}

fn index(rows: &[IndexRow], before: &str) -> String {
    let mut page = "# Answers\n\nEach question is a plan; its page has the numbers, what they are \
                    worth, and the command that repeats them. `make answers` runs all of them. \
                    [How sure](how-sure.md) says what the four words mean.\n"
        .to_owned();
    let row_before = |name: &str| before.lines().find(|row| row.contains(&page_link(name)));
    if rows.iter().any(|row| row.answer.is_none() && row_before(row.plan.name).is_none()) {
        page += "\nThe others have been run with an earlier version: [the founding \
                 questions](gallery.md).\n";
    }
    for (era, heading) in [
        (QuestionEra::Founding, "From the posts that ssdlab was made for"),
        (QuestionEra::Today, "What people ask today"),
    ] {
        let _ = write!(
            page,
            "\n## {heading}\n\n| question | answer | how sure |\n| --- | --- | --- |\n"
        );
        for row in rows.iter().filter(|row| row.plan.asked == era) {
            let (name, question) = (row.plan.name, inline(&row.question));
            let link = page_link(name);
            let _ = match (&row.answer, row_before(name)) {
                (Some(found), _) => {
                    let (sentence, sure) = (inline(&found.sentence), found.sure.name());
                    writeln!(page, "| [{question}]{link} | {sentence} | {sure} |")
                }
                (None, Some(row)) => writeln!(page, "{row}"),
                (None, None) => writeln!(page, "| {question} | `ssdlab run {name}` | |"),
            };
        }
    }
    page
}

/// Where the index links to the page of a plan.
fn page_link(name: &str) -> String {
    format!("(answers/{name}.md)")
}
