//! What a cgroup is to people: a service, a container, a pod, a guest, a session.
//!
//! Sources: systemd.slice(5) and systemd's Desktop Environment Integration for units; docker,
//! podman, containerd and CRI-O for the scopes of containers (`docker-ID.scope`); the kubelet for
//! `kubepods` and /var/log/pods; lxc.container.conf(5); Proxmox VE for `qemu.slice`.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::processes;

/// What a cgroup holds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CgroupKind {
    /// A unit of systemd.
    Service,
    /// A program that a user's desktop started.
    App,
    /// A login session.
    Session,
    /// A container of docker.
    Docker,
    /// A container of podman.
    Podman,
    /// Another container.
    Container,
    /// A pod of Kubernetes.
    Pod,
    /// A guest of LXC.
    Lxc,
    /// A virtual machine of Proxmox or libvirt.
    VirtualMachine,
    /// A slice or another group of those.
    Group,
}

impl CgroupKind {
    /// A name with what it is, where the name does not say it.
    pub fn with_word(self, name: String) -> String {
        let word = match self {
            Self::Service | Self::Session | Self::Group => return name,
            Self::App => "app",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::Container => "container",
            Self::Pod => "pod",
            Self::Lxc => "lxc",
            Self::VirtualMachine => "virtual machine",
        };
        format!("{name} ({word})")
    }
}

/// What a cgroup is, by its path below the root.
pub fn kind(cgroup: &str) -> CgroupKind {
    known(cgroup).0
}

/// The service, container or the like that a cgroup is in or is, by its path below the root; the
/// cgroup itself where it is in none.
pub fn holder(cgroup: &str) -> &str {
    let ends = cgroup.match_indices('/').map(|(end, _)| end);
    let mut above = ends.map(|end| &cgroup[..end]);
    above.find(|above| kind(above) != CgroupKind::Group).unwrap_or(cgroup)
}

/// What a cgroup is, and its name or number as the path has it.
fn known(cgroup: &str) -> (CgroupKind, String) {
    let (above, last) = cgroup.rsplit_once('/').unwrap_or(("", cgroup));
    let parent = above.rsplit('/').next().unwrap_or_default();
    let (stem, ending) = last.rsplit_once('.').unwrap_or((last, ""));
    let scope = (ending == "scope").then_some(stem);
    let unit = unescaped(stem);
    if let Some(uid) = pod(cgroup, last) {
        return (CgroupKind::Pod, uid);
    }
    let of_engine = [
        ("docker-", CgroupKind::Docker),
        ("libpod-", CgroupKind::Podman),
        ("cri-containerd-", CgroupKind::Container),
        ("nerdctl-", CgroupKind::Container),
        ("crio-", CgroupKind::Container),
    ];
    for (start, kind) in of_engine {
        if let Some(id) = scope.and_then(|scope| scope.strip_prefix(start)).filter(|id| is_id(id)) {
            return (kind, id.to_owned());
        }
    }
    if let Some(name) = last.strip_prefix("lxc.payload.") {
        return (CgroupKind::Lxc, name.to_owned());
    }
    match parent {
        "docker" if is_id(last) => return (CgroupKind::Docker, last.to_owned()),
        "libpod_parent" => {
            let id = last.strip_prefix("libpod-").unwrap_or(last);
            return (CgroupKind::Podman, id.to_owned());
        }
        "lxc" => return (CgroupKind::Lxc, last.to_owned()),
        "qemu.slice" if scope.is_some() => return (CgroupKind::VirtualMachine, unit),
        _ => {}
    }
    if let Some(machine) = scope.and(unit.strip_prefix("machine-")) {
        let of_libvirt = machine.strip_prefix("qemu-").and_then(|rest| rest.split_once('-'));
        return match of_libvirt {
            Some((_, name)) => (CgroupKind::VirtualMachine, name.to_owned()),
            None => (CgroupKind::Container, machine.to_owned()),
        };
    }
    if let Some(session) = scope.and_then(|scope| scope.strip_prefix("session-")) {
        return (CgroupKind::Session, session.to_owned());
    }
    if let Some(app) =
        unit.strip_prefix("app-").filter(|_| ending != "slice" && cgroup.contains("/user@"))
    {
        return (CgroupKind::App, app_name(app));
    }
    // The manager of a user's units is a group of those.
    let is_manager = stem.starts_with("user@") && ending == "service";
    if !is_manager && ["service", "scope", "mount", "socket", "swap"].contains(&ending) {
        return (CgroupKind::Service, unit);
    }
    (CgroupKind::Group, last.to_owned())
}

/// The name of a cgroup for people, as far as this user may know it; `folder` has its files.
pub fn name(root: &Path, cgroup: &str, folder: Option<&Path>) -> String {
    let (kind, own) = known(cgroup);
    let program = || folder.and_then(|folder| first_program(root, folder));
    match kind {
        CgroupKind::Service | CgroupKind::App => own,
        CgroupKind::Session => match user(cgroup) {
            Some(user) => format!("session {own} of user {user}"),
            None => format!("session {own}"),
        },
        CgroupKind::Docker => docker_name(root, &own).unwrap_or_else(|| by_id(&own, program())),
        CgroupKind::Podman | CgroupKind::Container => by_id(&own, program()),
        CgroupKind::Pod => pod_name(root, &own).unwrap_or_else(|| by_id(&own, program())),
        CgroupKind::Lxc => {
            let file = root.join("etc/pve/lxc").join(format!("{own}.conf"));
            numbered(&own, configured(&file, "hostname"))
        }
        CgroupKind::VirtualMachine => {
            let file = root.join("etc/pve/qemu-server").join(format!("{own}.conf"));
            let told = || folder.and_then(|folder| qemu_name(root, folder));
            numbered(&own, configured(&file, "name").or_else(told))
        }
        CgroupKind::Group => match user(cgroup) {
            Some(user) if own.starts_with("user") => format!("user {user}"),
            _ => own,
        },
    }
}

