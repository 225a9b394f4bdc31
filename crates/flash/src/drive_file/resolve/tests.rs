//! Tests of the refusal of impossible drives.

use super::*;

const DRIVE: &str = "name = \"tried\"\ncapacity = \"1 GiB\"\nspare_factor = 0.1\n";
const TIMES: &str = "read = \"1 us\"\nprogram = \"1 us\"\nerase = \"1 us\"\nbus = \"1 MB/s\"\n\
                     link_read = \"1 MB/s\"\nlink_write = \"1 MB/s\"\n";

fn refusal(of: &str) -> DriveFileError {
    Specification::parse(&format!("{DRIVE}{of}")).expect_err("the drive is impossible")
}

#[test]
fn products_of_the_largest_numbers_are_refused_by_name() {
    for mapping in ["page", "block"] {
        for number in [1_u32 << 31, u32::MAX] {
            let error = refusal(&format!(
                "mapping = \"{mapping}\"\npages_per_block = {number}\nsuperblock = {number}\n"
            ));
            assert!(error.help.contains("pages_per_block"), "{error}; {}", error.help);
            let error = refusal(&format!(
                "mapping = \"{mapping}\"\n[timing]\nchannels = {number}\n\
                 dies_per_channel = {number}\nplanes = {number}\n{TIMES}"
            ));
            assert!(error.help.contains("dies_per_channel"), "{error}; {}", error.help);
        }
    }
}
