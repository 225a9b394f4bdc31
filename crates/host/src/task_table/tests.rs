use super::*;

#[test]
fn this_test_is_among_the_threads_with_its_program() {
    let process = std::process::id();
    let found = tasks();
    let own = found.iter().find(|task| task.thread == process).unwrap();
    let program = fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!((own.process, own.program.as_str()), (process, program.trim_end()));
    assert!(!own.is_kernel);
    assert_eq!(cgroup(process).unwrap_or_else(|| "/".to_owned()), own.cgroup);
}
