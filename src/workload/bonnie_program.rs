//! bonnie++: runs it in the trial's directory and reads the line of values it prints.

use std::collections::BTreeMap;
use std::process::Command;

use super::printed::bonnie::{Rate, Tested};
use super::{Done, Place, WorkloadError, printed};
use crate::host::program;
use crate::plan::Bonnie;
use crate::plan::metric::BONNIE_PREFIX;

const MIB: u64 = 1 << 20;

/// Runs it with these sizes, of which it knows whole MiB and 1024 files only: more is done rather
/// than less, but by character less rather than more, and nothing below 1 MiB.
pub(super) fn run(sizes: &Bonnie, place: Place<'_>) -> Result<Done, WorkloadError> {
    let mut command = Command::new(program::find("bonnie++", "bonnie++")?);
    command.args(arguments(sizes)).current_dir(place.directory);
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "0", "-g", "0"]);
    }
    parse(&program::run(command, place.rules)?.stdout)
}

/// The seed is the same for every trial, as bonnie++'s own tests are for every seed. Its check that
/// the file is twice the memory is off.
fn arguments(sizes: &Bonnie) -> Vec<String> {
    let (smallest, largest) = sizes.file_bytes;
    let words = [
        "-q".to_owned(),
        "-m".to_owned(),
        "ssdlab".to_owned(),
        "-r".to_owned(),
        "0".to_owned(),
        "-z".to_owned(),
        "1".to_owned(),
        "-s".to_owned(),
        format!(
            "{}:{}:{}:{}",
            sizes.size_bytes.div_ceil(MIB),
            sizes.chunk_bytes,
            sizes.seeks,
            sizes.seekers
        ),
        format!("-f{}", sizes.char_bytes / MIB),
        "-n".to_owned(),
        format!("{}:{largest}:{smallest}:{}", sizes.files.div_ceil(1024), sizes.directories),
    ];
    let each = sizes.fsync_each.then(|| "-b".to_owned());
    words.into_iter().chain(each).collect()
}

/// Reads what it printed: `bonnie++.TEST.bytes_per_second`, or `.ops_per_second` where files or
/// seeks are counted, and `.latency.max_ns`.
pub(super) fn parse(printed: &str) -> Result<Done, WorkloadError> {
    let unreadable = |reason: String| WorkloadError::BonnieOutput { reason };
    let line = printed.lines().rfind(|line| line.split(',').count() > 1);
    let line = line.ok_or_else(|| unreadable("there is no line of values".to_owned()))?;
    let line = printed::bonnie::line(line).map_err(unreadable)?;
    let (mut reported, mut too_fast) = (BTreeMap::new(), Vec::new());
    for Tested { test, rate, longest_ns } in line.tests {
        let name = format!("{BONNIE_PREFIX}{}", test.name());
        match rate {
            Some(Rate::Bytes(rate)) => reported.insert(format!("{name}.bytes_per_second"), rate),
            Some(Rate::Operations(rate)) => reported.insert(format!("{name}.ops_per_second"), rate),
            None => {
                too_fast.push(test.name());
                None
            }
        };
        if let Some(longest) = longest_ns {
            reported.insert(format!("{name}.latency.max_ns"), longest);
        }
    }
    let remark = (!too_fast.is_empty())
        .then(|| format!("bonnie++ took too little time to tell {}", too_fast.join(", ")));
    Ok(Done { reported, remark, ..Done::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bonnie++ 2.00a printed on a filesystem in memory (`-s 256M -n 4`), and on ext4 without
    /// the tests by character.
    const FAST: &str = "1.98,2.00a,host,1,1795280492,256M,,8192,5,1838,88,+++++,+++,+++++,+++,\
        2709,97,+++++,+++,+++++,+++,4,,,,,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,+++,+++++,\
        +++,12824us,4204us,4065us,14762us,75us,30725us,8088us,4060us,4328us,4068us,4052us,2192us\n";

    fn value(printed: &str, name: &str) -> Option<f64> {
        parse(printed).unwrap().reported.get(&format!("bonnie++.{name}")).copied()
    }

    #[test]
    fn rates_and_latencies_are_read_in_bytes_and_nanoseconds() {
        assert_eq!(value(FAST, "seq_output_char.bytes_per_second"), Some(1838.0 * 1024.0));
        assert_eq!(value(FAST, "seq_input_char.bytes_per_second"), Some(2709.0 * 1024.0));
        assert_eq!(value(FAST, "seq_output_char.latency.max_ns"), Some(12_824_000.0));
        assert_eq!(value(FAST, "random_delete.latency.max_ns"), Some(2_192_000.0));
        let slow = FAST
            .replacen("+++++,+++,4,", "412.5,3,4,", 1)
            .replace("8088us", "100s")
            .replace(",4,,,,,+++++,", ",4,4096,10,,3,800,");
        assert_eq!(value(&slow, "random_seek.ops_per_second"), Some(412.5));
        assert_eq!(value(&slow, "seq_create.ops_per_second"), Some(800.0));
        assert_eq!(value(&slow, "seq_create.latency.max_ns"), Some(1e11));
    }

    #[test]
    fn what_was_too_fast_is_absent_and_named() {
        assert_eq!(value(FAST, "seq_output_block.bytes_per_second"), None);
        let remark = parse(FAST).unwrap().remark.unwrap();
        assert!(remark.contains("seq_output_block, rewrite, seq_input_block"), "{remark}");
        assert!(!remark.contains("char"), "{remark}");
    }

    #[test]
    fn a_test_that_was_left_out_is_absent_and_not_named() {
        let without = FAST.replace(",1838,88,", ",,,").replace("12824us", "");
        assert_eq!(value(&without, "seq_output_char.bytes_per_second"), None);
        assert_eq!(value(&without, "seq_output_char.latency.max_ns"), None);
        assert!(!parse(&without).unwrap().remark.unwrap().contains("char"));
    }

    #[test]
    fn what_is_no_line_of_values_is_an_error() {
        let other = |from: &str, to: &str| parse(&FAST.replace(from, to)).unwrap_err().to_string();
        assert!(other("1.98,", "1.03,").contains("its format is 1.03, expected one of 1.96, 1.97"));
        assert!(other("1.98,", "1.97,").contains("50 values, expected 48"));
        assert!(other(",2192us", "").contains("49 values"));
        assert!(other("1838", "nan").contains("\"nan\" is no number"));
        assert!(other("12824us", "12824").contains("seq_output_char"));
        for text in ["", "\n", "Can't open file ./Bonnie.7\n", ",,,,"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn arguments_say_the_sizes_as_bonnie_takes_them() {
        let sizes = Bonnie {
            size_bytes: 5 << 19,
            chunk_bytes: 4096,
            char_bytes: 3 << 19,
            seeks: 100,
            seekers: 2,
            files: 1025,
            file_bytes: (1, 200),
            directories: 3,
            fsync_each: true,
            least_ns: 0,
        };
        let line = arguments(&sizes).join(" ");
        assert_eq!(line, "-q -m ssdlab -r 0 -z 1 -s 3:4096:100:2 -f1 -n 2:200:1:3 -b");
    }
}
