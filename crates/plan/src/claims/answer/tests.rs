use std::path::Path;

use crate::answer::{Answer, AnswerVerdict};
use crate::sentence::Sentence;
use crate::{Overrides, Schedule, schedule};

fn resolved(answer: &str) -> Result<Schedule, String> {
    let plan = format!(
        "name = \"p\"\nquestion = \"Is it?\"\nfactors.discard = [\"off\", \"on\"]\n\
         baseline.discard = \"off\"\nworkload.phases = [{{ do = \"unpack\" }}]\n{answer}\n\
         [[claims]]\nid = \"a-b\"\nsays = \"slower\"\nphases = [\"unpack\"]\n\
         compare.discard = \"on\"\nat_least = 2\n\
         [[claims]]\nid = \"c\"\nsays = \"faster\"\nphases = [\"unpack\"]\n\
         compare.discard = \"on\"\nat_most = 0.5\n"
    );
    schedule("p", &plan, &Overrides::default(), Path::new("/")).map_err(|error| {
        let report = miette::Report::new(error);
        format!("{report:?}")
    })
}

#[test]
fn a_sentence_is_written_as_it_was_read() {
    for text in
        ["", "plain", "a {b.value} c", "{a-b.times}{.against}", "{c.separates}.", "{best} is"]
    {
        assert_eq!(String::from(Sentence::try_from(text.to_owned()).unwrap()), text);
    }
    for (text, says) in
        [("{a", "no closing brace"), ("{a}", "`{a}` is neither"), ("{a.b}", "`{a.b}` is neither")]
    {
        let error = Sentence::try_from(text.to_owned()).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn an_answer_names_claims_of_its_plan_only() {
    for (answer, says) in [
        ("answer = [\"d\"]", "`answer` names `d`"),
        ("[answer]\ndecides = [\"d\"]", "`answer` names `d`"),
        ("[answer]\ndecides = [\"c\", \"c\"]", "`answer` names `c` twice"),
        ("[answer]\nyes = \"{d.value}\"", "`answer` names `d`"),
        ("[answer]\nyes = \"{c.colour}\"", "`{c.colour}` is neither"),
        ("[answer]\nmaybe = \"so\"", "unknown field `maybe`"),
        ("[answer]\nyes = \"so\"\nsays = \"so\"", "neither yes nor no"),
        ("[answer]\nyes = \"{best}\"", "the plan ranks nothing"),
        ("[answer]\nalso = [\"so\"]", "names no claim that must hold"),
        ("[answer]\nalso = [{ says = \"so\", holds = [\"d\"] }]", "`answer` names `d`"),
        ("[answer]\nchart = [\"d\"]", "`answer` names `d`"),
        ("[answer]\nlabels = { tar = \"x\" }", "`labels` names `tar`"),
        ("[answer]\nreproduced = \"a\"\nassumed = \"b\"", "either `reproduced` or `assumed`"),
    ] {
        let error = resolved(answer).unwrap_err();
        assert!(error.contains(says), "{answer}: {error}");
        // At its place: the line of the answer is shown.
        assert!(error.contains("here") || error.contains('^') || error.contains('─'), "{error}");
    }
}

#[test]
fn both_forms_are_read_and_stored() {
    let ids = resolved("answer = [\"c\"]").unwrap().answer.clone();
    assert_eq!(ids, Answer { decides: vec!["c".to_owned()], ..Answer::default() });
    let mut stored = serde_json::to_value(resolved("").unwrap()).unwrap();
    stored["answer"] = serde_json::json!(["c"]);
    assert_eq!(serde_json::from_value::<Schedule>(stored).unwrap().answer, ids);
    let table = "[answer]\ndecides = [\"a-b\"]\nyes = \"{discard}: {.value}.\"\n\
                 also = [\"{c.more}\", { says = \"x\", refuted = [\"c\"] }]\nassumed = \"so\"\n\
                 chart = [\"a-b\", \"c\"]\n\
                 labels = { on = \"with it\", unpack = \"new files\" }";
    let answer = resolved(table).unwrap().answer.clone();
    let yes = String::from(answer.says[&AnswerVerdict::Yes].clone());
    assert_eq!(yes, "off and on: {.value}.");
    assert_eq!(answer.also[0].holds, ["c"]);
    assert_eq!(answer.also[1].refuted, ["c"]);
    assert_eq!(answer.labels["unpack"], "new files");
    assert_eq!((answer.charted(), ids.charted()), (&answer.chart[..], &ids.decides[..]));
    let stored = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<Answer>(&stored).unwrap(), answer);
}
