//! The report as a page: its answer, its handling of any text, its size.

mod records;

use serde_json::Value;
use ssdlab_advice::{self as advice, Analysis, CheckOutcome};
use ssdlab_plan::{Schedule, shipped};
use ssdlab_report::{ManualAddress, PageOptions, html, html_with};
use ssdlab_results::{Ending, Record, TrialStatus};

use self::records::{HOSTILE, chain, edited, fleet, hostile, post_1, schedule};

fn analysis(schedule: &Schedule, records: &[Record]) -> Analysis {
    advice::analyse("run", schedule, records, Ending::AllBlocks)
}

fn page(schedule: &Schedule, records: &[Record]) -> String {
    html(schedule, &analysis(schedule, records), shipped::find("discard").unwrap().text)
}

/// A page line by line, without its style, its script and its charts.
fn skeleton(page: &str) -> String {
    let mut page = page.to_owned();
    for (opening, closing) in
        [("<style>", "</style>"), ("<script>", "</script>"), ("<svg", "</svg>")]
    {
        let mut from = 0;
        while let Some(start) = page[from..].find(opening).map(|at| from + at + opening.len()) {
            let end = start + page[start..].find(closing).unwrap();
            page.replace_range(start..end, "");
            from = start;
        }
    }
    let hash = page.find("'sha256-").unwrap();
    page.replace_range(hash..hash + page[hash..].find(';').unwrap(), "HASH");
    page.replace("><", ">\n<")
}

/// The answer on the page.
fn answer(page: &str) -> &str {
    let start = page.find("<p id=\"answer\"").unwrap();
    let text = &page[start..start + page[start..].find("</p>").unwrap()];
    text.split_once('>').unwrap().1
}

#[test]
fn founding_post_1_as_a_page() {
    let schedule = schedule("discard", 8);
    insta::assert_snapshot!(skeleton(&page(&schedule, &post_1(&schedule))));
}

#[test]
fn a_chain_of_steps_as_a_page() {
    let (schedule, records) = chain();
    insta::assert_snapshot!(skeleton(&page(&schedule, &records)));
}

#[test]
fn hosts_are_a_section_of_the_page() {
    let (schedule, records) = fleet();
    let page = skeleton(&page(&schedule, &records));
    let section = &page[page.find("<section id=\"hosts\"").unwrap()..];
    insta::assert_snapshot!(section[..section.find("</section>").unwrap()]);
}

#[test]
fn the_answer_is_said_first() {
    let schedule = schedule("discard", 8);
    let page = page(&schedule, &post_1(&schedule));
    assert_eq!(
        answer(&page),
        "Yes. With discard it takes 41.6 s until the tree is deleted and the drive quiet again, \
         without it 0.652 s: 64 times as long."
    );
    let (schedule, records) = chain();
    let page = self::page(&schedule, &records);
    let best = "By the rate of operations over 2 phases xfs, bfq is the best.";
    assert!(answer(&page).starts_with(best), "{}", answer(&page));
}

#[test]
fn exploratory_claims_are_said_to_be_corrected_by_themselves() {
    let schedule = schedule("discard", 8);
    let claim = [schedule.claims[0].id.clone()];
    let schedule = schedule.with_exploratory(&claim, "added after a first run");
    let page = page(&schedule, &post_1(&schedule));
    let of = |claims: &str| {
        format!(
            "one-sided tests against the claimed bounds, corrected for {claims} by Holm's method: \
             at most 5 % for any wrong verdict"
        )
    };
    assert!(page.contains(&format!("{}; {}", of("3 claims"), of("1 exploratory claim"))));
}

#[test]
fn a_partial_run_says_so_before_its_answer() {
    let schedule = schedule("discard", 8);
    let mut records = post_1(&schedule);
    records.truncate(4);
    let analysis = advice::analyse("run", &schedule, &records, Ending::Interrupted);
    let page = html(&schedule, &analysis, "");
    assert!(answer(&page).starts_with("So far: "), "{page}");
    assert!(page.contains("4 of at least 24 trials have run"), "{page}");
}

#[test]
fn a_run_of_nothing_says_why() {
    let schedule = schedule("discard", 1);
    let analysis = advice::analyse("run", &schedule, &[], Ending::Interrupted);
    let page = html(&schedule, &analysis, "");
    let met = analysis.method.iter().filter(|check| check.outcome == CheckOutcome::Met);
    assert_eq!(met.count(), 0);
    assert!(page.contains("not run yet"));
    assert_eq!(answer(&page), "So far: Nothing could be measured: it has not run yet.");
    let mut records = post_1(&schedule);
    for record in &mut records {
        record.status = TrialStatus::Unavailable;
        record.reason = Some("mkfs.ext4 is not installed".to_owned());
        record.phases.clear();
    }
    let page = self::page(&schedule, &records);
    assert_eq!(answer(&page), "Nothing could be measured: mkfs.ext4 is not installed.");
}

#[test]
fn a_page_links_to_the_manual_where_it_has_its_address_only() {
    let schedule = schedule("discard", 8);
    let analysis = advice::analyse("run", &schedule, post_1(&schedule), Ending::AllBlocks);
    assert!(!html(&schedule, &analysis, "").contains("how-sure.html"));
    for (address, link) in [
        ("../manual/", "href=\"../manual/how-sure.html\""),
        ("https://example.org/ssdlab", "href=\"https://example.org/ssdlab/method.html\""),
    ] {
        let manual: ManualAddress = address.parse().unwrap();
        let options = PageOptions { manual: Some(&manual), reload_s: None };
        let page = html_with(&schedule, &analysis, "", options);
        assert!(page.contains(link), "{page}");
    }
    for address in ["javascript:alert(1)", "data:text/html,x", "", "https:"] {
        assert!(address.parse::<ManualAddress>().is_err(), "{address}");
    }
}

#[test]
fn no_text_gets_out_of_its_place() {
    let (schedule, records) = hostile();
    let analysis = advice::analyse(HOSTILE, &schedule, &records, Ending::AllBlocks);
    let page = html(&schedule, &analysis, HOSTILE);
    let without_own = skeleton(&page);
    assert!(!without_own.contains("<img"));
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(page.contains("&lt;img src=x onerror=alert('1')&gt;&amp;lt;"));
    assert!(!page.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
}

#[test]
fn five_hundred_trials_are_below_two_megabytes() {
    let schedule = schedule("discard", 167);
    let records = post_1(&schedule);
    assert_eq!(records.len(), 501);
    let page = page(&schedule, &records);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("<summary>501 trials</summary>"));
}

#[test]
fn more_trials_than_a_page_can_show_are_elsewhere() {
    let schedule = schedule("discard", 667);
    let page = page(&schedule, &post_1(&schedule));
    assert!(page.contains("ssdlab report run --format csv"));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn what_the_command_line_changed_is_in_the_command() {
    let schedule = edited(&schedule("discard", 8).verified(), |stored| {
        let overrides = stored["overrides"].as_array_mut().unwrap();
        overrides.extend(["--set", "mount=data=journal,nobarrier; rm"].map(Value::from));
    });
    let page = page(&schedule, &post_1(&schedule));
    let command = "ssdlab run discard --lab image --runs 8 --set \
                   'mount=data=journal,nobarrier; rm' --verify";
    assert!(page.contains(command));
}
