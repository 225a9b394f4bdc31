use std::sync::mpsc;

use super::*;

#[test]
fn answers_come_in_the_order_of_their_times() {
    let answers = AnswerQueue::start(MonotonicClock::start()).unwrap();
    let (say, hear) = mpsc::channel();
    let (begin, is_held_up) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    // The thread is held up until all have been submitted.
    answers.wait(
        Nanos::ZERO,
        Box::new(move || {
            begin.send(()).unwrap();
            wait.recv().unwrap();
        }),
    );
    is_held_up.recv().unwrap();
    for (number, due) in [3_000_000, 1_000_000, 2_000_000, 1_000_000].into_iter().enumerate() {
        let say = say.clone();
        answers.wait(Nanos(due), Box::new(move || say.send((due, number)).unwrap()));
    }
    go_on.send(()).unwrap();
    let heard: Vec<(u64, usize)> = hear.iter().take(4).collect();
    assert_eq!(heard, [(1_000_000, 1), (1_000_000, 3), (2_000_000, 2), (3_000_000, 0)]);
}

#[test]
fn no_answer_comes_before_its_time() {
    let clock = MonotonicClock::start();
    let answers = AnswerQueue::start(clock).unwrap();
    let (say, hear) = mpsc::channel();
    for wait in [0, 1000, 100_000, 3_000_000] {
        answers.take();
        let due = clock.now() + Nanos(wait);
        let say = say.clone();
        answers.give(due, move || say.send(clock.now()).unwrap());
        let at = hear.recv().unwrap();
        assert!(at >= due, "{at:?}, {due:?}");
    }
    assert_eq!(answers.punctuality().answers, 4);
}

#[test]
fn an_answer_is_counted_before_it_is_given() {
    let clock = MonotonicClock::start();
    let answers = Arc::new(AnswerQueue::start(clock).unwrap());
    let (say, hear) = mpsc::channel();
    // By the thread that takes the request, and by the one that waits.
    for (due, expected) in [(Nanos::ZERO, 1), (clock.now() + Nanos(1_000_000), 2)] {
        answers.take();
        let (counting, say) = (Arc::downgrade(&answers), say.clone());
        answers.give(due, move || {
            let counted = counting.upgrade().map(|answers| answers.punctuality().answers);
            say.send(counted).unwrap();
        });
        assert_eq!(hear.recv().unwrap(), Some(expected));
    }
}

#[test]
fn waiting_for_a_time_is_not_being_stuck() {
    const HOUR: Nanos = Nanos(3_600_000_000_000);
    let clock = MonotonicClock::start();
    let answers = AnswerQueue::start(clock).unwrap();
    let timeout = Duration::from_secs(1);
    let is_stuck = |at: Nanos| answers.is_stuck_at(at, timeout);
    let second = Nanos(1_000_000_000);
    assert!(!is_stuck(HOUR), "it is idle");
    // One that the drive never says a time for.
    answers.take();
    let taken = clock.now();
    assert!(!is_stuck(Nanos::ZERO + second));
    assert!(is_stuck(taken + second + Nanos(1)));
    let due = taken + HOUR;
    answers.take();
    answers.give(due, || {});
    assert!(!is_stuck(due + second));
    assert!(is_stuck(due + second + Nanos(1)));
}
