//! The source of `--help`, completions and man pages: the commands by group, with examples.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Arg, Command};

use super::exit::Exit;

/// The commands by task. Every command is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("This machine", &["who", "doctor", "probe"]),
    ("Experiments", &["run", "ask", "crashtest", "baseline", "check", "record", "restore"]),
    (
        "Results",
        &["report", "compare", "method", "flip", "judge", "cut", "history", "import", "evidence"],
    ),
    ("Simulated drives", &["simulate", "drive", "host", "serve", "trace"]),
    ("Set-up", &["list", "kernel", "cache", "schema", "completions", "man"]),
];

/// Examples of a command, which is given by all its words: their purpose, and the command line.
pub const EXAMPLES: [(&str, &[(&str, &str)]); 45] = [
    (
        "who",
        &[
            ("See what was written to every drive since boot, and how it wears", "ssdlab who"),
            ("See who writes to it, to the byte", "sudo ssdlab who / --for 10m"),
            ("See what a program writes, by file", "sudo ssdlab who . --files -- git gc"),
            ("To the drive that a folder is on, for an issue", "ssdlab who /home --markdown"),
            (
                "For node_exporter, from a timer",
                "ssdlab who --prometheus /var/lib/prometheus/node-exporter/ssdlab.prom",
            ),
        ],
    ),
    (
        "doctor",
        &[
            ("Check this machine", "ssdlab doctor"),
            ("The same, for an issue", "ssdlab doctor --markdown"),
        ],
    ),
    (
        "probe",
        &[
            ("Measure the drive that a folder is on", "ssdlab probe --dir /var/lib"),
            (
                "Also write a drive file to start from",
                "ssdlab probe --dir /var/lib --out my-drive.toml",
            ),
        ],
    ),
    (
        "run",
        &[
            ("Answer a shipped question on a simulated drive", "ssdlab run discard"),
            (
                "The same on another drive, a quarter of the size",
                "ssdlab run discard --drive 970-pro --scale 0.25",
            ),
            (
                "In an image file on your own disk, without wiping anything",
                "sudo ssdlab run journal --lab image --dir /mnt/test",
            ),
            ("On a drive that is wiped", "sudo ssdlab run journal --device /dev/sdX --wipe SERIAL"),
            (
                "Under two lab kernels of the cache, which are compared",
                "ssdlab run discard --set kernel=6.1,6.12",
            ),
            ("Resume an interrupted run", "ssdlab run --resume discard-1"),
        ],
    ),
    (
        "ask",
        &[
            (
                "Compare two filesystems that deliver mail on a simulated SATA SSD",
                "ssdlab ask ext4:noatime,commit=60 xfs:noatime --do maildir --drive sata-tlc",
            ),
            (
                "See the plan that this makes, and keep it",
                "ssdlab ask ext4 btrfs:compress=zstd:3 --do kernel-tree --print > plan.toml",
            ),
        ],
    ),
    (
        "crashtest",
        &[(
            "See whether a file that is replaced is there after a power cut",
            "ssdlab crashtest --run 'echo 1 >a.tmp; mv a.tmp a; echo done' \
             --check 'read -r said || exit 0; test -s a' --cuts 50",
        )],
    ),
    (
        "baseline",
        &[
            ("Keep what a load costs", "ssdlab baseline record load.toml --out load.baseline.toml"),
            ("See whether it costs more", "ssdlab baseline check load.baseline.toml"),
        ],
    ),
    (
        "baseline record",
        &[(
            "Keep what a load costs now",
            "ssdlab baseline record load.toml --out load.baseline.toml",
        )],
    ),
    (
        "baseline check",
        &[
            ("See whether it costs more", "ssdlab baseline check load.baseline.toml"),
            (
                "Allow a tenth more bytes, and a flush",
                "ssdlab baseline check load.baseline.toml --allow bytes=10%,flushes=1",
            ),
        ],
    ),
    (
        "check",
        &[
            ("See what a plan would do, and for how long", "ssdlab check discard"),
            ("Check a plan of your own", "ssdlab check plan.toml"),
        ],
    ),
    ("record", &[("Record a build", "ssdlab record --dir src --out build.log.gz -- make -j2")]),
    ("restore", &[("After a run was killed, or power failed", "sudo ssdlab restore")]),
    (
        "report",
        &[
            ("Show a run's results again", "ssdlab report discard-1"),
            ("As a page for a browser", "ssdlab report discard-1 --out discard.html"),
            (
                "Every sample, for a spreadsheet",
                "ssdlab report discard-1 --format ods --out discard.ods",
            ),
        ],
    ),
    (
        "compare",
        &[(
            "Compare two runs by the bytes written",
            "ssdlab compare journal-1 journal-2 --metric written_bytes",
        )],
    ),
    ("method", &[("See whether a run's numbers can be trusted", "ssdlab method discard-1")]),
    ("flip", &[("Find the parameters on which a run's verdicts depend", "ssdlab flip discard-1")]),
    (
        "judge",
        &[
            (
                "Judge a claim of a shipped plan under the kernel of a tree",
                "ssdlab judge discard any-io-is-slow --tree linux",
            ),
            (
                "After `git bisect start BAD GOOD`, find the commit since which it no longer holds",
                "git bisect run ssdlab judge discard any-io-is-slow",
            ),
        ],
    ),
    (
        "cut",
        &[
            (
                "See what a power cut left, as a report names it",
                "ssdlab cut power-loss-1 --trial 3 --cut 12",
            ),
            (
                "Save the drive's contents, and the recovered files",
                "ssdlab cut power-loss-1 --trial 3 --cut 12 --image cut.img --files cut.tar",
            ),
            (
                "Find the smallest workload in which some cut has the same finding",
                "ssdlab cut power-loss-1 --trial 3 --cut 12 --shrink",
            ),
            (
                "Cut the power of a device that dm-log-writes has logged",
                "ssdlab cut --device-log sdb.log --before blank.img --filesystem ext4",
            ),
        ],
    ),
    ("history", &[("List the runs that refuted a claim", "ssdlab history --verdict refuted")]),
    (
        "import",
        &[(
            "Compare two results of fio",
            "ssdlab import ext4=ext4.json xfs=xfs.json --name fio-two",
        )],
    ),
    ("evidence", &[("See what the models get right and wrong", "ssdlab evidence")]),
    (
        "host",
        &[
            ("See the evidence for a computer's values", "ssdlab host show phenom-ii-x4-965"),
            ("Start a host file of your own", "ssdlab host show modern-2020s"),
            ("Check it", "ssdlab host check my-host.toml"),
            ("Measure this computer", "ssdlab host fit --dir /var/tmp"),
        ],
    ),
    ("host list", &[("See which computers there are", "ssdlab host list")]),
    (
        "host show",
        &[
            ("Start a host file of your own", "ssdlab host show modern-2020s"),
            ("Read its values by program", "ssdlab host show modern-2020s --json"),
        ],
    ),
    ("host check", &[("Check a host file of your own", "ssdlab host check my-host.toml")]),
    ("host fit", &[("Measure this computer", "ssdlab host fit --dir /var/tmp")]),
    (
        "simulate",
        &[
            (
                "Write a drive at random until it is steady",
                "ssdlab simulate --drive 970-pro --condition steady",
            ),
            (
                "Compare two drives",
                "ssdlab simulate --drive x25m-g1 --drive datacenter --pattern zipf",
            ),
        ],
    ),
    (
        "drive",
        &[
            ("List the shipped drives", "ssdlab drive list"),
            ("Start a drive file of your own", "ssdlab drive show 970-pro"),
            ("Check it", "ssdlab drive check my-drive.toml"),
        ],
    ),
    ("drive list", &[("See which drives there are", "ssdlab drive list")]),
    (
        "drive show",
        &[
            ("Start a drive file of your own", "ssdlab drive show 970-pro"),
            ("Read its values by program", "ssdlab drive show 970-pro --json"),
        ],
    ),
    (
        "drive check",
        &[
            ("Check a drive file of your own", "ssdlab drive check my-drive.toml"),
            ("See a drive at another capacity", "ssdlab drive check 970-pro --capacity 64GB"),
        ],
    ),
    (
        "drive new",
        &[(
            "Make the drive file of a SATA drive from its box",
            "ssdlab drive new --like sata-tlc --capacity 500GB --read 560MB/s --write 530MB/s \
             --iops 98k/88k --tbw 300 --out my-drive.toml",
        )],
    ),
    (
        "serve",
        &[
            (
                "A simulated drive for a loop device",
                "sudo ssdlab serve --drive x25m-g1 --fuse /mnt/drive",
            ),
            (
                "A simulated drive for a virtual machine",
                "ssdlab serve --drive 970-pro --vhost-user drive.sock",
            ),
        ],
    ),
    (
        "trace",
        &[
            ("Plot the requests of a run", "ssdlab trace discard-1 --charts requests"),
            ("Summarise a trace of blktrace", "ssdlab trace sda.blktrace.0 sda.blktrace.1"),
        ],
    ),
    (
        "list",
        &[
            ("List the shipped plans", "ssdlab list plans"),
            ("List the metrics", "ssdlab list metrics"),
        ],
    ),
    (
        "kernel",
        &[
            ("Build the kernel of the virtual lab, once", "ssdlab kernel build"),
            (
                "Another one beside it, to compare them",
                "ssdlab kernel build --source /usr/src/linux-source-6.12.tar.xz",
            ),
        ],
    ),
    (
        "kernel build",
        &[
            ("From the distribution's source in /usr/src", "ssdlab kernel build"),
            (
                "From another source",
                "ssdlab kernel build --source /usr/src/linux-source-6.12.tar.xz",
            ),
        ],
    ),
    ("kernel list", &[("See which kernels a plan can name", "ssdlab kernel list")]),
    ("kernel default", &[("Let runs use Linux 6.12", "ssdlab kernel default 6.12")]),
    ("kernel info", &[("See what the default kernel can do", "ssdlab kernel info")]),
    (
        "cache",
        &[
            ("See the cache", "ssdlab cache"),
            ("Remove what can be recreated", "ssdlab cache clear"),
        ],
    ),
    ("cache clear", &[("Remove what can be recreated", "ssdlab cache clear")]),
    ("schema", &[("The schema of plans", "ssdlab schema plan")]),
    ("completions", &[("Complete commands in this shell", "source <(ssdlab completions bash)")]),
    ("man", &[("Write the man pages", "ssdlab man man1")]),
];

