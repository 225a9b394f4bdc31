//! What simulated drives can show of a probe: that its questions tell the shipped drives apart,
//! under a host that is none of those assumed, in another state, with noise, and although most of a
//! drive's values are uncertain. They cannot show that a shipped drive is like a real one.

use super::*;
use crate::condition::{Condition, Preparation, unwatched};
use crate::drive::Drive;
use crate::drive_file::DriveFile;
use crate::plausible::Plausible;
use crate::presets::{self, DriveClass, Preset};

/// A host between those of the forecasts.
const HOST: ProbeHost = ProbeHost { per_request: Nanos(1500) };

/// The spread of noise, as a share of an answer.
const NOISE: f64 = 0.1;

fn forecasts() -> Vec<ProbeForecast> {
    presets::ALL.into_iter().map(|preset| ProbeForecast::of(preset, 1).unwrap()).collect()
}

/// Multiplies each answer by a number near 1.
fn disturb(answers: &mut ProbeAnswers, random: &mut DriveRandom) {
    for answer in answers.answers.values_mut() {
        let normal = (0..12).map(|_| random.fraction()).sum::<f64>() - 6.0;
        answer.rounds.iter_mut().for_each(|ns| *ns *= (NOISE * normal).exp());
    }
}

/// How many of so many answers have the name and the class of the drive that gave them.
#[derive(Default)]
struct Named {
    drives: usize,
    names: usize,
    classes: usize,
    distances: Vec<f64>,
}

impl Named {
    fn add(&mut self, preset: Preset, answers: &ProbeAnswers, forecasts: &[ProbeForecast]) {
        let nearest = ranked(answers, forecasts, true)[0];
        self.drives += 1;
        self.names += usize::from(nearest.name == preset.name);
        self.classes += usize::from(nearest.class == preset.class);
        self.distances.push(nearest.distance);
    }

    /// Prints the table of the manual, and demands that 85 % have their class.
    fn judge(mut self) {
        self.distances.sort_by(f64::total_cmp);
        let at = |share: usize| self.distances[(self.drives - 1) * share / 100];
        println!(
            "{} drives: named {}, class {}; distance {:.2} at the median, {:.2} at 95 %",
            self.drives,
            self.names,
            self.classes,
            at(50),
            at(95)
        );
        assert!(100 * self.classes >= 85 * self.drives, "{} of {}", self.classes, self.drives);
    }
}

#[test]
fn half_full_overwritten_drives_under_another_host_with_noise_are_named() {
    let forecasts = forecasts();
    let mut random = DriveRandom::new(1);
    let mut named = Named::default();
    for preset in presets::ALL {
        let specification = simulated::small(DriveFile::parse(preset.text).unwrap()).unwrap();
        let condition = Condition::Overwritten { capacities_ppm: 250_000 };
        let mut preparation = Preparation::whole(specification, condition, 9);
        preparation.fill_ppm = 500_000;
        let (drive, _) = preparation.prepare(&mut unwatched).unwrap();
        let mut answers = probe(&mut SimulatedProbe::new(drive, HOST), 5, &mut |_| {}).unwrap();
        assert!(answers.written_bytes <= MOST_WRITTEN_BYTES, "{}", preset.name);
        disturb(&mut answers, &mut random);
        named.add(preset, &answers, &forecasts);
    }
    named.judge();
}

/// Some minutes: each draw is tested against the figures of its drive.
#[test]
#[ignore = "some minutes"]
fn drives_that_the_evidence_leaves_possible_are_named() {
    let forecasts = forecasts();
    let mut random = DriveRandom::new(1);
    let mut named = Named::default();
    for preset in presets::ALL {
        let file = DriveFile::parse(preset.text).unwrap();
        let plausible =
            Plausible::of(preset.text).unwrap().with_capacity(simulated::capacity(&file).unwrap());
        for block in 0..5 {
            let drive = Drive::new(plausible.draw(3, block).unwrap().drive, 3);
            let mut answers = probe(&mut SimulatedProbe::new(drive, HOST), 5, &mut |_| {}).unwrap();
            disturb(&mut answers, &mut random);
            named.add(preset, &answers, &forecasts);
        }
    }
    named.judge();
}

#[test]
fn what_is_no_such_drive_is_like_none() {
    // Times in us, in the order of the questions.
    let others: [(&str, [f64; 13]); 6] = [
        (
            "hard disk",
            [17e3, 17e3, 8.5e3, 6e3, 9e3, 3.5e3, 4.5e3, 4.5e3, 6.5e3, 6.5e3, 6.5e3, 6.5e3, 6.5e3],
        ),
        (
            "network volume of 3000 requests a second",
            [1.5e3, 800., 800., 600., 600., 333., 333., 333., 8e3, 8e3, 8e3, 8e3, 8e3],
        ),
        ("a host's memory", [6., 6., 6., 5., 5., 2., 2., 2., 150., 150., 150., 150., 120.]),
        ("USB stick", [4e3, 4e3, 2.5e3, 700., 700., 500., 500., 2.5e3, 4e4, 6e4, 7e4, 7e4, 9e3]),
        (
            "SATA SSD behind USB",
            [2.5e3, 2.5e3, 150., 180., 180., 40., 40., 45., 2.7e3, 2.6e3, 2.6e3, 2.6e3, 2.5e3],
        ),
        (
            "hard disks behind a controller with a battery",
            [60., 60., 60., 6e3, 9e3, 1.5e3, 2.5e3, 300., 1.5e3, 1.5e3, 1.5e3, 3e3, 3e3],
        ),
    ];
    let forecasts = forecasts();
    for (name, times) in others {
        let mut answers = ProbeAnswers::default();
        for (question, us) in ProbeQuestion::ALL.into_iter().zip(times) {
            let answer = ProbeAnswer { rounds: vec![1e3 * us; 5], ..ProbeAnswer::default() };
            answers.answers.insert(question, answer);
        }
        let nearest = ranked(&answers, &forecasts, true)[0];
        assert!(nearest.distance > FITS_WITHIN, "{name}: {nearest:?}");
    }
}

#[test]
fn equal_seeds_give_equal_answers_and_slow_drives_end_in_time() {
    let ask = |name: &str, seed| {
        let text = presets::find(name).unwrap().text;
        let mut drive = SimulatedProbe::of(text, HOST, 1).unwrap();
        probe(&mut drive, seed, &mut |_| {}).unwrap()
    };
    let rounds = |answers: &ProbeAnswers| -> Vec<Vec<f64>> {
        answers.answers.values().map(|answer| answer.rounds.clone()).collect()
    };
    let one = ask("sata-tlc", 1);
    assert_eq!(rounds(&one), rounds(&ask("sata-tlc", 1)));
    assert_eq!(one.answers.len(), ProbeQuestion::ALL.len());
    assert!(one.answers.values().all(|answer| answer.interval_ns().lo.is_finite()));
    let reads = &one.answers[&ProbeQuestion::Read];
    let summary = reads.latencies.unwrap();
    assert!((summary.p50_ns as f64 / reads.median_ns() - 1.0).abs() < 0.1, "{summary:?}");
    let slow = ask("sd-card", 1);
    assert!(slow.took < Nanos(60_000_000_000), "{:?}", slow.took);
    assert!(!slow.answers.contains_key(&ProbeQuestion::SequentialWrite));
}

#[test]
fn every_class_has_a_shipped_drive() {
    for class in [DriveClass::Card, DriveClass::Sata, DriveClass::Nvme, DriveClass::DataCentre] {
        assert!(presets::ALL.iter().filter(|preset| preset.class == class).count() > 1);
    }
}
