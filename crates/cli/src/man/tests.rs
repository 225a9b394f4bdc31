use super::*;
use crate::command_line;

#[test]
fn pages_name_the_version_and_have_examples_or_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let pages = Pages { folder: folder.path().to_owned() };
    pages.run(command_line()).unwrap();
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let version = concat!("\"ssdlab ", env!("CARGO_PKG_VERSION"), "\"");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = page(&name);
        let title = text.lines().find(|line| line.starts_with(".TH")).unwrap();
        assert!(title.contains(version), "{title}");
        let section = if name == "ssdlab.1" { ".SH \"EXIT STATUS\"" } else { ".SH EXAMPLES" };
        assert!(text.contains(section), "{name}: {text}");
    }
    assert!(page("ssdlab-drive-check.1").contains("ssdlab drive check my\\-drive.toml"));
    assert!(!folder.path().join("ssdlab-guest.1").exists());
}
