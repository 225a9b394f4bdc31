//! Tests of the book: its entries and their names.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_flash::figures::FigureKind;
use ssdlab_flash::presets;

use super::*;

#[test]
fn every_figure_has_a_name_of_its_own_and_a_source() {
    let kept = StoredResults::parse(STORED_RESULTS).unwrap();
    let mut figures = of_plans(&kept);
    figures.extend(cross_checks());
    let names: BTreeSet<&String> = figures.iter().map(|figure| &figure.id).collect();
    assert_eq!(names.len(), figures.len());
    assert!(figures.iter().all(|figure| !figure.source.is_empty()), "{figures:#?}");
}

#[test]
fn all_24_figures_of_the_third_founding_post_are_in_it_and_its_builds_are_fitted() {
    let figures = of_plans(&StoredResults::default());
    let is_of_table =
        |figure: &&Figure| figure.id.starts_with("journal/") && figure.id.contains('[');
    let table: Vec<&Figure> = figures.iter().filter(is_of_table).collect();
    assert_eq!(table.len(), 24);
    let fitted: Vec<&&Figure> =
        table.iter().filter(|figure| figure.basis == Agreement::Fitted).collect();
    assert_eq!(fitted.len(), 8, "{fitted:?}");
    assert!(fitted.iter().all(|figure| figure.id.contains("make")), "{fitted:?}");
}

#[test]
fn what_is_kept_is_of_a_published_number() {
    let kept = StoredResults::parse(STORED_RESULTS).unwrap();
    for schedule in schedules() {
        let known: BTreeSet<String> = places(&schedule).map(|place| place.id()).collect();
        for id in kept.of(&schedule.plan).into_iter().flat_map(|run| run.ours.keys()) {
            assert!(known.contains(id), "{}/{id} is not in the plan", schedule.plan);
        }
    }
}

/// Numbers that the files of shipped drives quote as evidence for a value are no predictions of it.
#[test]
fn what_stands_in_the_evidence_is_not_predicted() {
    let standings = |drive: &str| -> BTreeMap<String, Agreement> {
        let figures = of_drive(presets::find(drive).unwrap()).into_iter();
        figures.map(|figure| (figure.id, figure.basis)).collect()
    };
    for (drive, figure) in [
        ("emmc", "sequential-read"),
        ("sd-card-a2", "sequential-read"),
        ("sd-card", "sequential-read"),
        ("tlc-dram", "beyond-cache"),
        ("x25m-g2", "random-write-8gb-new"),
        ("vertex-le", "sequential-read"),
        ("vertex-le", "sequential-write"),
    ] {
        let found = standings(drive)[&format!("{drive}/{figure}")];
        assert_eq!(found, Agreement::Fitted, "{drive}/{figure}");
    }
    // A time that is also that of a part is not: 20 us, of a command that discards.
    let datacenter = standings("datacenter")["datacenter/sequential-read-alone"];
    assert_eq!(datacenter, Agreement::Predicted);
    // What nobody has quoted is predicted; held out, if nothing rests on its publication.
    assert_eq!(standings("x25m-g2")["x25m-g2/random-write-8gb-used"], Agreement::Predicted);
    assert_eq!(standings("sd-card-a2")["sd-card-a2/random-write-16k"], Agreement::Predicted);
}

/// One publication is one source, however many figures it has, and a promise is none.
#[test]
fn sources_of_a_kind_of_figure_are_counted_by_publication() {
    let measured = |drive: &str| measured_by(presets::find(drive).unwrap());
    let optane = measured("optane");
    for kind in [FigureKind::SyncedWrite, FigureKind::LoadedTail] {
        assert_eq!(optane.get(&kind), Some(&1), "{kind:?}");
    }
    assert_eq!(optane.get(&FigureKind::PageAlone), Some(&2));
    let datacenter = measured("datacenter-tlc");
    assert_eq!(datacenter.get(&FigureKind::Discard), Some(&1));
    assert_eq!(datacenter.get(&FigureKind::PageAlone), Some(&1), "a data sheet's is no second");
}

/// A source's sentence that goes on is one test, and so is a run of a table.
#[test]
fn the_rows_of_a_run_and_the_parts_of_a_sentence_are_one_test() {
    let figures = of_plans(&StoredResults::default());
    let tests = |of: &str| -> BTreeSet<&str> {
        let own = figures.iter().filter(|figure| figure.id.starts_with(of));
        own.map(|figure| &*figure.test).collect()
    };
    // Four claims of kdave/btrfs-progs#760 read one sentence; the table of the third founding post
    // has eight runs of three phases.
    assert_eq!(tests("btrfs-small-writes/").len(), 1);
    assert_eq!(tests("journal/make[").len(), 8);
    let all = tests("journal/");
    assert!(tests("journal/clone[").is_subset(&all) && all.len() < 14, "{all:?}");
}

#[test]
fn an_error_is_a_share_of_what_was_published() {
    let figure = Figure {
        id: "x".to_owned(),
        source: "y".to_owned(),
        test: "y".to_owned(),
        what: "z".to_owned(),
        published: PublishedAmount::Of(plan::metric::Unit::Ns, 200.0),
        ours: Some(150.0),
        how: String::new(),
        basis: Agreement::Predicted,
        against: FigureReference::Published,
    };
    assert_eq!(figure.error(), Some(-0.25));
    assert_eq!(Figure { ours: None, ..figure.clone() }.error(), None);
    let published = PublishedAmount::Written("a few".to_owned());
    assert_eq!(Figure { published, ..figure }.error(), None);
}