/// The identifier of a pod, if this cgroup is one: `kubepods-burstable-podUID.slice`, with lines
/// under for hyphens, or `kubepods/burstable/podUID`.
fn pod(cgroup: &str, last: &str) -> Option<String> {
    if !cgroup.split('/').any(|part| part.starts_with("kubepods")) {
        return None;
    }
    let stem = last.strip_suffix(".slice").unwrap_or(last);
    let (before, uid) = stem.rsplit_once("pod").filter(|(_, uid)| !uid.starts_with('s'))?;
    let is_pod = before.is_empty() || before.ends_with('-');
    (is_pod && !uid.is_empty()).then(|| uid.replace('_', "-"))
}

/// The namespace and name of a pod, by its folder of logs: `NAMESPACE_NAME_UID`.
fn pod_name(root: &Path, uid: &str) -> Option<String> {
    let entries = fs::read_dir(root.join("var/log/pods")).ok()?.flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.find_map(|name| {
        let (namespace, name) = name.strip_suffix(uid)?.strip_suffix('_')?.split_once('_')?;
        Some(format!("{namespace}/{name}"))
    })
}

/// The name that docker gave a container; only root may read it.
fn docker_name(root: &Path, id: &str) -> Option<String> {
    let file = root.join("var/lib/docker/containers").join(id).join("config.v2.json");
    let json: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).ok()?).ok()?;
    let name = json["Name"].as_str()?.trim_start_matches('/');
    (!name.is_empty()).then(|| name.to_owned())
}

/// A value in a configuration of Proxmox, above its snapshots.
fn configured(file: &Path, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let own = text.lines().take_while(|line| !line.starts_with('['));
    let mut values = own.filter_map(|line| line.split_once(':'));
    values.find(|(own, _)| *own == key).map(|(_, value)| value.trim().to_owned())
}

/// The name that a virtual machine was started with: `-name NAME,...`.
fn qemu_name(root: &Path, folder: &Path) -> Option<String> {
    let pid = first_process(folder)?;
    let line = fs::read(root.join("proc").join(pid).join("cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).skip_while(|word| *word != b"-name").skip(1);
    let name = processes::shown_command(words.next()?);
    let name = name.split(',').next()?.trim_start_matches("guest=");
    (!name.is_empty()).then(|| name.to_owned())
}

/// The command of a cgroup's first process.
fn first_program(root: &Path, folder: &Path) -> Option<String> {
    let comm = fs::read(root.join("proc").join(first_process(folder)?).join("comm")).ok()?;
    Some(processes::shown_command(&comm)).filter(|comm| !comm.is_empty())
}

fn first_process(folder: &Path) -> Option<String> {
    let own = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    if let Some(pid) = own.lines().next() {
        return Some(pid.to_owned());
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut below: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    below.sort();
    below.iter().find_map(|folder| first_process(folder))
}

/// A name by a long identifier, and by a program in it.
fn by_id(id: &str, program: Option<String>) -> String {
    let short: String = id.chars().take(12).collect();
    program.map_or(short.clone(), |program| format!("{program} {short}"))
}

fn numbered(number: &str, name: Option<String>) -> String {
    name.filter(|name| name != number).map_or(number.to_owned(), |name| format!("{number} {name}"))
}

/// The user whose slice a cgroup is in.
fn user(cgroup: &str) -> Option<&str> {
    let mut parts = cgroup.split('/');
    parts.find_map(|part| part.strip_prefix("user-")?.strip_suffix(".slice"))
}

/// Containers have 64 hexadecimal digits.
fn is_id(text: &str) -> bool {
    text.len() >= 12 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The application in `[LAUNCHER-]APPLICATION[-RANDOM]` or `APPLICATION@RANDOM`.
fn app_name(text: &str) -> String {
    let text = text.split('@').next().unwrap_or(text);
    let is_random = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_hexdigit())
            && part.bytes().any(|byte| byte.is_ascii_digit())
    };
    let stem = text.rsplit_once('-').filter(|(_, last)| is_random(last)).map_or(text, |(a, _)| a);
    let launchers = ["gnome-", "kde-", "flatpak-", "snap-", "dbus-"];
    let stem = launchers.iter().find_map(|launcher| stem.strip_prefix(launcher)).unwrap_or(stem);
    stem.to_owned()
}

/// A unit's name without systemd's escapes (`\x2d`), see systemd-escape(1).
fn unescaped(unit: &str) -> String {
    let mut text = String::with_capacity(unit.len());
    let mut rest = unit;
    while let Some((before, after)) = rest.split_once("\\x") {
        text.push_str(before);
        let code = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(code) = code.filter(u8::is_ascii_graphic) {
            text.push(char::from(code));
            rest = &after[2..];
        } else {
            text.push_str("\\x");
            rest = after;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests;