/// The output of `ssdlab` without arguments.
pub const FIRST_STEPS: &str = "\
ssdlab settles questions about filesystems on SSDs by controlled experiment. Three things to try:

  ssdlab run discard      answer a question in the virtual lab, without root
  ssdlab list plans       see what other questions it can answer
  ssdlab drive list       see the drives it can simulate

`ssdlab --help` lists all commands.";

/// Adds groups and examples to the help of a command line.
pub fn explained(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        groups(&command),
        heading(&command, "Options"),
    );
    let styles = command.get_styles().clone();
    let command = command.help_template(template).after_help(Exit::codes());
    let command = with_negative_numbers(command);
    EXAMPLES.iter().fold(command, |command, (path, examples)| {
        let mut text = heading_in(&styles, "Examples");
        for (says, line) in *examples {
            text.extend(["\n  ", says, ":\n    ", line]);
        }
        with_after_help(command, path, &StyledStr::from(text))
    })
}

/// Takes `-1` for a value of an option, which may be out of range, and not for an unknown option.
fn with_negative_numbers(command: Command) -> Command {
    let takes = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    let command =
        command.mut_args(|arg| if takes(&arg) { arg.allow_negative_numbers(true) } else { arg });
    command.mut_subcommands(with_negative_numbers)
}

/// Puts a text after the help of the command that is below this one by these words.
fn with_after_help(command: Command, path: &str, text: &StyledStr) -> Command {
    let (name, below) = path.split_once(' ').unwrap_or((path, ""));
    command.mut_subcommand(name, |command| match below {
        "" => command.after_help(text.clone()),
        below => with_after_help(command, below, text),
    })
}

fn groups(command: &Command) -> String {
    let mut text = String::new();
    let literal = command.get_styles().get_literal();
    for (title, names) in GROUPS {
        text.push_str(&heading(command, title));
        text.push('\n');
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<11}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text
}

fn heading(command: &Command, title: &str) -> String {
    heading_in(command.get_styles(), title)
}

fn heading_in(styles: &clap::builder::Styles, title: &str) -> String {
    let header = styles.get_header();
    format!("{header}{title}:{header:#}")
}

#[cfg(test)]
mod tests;
