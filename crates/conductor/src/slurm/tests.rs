use super::*;

#[test]
fn a_script_has_all_that_slurm_is_told() {
    let interrupt = Interrupt::default();
    let slurm = Slurm {
        sbatch: "/usr/bin/sbatch".into(),
        partition: Some("lab".to_owned()),
        program: "/opt/a b/ssdlab".into(),
        command: "ssdlab run --resume x --share".to_owned(),
        interrupt: &interrupt,
    };
    let features = ["big", "ssd=x25m"].map(str::to_owned).into();
    let array = Array { name: "ssdlab-x", features: &features, shares: &[1, 3], count: 4 };
    let script = slurm.script(Path::new("/srv/it's 5%"), &array).unwrap();
    let options = script.lines().filter_map(|line| line.strip_prefix("#SBATCH "));
    let options: Vec<String> = options.flat_map(|line| shlex::split(line).unwrap()).collect();
    for option in [
        "--job-name=ssdlab-x",
        "--array=1,3",
        "--output=/srv/it's 5%%/attempts/4_%a.out",
        "--partition=lab",
        "--constraint=big&ssd=x25m",
        "--dependency=singleton",
    ] {
        assert!(options.iter().any(|one| one == option), "{option}\n{script}");
    }
    let command = "exec ssdlab run --resume x --share \"$SLURM_ARRAY_TASK_ID/4\"\n";
    assert!(script.ends_with(&format!("'/opt/a b/ssdlab' restore\n{command}")), "{script}");
    assert!(slurm.script(Path::new("/srv/a\n#SBATCH --uid=0"), &array).is_err());
}
