//! Tests of the book: its entries and their names.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_figure_has_a_name_of_its_own_and_a_source() {
    let kept = Kept::parse(KEPT).unwrap();
    let mut figures = of_plans(&kept);
    figures.extend(cross_checks());
    let names: BTreeSet<&String> = figures.iter().map(|figure| &figure.id).collect();
    assert_eq!(names.len(), figures.len());
    assert!(figures.iter().all(|figure| !figure.source.is_empty()), "{figures:#?}");
}

#[test]
fn all_24_figures_of_the_third_founding_post_are_in_it_and_its_builds_are_fitted() {
    let figures = of_plans(&Kept::default());
    let is_of_table =
        |figure: &&Figure| figure.id.starts_with("journal/") && figure.id.contains('[');
    let table: Vec<&Figure> = figures.iter().filter(is_of_table).collect();
    assert_eq!(table.len(), 24);
    let fitted: Vec<&&Figure> =
        table.iter().filter(|figure| figure.basis == plan::Basis::Fitted).collect();
    assert_eq!(fitted.len(), 8, "{fitted:?}");
    assert!(fitted.iter().all(|figure| figure.id.contains("make")), "{fitted:?}");
}

#[test]
fn what_is_kept_is_of_a_published_number() {
    let kept = Kept::parse(KEPT).unwrap();
    for schedule in schedules() {
        let known: BTreeSet<String> = places(&schedule).map(|place| place.id()).collect();
        for id in kept.of(&schedule.plan).into_iter().flat_map(|run| run.ours.keys()) {
            assert!(known.contains(id), "{}/{id} is not in the plan", schedule.plan);
        }
    }
}

#[test]
fn an_error_is_a_share_of_what_was_published() {
    let figure = Figure {
        id: "x".to_owned(),
        source: "y".to_owned(),
        what: "z".to_owned(),
        published: Amount::Of(plan::metric::Unit::Ns, 200.0),
        ours: Some(150.0),
        how: String::new(),
        basis: plan::Basis::Predicted,
        against: Against::Published,
    };
    assert_eq!(figure.error(), Some(-0.25));
    assert_eq!(Figure { ours: None, ..figure.clone() }.error(), None);
    let published = Amount::Written("a few".to_owned());
    assert_eq!(Figure { published, ..figure }.error(), None);
}
