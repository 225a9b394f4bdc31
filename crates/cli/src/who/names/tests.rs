use super::*;

#[test]
fn a_cgroup_is_called_by_its_unit_container_or_guest() {
    let cases = [
        ("/", ""),
        ("/system.slice/systemd-journald.service", "systemd-journald"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "app-x"),
        ("/system.slice/docker-0123456789abcdef.scope", "docker 0123456789ab"),
        ("/qemu.slice/100.scope", "guest 100"),
        ("/build", "build"),
    ];
    for (cgroup, expected) in cases {
        assert_eq!(service(cgroup), expected, "{cgroup}");
    }
}
