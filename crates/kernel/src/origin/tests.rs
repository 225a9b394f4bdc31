use super::*;

fn chosen(names: &[&str]) -> Result<String, KernelError> {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let source = LinuxSource::installed(folder.path())?;
    assert_eq!((source.kind, source.sha256.unwrap().len()), (SourceKind::Tarball, 64));
    Ok(source.path.file_name().unwrap().to_string_lossy().into_owned())
}

#[test]
fn linux_6_1_is_preferred_then_the_newest_that_suits() {
    let all = ["linux-source-6.12.tar.xz", "linux-source-6.1.tar.xz", "linux-source-6.9.tar.xz"];
    assert_eq!(chosen(&all).unwrap(), "linux-source-6.1.tar.xz");
    let newer = ["linux-source-6.8.0.tar.bz2", "linux-source-6.12.tar.xz", "gtest"];
    assert_eq!(chosen(&newer).unwrap(), "linux-source-6.12.tar.xz");
    assert_eq!(chosen(&newer[..1]).unwrap(), "linux-source-6.8.0.tar.bz2");
    let newest = ["linux-source-7.3.tar.xz", "linux-source-6.12.tar.xz"];
    assert_eq!(chosen(&newest).unwrap(), "linux-source-6.12.tar.xz");
    assert_eq!(chosen(&newest[..1]).unwrap(), "linux-source-7.3.tar.xz");
}

#[test]
fn what_does_not_suit_is_named() {
    let message = chosen(&["linux-source-5.10.tar.xz"]).unwrap_err().to_string();
    assert!(message.contains("found linux-source-5.10.tar.xz"), "{message}");
    assert!(message.contains("and linux-source-7.3.tar.*"), "{message}");
    assert!(chosen(&[]).unwrap_err().to_string().contains("found none"));
}

#[test]
fn a_checksum_is_what_sha256sum_prints() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, "abc").unwrap();
    // FIPS 180-2, appendix B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(checksum(file.path()).unwrap(), expected);
}
