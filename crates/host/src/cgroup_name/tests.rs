use super::*;

const ID: &str = "3f2a9c1b4d5e3f2a9c1b4d5e3f2a9c1b4d5e3f2a9c1b4d5e3f2a9c1b4d5e0001";

#[test]
fn paths_name_what_people_started() {
    for (cgroup, kind, name) in [
        ("system.slice/cron.service", CgroupKind::Service, "cron"),
        ("system.slice/system-getty.slice/getty@tty1.service", CgroupKind::Service, "getty@tty1"),
        ("init.scope", CgroupKind::Service, "init"),
        ("system.slice/var-lib\\x2dx.mount", CgroupKind::Service, "var-lib-x"),
        (
            "user.slice/user-1000.slice/session-3.scope",
            CgroupKind::Session,
            "session 3 of user 1000",
        ),
        ("user.slice/user-1000.slice/user@1000.service", CgroupKind::Group, "user 1000"),
        ("user.slice/user-1000.slice", CgroupKind::Group, "user 1000"),
        ("system.slice", CgroupKind::Group, "system.slice"),
        (
            "user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-code-77.scope",
            CgroupKind::App,
            "code",
        ),
        (
            "user.slice/user-1000.slice/user@1000.service/app.slice/app-x@autostart.service",
            CgroupKind::App,
            "x",
        ),
        (
            "machine.slice/machine-qemu\\x2d1\\x2dweb\\x2d2.scope",
            CgroupKind::VirtualMachine,
            "web-2",
        ),
        ("machine.slice/machine-build.scope", CgroupKind::Container, "build"),
        ("qemu.slice/100.scope", CgroupKind::VirtualMachine, "100"),
        ("lxc/101", CgroupKind::Lxc, "101"),
        ("lxc.payload.mail", CgroupKind::Lxc, "mail"),
        (
            "kubepods.slice/kubepods-besteffort.slice",
            CgroupKind::Group,
            "kubepods-besteffort.slice",
        ),
        ("kubepods/burstable/pod1c6b9f70-0b1a", CgroupKind::Pod, "1c6b9f70-0b1"),
    ] {
        assert_eq!(super::kind(cgroup), kind, "{cgroup}");
        assert_eq!(super::name(Path::new("/nowhere"), cgroup, None), name, "{cgroup}");
    }
    for (cgroup, kind) in [
        (format!("system.slice/docker-{ID}.scope"), CgroupKind::Docker),
        (format!("docker/{ID}"), CgroupKind::Docker),
        (format!("machine.slice/libpod-{ID}.scope"), CgroupKind::Podman),
        (format!("system.slice/cri-containerd-{ID}.scope"), CgroupKind::Container),
    ] {
        assert_eq!(super::kind(&cgroup), kind, "{cgroup}");
        assert_eq!(super::name(Path::new("/nowhere"), &cgroup, None), "3f2a9c1b4d5e");
    }
}

#[test]
fn a_machine_of_proxmox_is_named_by_its_command_line() {
    let root = tempfile::tempdir().unwrap();
    let scope = root.path().join("qemu.slice/100.scope");
    fs::create_dir_all(&scope).unwrap();
    fs::create_dir_all(root.path().join("proc/77")).unwrap();
    fs::write(scope.join("cgroup.procs"), "77\n").unwrap();
    let line = "/usr/bin/kvm\0-id\x00100\0-name\0web,debug-threads=on\0";
    fs::write(root.path().join("proc/77/cmdline"), line).unwrap();
    let name = super::name(root.path(), "qemu.slice/100.scope", Some(&scope));
    assert_eq!(name, "100 web");
}

#[test]
fn escapes_that_are_none_stay() {
    for text in ["a\\x", "\\xzz", "\\x2", "\\x0a", "plain"] {
        assert_eq!(unescaped(text), text);
    }
    assert_eq!(unescaped("a\\x2db\\x2f"), "a-b/");
}

#[test]
fn what_is_in_a_service_or_a_pod_is_of_it() {
    for (cgroup, expected) in [
        ("system.slice/docker.service/helper", "system.slice/docker.service"),
        ("kubepods/burstable/pod12-ab/3f2a9c1b4d5e", "kubepods/burstable/pod12-ab"),
        (
            "user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope/a",
            "user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope",
        ),
        ("build/a", "build/a"),
        ("", ""),
    ] {
        assert_eq!(holder(cgroup), expected, "{cgroup}");
    }
    assert_eq!(CgroupKind::Docker.with_word("web".to_owned()), "web (docker)");
    assert_eq!(CgroupKind::Service.with_word("cron".to_owned()), "cron");
}
