use super::*;
use crate::mounts;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(controllers: &str, turned_on: &str) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        tree.write("cgroup.controllers", controllers);
        tree.write("cgroup.subtree_control", turned_on);
        tree
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join("sys/fs/cgroup").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn find(&self) -> CgroupTree {
        let table = self.0.path().join("mountinfo");
        fs::write(&table, "40 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n").unwrap();
        CgroupTree::find(self.0.path(), &mounts::listed_in(&table).unwrap())
    }
}

#[test]
fn it_is_known_whether_cgroups_are_counted() {
    let of = |controllers, on| Tree::new(controllers, on).find().accounting;
    assert_eq!(of("cpu io memory\n", "cpu io\n"), IoAccounting::On);
    assert_eq!(of("cpu io memory\n", "cpu\n"), IoAccounting::Off);
    assert_eq!(of("hugetlb\n", "\n"), IoAccounting::NoController);
    assert_eq!(CgroupTree::find(Path::new("/"), &[]).accounting, IoAccounting::NoCgroup2);
}

#[test]
fn what_is_gone_stays_with_the_slice() {
    let tree = Tree::new("io", "io");
    let stat =
        |bytes: u64| format!("8:0 rbytes=1 wbytes=7\n259:0 rbytes=5 wbytes={bytes} rios=1\n");
    tree.write("system.slice/io.stat", &stat(1000));
    tree.write("system.slice/a.service/io.stat", &stat(600));
    tree.write("system.slice/b.service/io.stat", &stat(100));
    tree.write("system.slice/b.service/inner/io.stat", &stat(50));
    tree.write("user.slice/io.stat", &stat(300));
    let writes = tree.find().writes("259:0");
    let rows: Vec<(&str, u64, bool)> =
        writes.iter().map(|row| (row.cgroup.as_str(), row.written_bytes, row.is_rest)).collect();
    assert_eq!(
        rows,
        [
            ("system.slice/a.service", 600, false),
            ("system.slice", 300, true),
            ("user.slice", 300, false),
            ("system.slice/b.service", 100, false),
        ]
    );
    assert_eq!(tree.find().writes("1:1"), []);
}

#[test]
fn lines_without_counters_count_nothing() {
    for text in ["", "259:0", "259:0 \n", "259:0 wbytes=x", "(unknown) wbytes=1", "9:0 wbytes=1"] {
        assert_eq!(written_bytes(text, "259:0"), None, "{text}");
    }
    assert_eq!(written_bytes("259:0 rbytes=1 wbytes=2", "259:0"), Some(2));
}
