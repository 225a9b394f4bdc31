//! Tests of the book in words.

use ssdlab_plan::metric::Unit;

use super::*;

fn figure(id: &str, basis: Basis, published: f64, ours: Option<f64>) -> Figure {
    Figure {
        id: id.to_owned(),
        source: "a review".to_owned(),
        what: "a read".to_owned(),
        published: Amount::Of(Unit::Ns, published),
        ours,
        how: "simulated".to_owned(),
        basis,
        against: Against::Published,
    }
}

#[test]
fn the_summary_counts_predictions_alone() {
    let figures = [
        figure("x/a", Basis::Fitted, 100.0, Some(100.0)),
        figure("x/b", Basis::Predicted, 100.0, Some(91.0)),
        figure("x/c", Basis::Predicted, 100.0, Some(140.0)),
        figure("y/d", Basis::Predicted, 100.0, Some(300.0)),
        figure("y/e", Basis::Predicted, 100.0, None),
    ];
    assert_eq!(
        summary(&figures),
        "5 figures: 1 fitted, 4 predicted. Of the predicted, 3 have been compared: 1 within 10 %, \
         1 within 25 %, 2 within 50 %."
    );
    let served =
        Figure { against: Against::Served, ..figure("s/f", Basis::Predicted, 1.0, Some(1.2)) };
    let with_served = [&figures[..], &[served]].concat();
    let of_served =
        " Of 1 of the same drives in real time: 0 within 10 %, 1 within 25 %, 1 within 50 %.";
    assert_eq!(summary(&with_served), summary(&figures) + of_served);
    let page = book_markdown(&figures);
    assert!(page.contains("\n## x\n") && page.contains("\n## y\n"), "{page}");
    assert!(page.contains("| predicted | 100 ns | 300 ns | +200 % |"), "{page}");
}

#[test]
fn what_has_no_number_has_no_error() {
    let figures = [figure("x/a", Basis::Predicted, 100.0, None)];
    let book = serde_json::to_value(Book::new(&figures)).unwrap();
    assert_eq!(book["figures"][0]["published"], "100 ns");
    assert!(book["figures"][0]["error"].is_null() && book["figures"][0]["ours"].is_null());
}
