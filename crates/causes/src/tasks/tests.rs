use super::*;
use crate::event::MOST_NUMBERS;

fn event(thread: u32, point: EventPoint, numbers: &[u64], text: &str) -> CauseEvent {
    let mut all = [0; MOST_NUMBERS];
    all[..numbers.len()].copy_from_slice(numbers);
    CauseEvent { time_ns: 0, thread, point, key: 0, numbers: all, text: Some(text.into()) }
}

fn tasks() -> Tasks {
    let mut tasks = Tasks::default();
    for (thread, program, is_kernel) in [(2, "kthreadd", true), (10, "sh", false)] {
        let (program, cgroup) = (program.to_owned(), "/a".to_owned());
        tasks.add(&RunningTask { thread, process: thread, program, cgroup, is_kernel });
    }
    tasks
}

fn names(tasks: &mut Tasks, thread: u32) -> (String, String) {
    let causer = tasks.causer_of(thread);
    let name = tasks.name(causer).clone();
    (name.program, name.cgroup)
}

#[test]
fn a_child_is_its_parent_until_it_executes_or_moves() {
    let mut tasks = tasks();
    tasks.take(&event(10, EventPoint::NewTask, &[11, 0], "sh"));
    assert_eq!(names(&mut tasks, 11), ("sh".to_owned(), "/a".to_owned()));
    tasks.take(&event(11, EventPoint::Executed, &[], "/usr/bin/a-program-with-a-long-name"));
    tasks.take(&event(10, EventPoint::Attached, &[11, 0], "/b"));
    tasks.take(&event(10, EventPoint::Attached, &[11, 4], "/of/another/hierarchy"));
    assert_eq!(names(&mut tasks, 11), ("a-program-with-".to_owned(), "/b".to_owned()));
    assert_eq!(names(&mut tasks, 10), ("sh".to_owned(), "/a".to_owned()));
}

#[test]
fn all_threads_of_a_process_move() {
    let mut tasks = tasks();
    tasks.take(&event(10, EventPoint::NewTask, &[12, CLONE_THREAD], "sh"));
    tasks.take(&event(1, EventPoint::Attached, &[10, 0], "/b"));
    assert_eq!(names(&mut tasks, 12).1, "/b");
}

#[test]
fn workers_of_the_kernel_have_one_name_and_no_cgroup() {
    let mut tasks = tasks();
    tasks.take(&event(2, EventPoint::NewTask, &[20, 0], "kworker/u8:2-x"));
    assert!(tasks.is_kernel(20) && !tasks.is_kernel(10));
    assert_eq!(names(&mut tasks, 20), (WORKER.to_owned(), String::new()));
}

#[test]
fn a_child_that_begins_in_a_cgroup_is_looked_up() {
    let mut tasks = tasks();
    tasks.take(&event(10, EventPoint::NewTask, &[30, CLONE_INTO_CGROUP], "sh"));
    assert_eq!((tasks.take_strays(), tasks.take_strays()), (vec![30], vec![]));
    tasks.set_cgroup(30, "/c");
    assert_eq!(names(&mut tasks, 30).1, "/c");
}

#[test]
fn who_syncs_all_is_remembered_until_it_ends() {
    let mut tasks = tasks();
    tasks.take(&event(10, EventPoint::SyncEntered, &[], ""));
    assert!(tasks.is_syncing(10));
    tasks.take(&event(10, EventPoint::SyncLeft, &[], ""));
    assert!(!tasks.is_syncing(10));
}

#[test]
fn what_has_ended_is_forgotten_a_minute_later() {
    let mut tasks = tasks();
    let is_alive = |thread| thread == 2;
    tasks.forget_ended(is_alive);
    assert_eq!(names(&mut tasks, 10).0, "sh");
    tasks.forget_ended(is_alive);
    assert_eq!(names(&mut tasks, 10).0, "?");
    // A new thread may have the number of one that has ended.
    tasks.take(&event(2, EventPoint::NewTask, &[10, 0], "worker"));
    tasks.forget_ended(is_alive);
    tasks.take(&event(2, EventPoint::NewTask, &[10, 0], "other"));
    tasks.forget_ended(is_alive);
    assert_eq!(names(&mut tasks, 10).0, "other");
}

#[test]
fn the_watcher_works_for_others_and_its_children_for_themselves() {
    let mut tasks = tasks();
    tasks.set_watcher(10);
    tasks.take(&event(10, EventPoint::NewTask, &[11, 0], "sh"));
    assert!(tasks.is_kernel(10) && !tasks.is_kernel(11));
    assert_eq!(names(&mut tasks, 11), ("sh".to_owned(), "/a".to_owned()));
}

#[test]
fn what_a_charged_process_starts_is_charged_with_it_and_a_thread_of_its_own_is_not() {
    let mut tasks = tasks();
    tasks.charge_process(10, Causer::WORKLOAD);
    tasks.take(&event(10, EventPoint::NewTask, &[11, 0], "sh"));
    tasks.take(&event(11, EventPoint::Executed, &[], "/usr/bin/tar"));
    tasks.take(&event(1, EventPoint::Attached, &[11, 0], "/b"));
    // It says who it is before the event that it began is taken.
    tasks.charge_thread(12, Causer::READER);
    tasks.take(&event(10, EventPoint::NewTask, &[12, CLONE_THREAD], "sh"));
    tasks.take(&event(1, EventPoint::NewTask, &[13, 0], "cron"));
    tasks.take(&event(2, EventPoint::NewTask, &[14, 0], "jbd2/loop0-8"));
    let mut role = |thread| {
        let causer = tasks.causer_of(thread);
        tasks.role(causer)
    };
    let roles = [10, 11, 12, 13, 14].map(&mut role);
    let (workload, others) = (CauserRole::Workload, CauserRole::Others);
    assert_eq!(roles, [workload, workload, CauserRole::Reader, others, CauserRole::Kernel]);
}
