//! Tests of the book in words.

use ssdlab_plan::metric::Unit;

use super::*;

fn figure(id: &str, basis: Agreement, published: f64, ours: Option<f64>) -> Figure {
    Figure {
        id: id.to_owned(),
        source: "a review".to_owned(),
        test: id.to_owned(),
        what: "a read".to_owned(),
        published: PublishedAmount::Of(Unit::Ns, published),
        ours,
        how: "simulated".to_owned(),
        basis,
        against: FigureReference::Published,
    }
}

#[test]
fn the_summary_counts_tests_of_each_standing() {
    let of_test = |test: &str, figure: Figure| Figure { test: test.to_owned(), ..figure };
    let mut figures = vec![
        figure("x/a", Agreement::Fitted, 100.0, Some(100.0)),
        figure("x/b", Agreement::Predicted, 100.0, Some(91.0)),
        figure("x/c", Agreement::Predicted, 100.0, Some(140.0)),
        figure("y/d", Agreement::HeldOut, 100.0, Some(300.0)),
        figure("y/e", Agreement::HeldOut, 100.0, None),
    ];
    assert_eq!(
        summary(&figures),
        "5 published figures of 5 independent tests. Fitted (1): 1 test compared, 1 within 10 %, \
         1 within 25 %, 1 within 50 %. Predicted (2): 2 tests compared, 1 within 10 %, 1 within \
         25 %, 2 within 50 %. Held out (2): 1 test compared, 0 within 10 %, 0 within 25 %, \
         0 within 50 %."
    );
    // The rows of one run count once, by the worst of them, which has no number of its own.
    let of_one_run = ["x/f", "x/g", "x/h"]
        .map(|id| of_test("x/b", figure(id, Agreement::Predicted, 100.0, Some(120.0))));
    figures.extend(of_one_run);
    let told = summary(&figures);
    assert!(told.starts_with("8 published figures of 5 independent tests."), "{told}");
    assert!(
        told.contains("Predicted (5): 2 tests compared, 0 within 10 %, 1 within 25 %"),
        "{told}"
    );
    let served = Figure {
        against: FigureReference::Served,
        ..figure("s/f", Agreement::HeldOut, 1.0, Some(1.2))
    };
    let with_served = [&figures[..], &[served]].concat();
    let of_served =
        " The same drives in real time: 1 compared, 0 within 10 %, 1 within 25 %, 1 within 50 %.";
    assert_eq!(summary(&with_served), summary(&figures) + of_served);
}

#[test]
fn what_has_no_number_has_no_error() {
    let figures = [figure("x/a", Agreement::Predicted, 100.0, None)];
    let book = serde_json::to_value(Book::new(&figures)).unwrap();
    assert_eq!(book["figures"][0]["published"], "100 ns");
    assert!(book["figures"][0]["error"].is_null() && book["figures"][0]["ours"].is_null());
}
