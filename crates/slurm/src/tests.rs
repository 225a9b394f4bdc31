use super::*;

#[test]
fn nodes_are_read_as_sinfo_prints_them() {
    let node = Node::read("all*|node1|ssd=x25m,big|idle\n").unwrap();
    assert_eq!((node.partition, node.is_default, node.name), ("all", true, "node1"));
    assert!(node.features.contains("ssd=x25m") && node.features.len() == 2);
    assert!(Node::read("one|node2|(null)|down*").unwrap().features.is_empty());
    assert!(node.is_up && !Node::read("one|node2|(null)|drain").unwrap().is_up);
    assert!(Node::read("slurm").is_none());
}

#[test]
fn time_limits_are_read_as_sinfo_prints_them() {
    assert_eq!(span("7-00:00:00"), Some(Duration::from_hours(168)));
    assert_eq!(span("1:30:00"), Some(Duration::from_mins(90)));
    assert_eq!(span("10:00"), Some(Duration::from_mins(10)));
    assert_eq!(span("infinite"), None);
}

#[test]
fn a_controller_that_is_silent_is_told_from_one_that_refuses() {
    let says = "sbatch: error: Batch job submission failed: Unable to contact slurm controller \
                    (connect failure)";
    assert!(matches!(understood(says), SlurmError::Unreachable { .. }));
    let says = "sbatch: error: invalid partition specified: moon";
    assert!(matches!(understood(says), SlurmError::Refused { .. }));
}
