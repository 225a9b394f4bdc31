use super::*;
use crate::Setup;

fn setup(pairs: &[(Factor, &str)]) -> Result<Setup, LevelError> {
    let levels = pairs.iter().map(|(factor, level)| (*factor, (*level).to_owned()));
    Setup::new(&Levels(levels.collect()))
}

#[test]
fn every_level_of_every_filesystem_is_one_and_has_names_of_its_own() {
    for filesystem in filesystem::ALL {
        for (factor, of) in FACTORS {
            let names = of(filesystem).names();
            for (index, name) in names.iter().enumerate() {
                assert!(!names[..index].contains(name), "{} {name}", filesystem.name);
                let setup = setup(&[(Factor::Filesystem, filesystem.name), (factor, name)]);
                assert_eq!(setup.unwrap().settings[0].level.name, *name);
            }
        }
    }
}

#[test]
fn a_level_that_another_filesystem_has_is_refused_with_the_way_out() {
    let with = |name| setup(&[(Factor::Filesystem, name), (Factor::Compression, "zstd")]);
    assert!(with("btrfs").is_ok());
    let error = with("xfs").unwrap_err();
    assert_eq!(error.message, "xfs has no level `zstd` of `compression`; it has off");
    let way = "exclude = [{ filesystem = \"xfs\", compression = \"zstd\" }]";
    assert!(error.help.contains(way), "{}", error.help);
    assert!(with("any").unwrap_err().help.contains("name the filesystem"));
}

#[test]
fn a_level_that_no_filesystem_has_is_told_with_those_there_are() {
    let error = setup(&[(Factor::Checksums, "md5")]).unwrap_err();
    assert_eq!(error.message, "`md5` is not a level of `checksums`");
    assert!(error.help.contains("xxhash") && error.help.contains("fletcher4"));
}

#[test]
fn what_the_driver_does_not_do_at_once_is_refused() {
    let of = |checksums, compression| {
        let btrfs = (Factor::Filesystem, "btrfs");
        setup(&[btrfs, (Factor::Checksums, checksums), (Factor::Compression, compression)])
    };
    assert!(of("sha256", "zstd").is_ok() && of("off", "off").is_ok());
    let way = "{ filesystem = \"btrfs\", checksums = \"off\", compression = \"zstd\" }";
    assert!(of("off", "zstd").unwrap_err().help.contains(way));
}

#[test]
fn a_free_option_does_not_say_it_again() {
    for (name, factor, level, (free, text)) in [
        ("ext4", Factor::Checksums, "on", (Factor::Mkfs, "-O ^metadata_csum")),
        ("xfs", Factor::Checksums, "on", (Factor::Mkfs, "-m crc=0")),
        ("btrfs", Factor::Checksums, "crc32c", (Factor::Mkfs, "--csum=xxhash")),
        ("btrfs", Factor::Checksums, "crc32c", (Factor::Mount, "nodatasum")),
        ("btrfs", Factor::Compression, "off", (Factor::Mount, "compress-force=lzo")),
        ("f2fs", Factor::Compression, "lz4", (Factor::Mkfs, "-O extra_attr,compression")),
        ("zfs", Factor::Compression, "on", (Factor::Mkfs, "-Ocompression=off")),
    ] {
        let filesystem = (Factor::Filesystem, name);
        assert!(setup(&[filesystem, (free, text)]).is_ok(), "{name} {text}");
        let error = setup(&[filesystem, (factor, level), (free, text)]).unwrap_err();
        assert_eq!(error.factor, free, "{name} {text}");
        assert!(error.help.contains(factor.name()), "{}", error.help);
    }
}
