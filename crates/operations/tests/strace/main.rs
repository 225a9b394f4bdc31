//! Checks what becomes of strace's output: of a real program's, and of calls that rarely meet.

use ssdlab_operations::{
    Entry, LeftOut, LogWriter, Omission, ProgramStart, RelativePath, StraceError, StraceRecorder,
    Tree,
};

/// strace 6.1 of a dash script with coreutils and Python, in a directory that is called `/recorded`
/// here; lines that are not about the directory or a process were taken out.
const SHELL: &[u8] = include_bytes!("../fixtures/shell.strace");

/// The log that it is, checked against the script by hand and against the directory by machine.
const SHELL_LOG: &str = include_str!("../fixtures/shell.log");

/// What was recorded: the operations as a log has them, what was left out, the directory after.
struct Recording {
    operations: Vec<String>,
    left_out: LeftOut,
    after: Vec<String>,
}

fn try_record(trace: &[u8], before: &[Entry]) -> Result<Recording, StraceError> {
    let setting = ProgramStart { directory: b"/recorded", umask: 0o022 };
    let tree = Tree::new(before).expect("the entries fit");
    let mut recorder = StraceRecorder::new(trace, setting, tree);
    let mut operations = Vec::new();
    while let Some(operation) = recorder.next_operation()? {
        operations.push(operation.to_string());
    }
    let after = recorder.tree().entries().map(|entry| entry.to_string()).collect();
    Ok(Recording { operations, left_out: recorder.left_out().clone(), after })
}

/// Records lines as strace would print them without `-xx`, so that they can be read here.
fn record(lines: &str, before: &[Entry]) -> Recording {
    let mut trace = String::new();
    let mut end = None;
    let mut characters = lines.chars().peekable();
    while let Some(character) = characters.next() {
        if end.is_some_and(|end| end != character) {
            trace.push_str(&hexadecimal(character.encode_utf8(&mut [0; 4])));
            continue;
        }
        trace.push(character);
        end = match character {
            _ if end.is_some() => None,
            '"' => Some('"'),
            '<' if characters.peek() == Some(&'/') => Some('>'),
            _ => None,
        };
    }
    try_record(trace.as_bytes(), before).expect("strace writes such lines")
}

/// Text as strace prints it with `-xx`.
fn hexadecimal(text: &str) -> String {
    text.bytes().fold(String::new(), |shown, byte| shown + &format!("\\x{byte:02x}"))
}

fn path(path: &str) -> RelativePath {
    RelativePath::new(path.as_bytes()).unwrap()
}

fn file(name: &str, size_bytes: u64) -> Entry {
    Entry::File { mode: 0o644, size_bytes, path: path(name) }
}

fn directory(name: &str) -> Entry {
    Entry::Directory { mode: 0o755, path: path(name) }
}

#[test]
fn a_real_program_becomes_the_log_it_should() {
    let before = [file("both", 4), directory("keep")];
    let setting = ProgramStart { directory: b"/recorded", umask: 0o022 };
    let mut recorder = StraceRecorder::new(SHELL, setting, Tree::new(&before).unwrap());
    let mut operations = Vec::new();
    while let Some(operation) = recorder.next_operation().unwrap() {
        operations.push(operation);
    }
    let title = "a shell script".to_owned();
    let header = ssdlab_operations::LogHeader { title, left_out: recorder.left_out().clone() };
    let mut log = LogWriter::new(Vec::new(), &header, &before).unwrap();
    for operation in &operations {
        log.append(operation).unwrap();
    }
    let log = String::from_utf8(log.finish().unwrap()).unwrap();
    assert_eq!(log, SHELL_LOG);
    let after: Vec<_> = recorder.tree().entries().map(|entry| entry.to_string()).collect();
    let expected = [
        "directory 750 a",
        "directory 750 a/b",
        "file 644 4 both",
        "file 750 22 copy",
        "file 640 22 hard",
        "directory 755 keep",
        "symlink a/b l",
        "file 4751 4 sp\\x20ace",
    ];
    assert_eq!(after, expected);
}

#[test]
fn offsets_are_those_of_the_open_file_however_many_share_it() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "f", O_RDWR|O_CREAT, 0666) = 3</recorded/f>
1 write(3</recorded/f>, ""..., 10) = 10
1 dup2(3</recorded/f>, 7) = 7</recorded/f>
1 write(7</recorded/f>, ""..., 5) = 5
1 clone(child_stack=NULL, flags=SIGCHLD) = 2
2 write(3</recorded/f>, ""..., 1) = 1
1 close(3</recorded/f>) = 0
1 close(7</recorded/f>) = 0
2 +++ killed by SIGKILL +++
"#,
        &[],
    );
    let expected =
        ["create 0 read,write 644 f", "write 0 0 10", "write 0 10 5", "write 0 15 1", "close 0"];
    assert_eq!(found.operations, expected);
}

#[test]
fn equal_calls_behind_one_another_are_one_line() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "f", O_WRONLY|O_APPEND) = 3</recorded/f>
1 write(3</recorded/f>, ""..., 8) = 8
1 write(3</recorded/f>, ""..., 8) = 8
1 pwrite64(3</recorded/f>, ""..., 8, 0) = 8
1 write(3</recorded/f>, ""..., 9) = 9
1 fdatasync(3</recorded/f>) = 0
1 write(3</recorded/f>, ""..., 9) = 9
"#,
        &[file("f", 100)],
    );
    let expected = [
        "open 0 write,append f",
        "write 0 100 8 3",
        "write 0 124 9",
        "fdatasync 0",
        "write 0 133 9",
    ];
    assert_eq!(found.operations, expected);
}

#[test]
fn links_are_followed_where_the_kernel_follows_them() {
    let link = Entry::Symlink { target: Box::from(*b"../recorded/d"), path: path("l") };
    let found = record(
        r#"1 mkdir("l/../l/new", 0777) = 0
1 unlinkat(AT_FDCWD</recorded>, "/recorded/l/f", 0) = 0
1 lstat("l", {st_mode=S_IFLNK|0777}) = 0
1 stat("l", {st_mode=S_IFDIR|0755}) = 0
1 chdir("l") = 0
1 rmdir("new") = 0
1 rename("../l", "../../elsewhere/l") = 0
"#,
        &[directory("d"), file("d/f", 1), link],
    );
    // `l/..` is where the link leads, and up from there.
    let expected = ["mkdir 755 d/new", "unlink d/f", "stat l", "stat d", "rmdir d/new", "unlink l"];
    assert_eq!(found.operations, expected);
    assert_eq!(found.left_out.iter().collect::<Vec<_>>(), [(Omission::MovedOut, 1)]);
}

#[test]
fn a_program_may_go_elsewhere_and_come_back() {
    let found = record(
        r#"1 chdir("../elsewhere/deep") = 0
1 mkdir("outside", 0777) = 0
1 chdir("../..") = 0
1 chdir("recorded") = 0
1 mkdir("inside", 0777) = 0
1 chdir("/link/to/somewhere") = 0
1 faccessat(AT_FDCWD</recorded/inside>, "/etc/passwd", R_OK) = 0
1 mkdir("deeper", 0777) = 0
"#,
        &[],
    );
    assert_eq!(found.operations, ["mkdir 755 inside", "mkdir 755 inside/deeper"]);
}

#[test]
fn a_child_may_be_seen_before_its_parent_says_so() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "f", O_WRONLY|O_CREAT|O_CLOEXEC, 0600) = 3</recorded/f>
1 vfork( <unfinished ...>
2 dup2(3</recorded/f>, 1) = 1</recorded/f>
2 vfork( <unfinished ...>
3 write(1</recorded/f>, ""..., 1) = 1
3 +++ exited with 0 +++
2 <... vfork resumed>) = 3
2 mkdir("after", 0700) = 0
2 execve("/bin/true", [...], 0x1) = 0
1 <... vfork resumed>) = 2
1 close(3</recorded/f>) = 0
2 write(1</recorded/f>, ""..., 2) = 2
2 +++ exited with 0 +++
"#,
        &[],
    );
    let expected =
        ["create 0 write 600 f", "write 0 0 1", "mkdir 700 after", "write 0 1 2", "close 0"];
    assert_eq!(found.operations, expected);
    assert_eq!(found.left_out, LeftOut::default());
}

#[test]
fn threads_share_descriptors_and_a_late_close_closes_nothing() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "a", O_RDONLY) = 3</recorded/a>
1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {parent_tid=[2]}, 88) = 2
1 close(3</recorded/a> <unfinished ...>
2 openat(AT_FDCWD</recorded>, "b", O_RDONLY) = 3</recorded/b>
1 <... close resumed>) = 0
1 read(3</recorded/b>, ""..., 100) = 7
2 +++ exited with 0 +++
1 +++ exited with 0 +++
"#,
        &[file("a", 5), file("b", 7)],
    );
    let expected = ["open 0 read a", "close 0", "open 0 read b", "read 0 0 7", "close 0"];
    assert_eq!(found.operations, expected);
}

#[test]
fn mappings_are_read_as_far_as_the_file_goes() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "f", O_RDWR) = 3</recorded/f>
1 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3</recorded/f>, 0x1000) = 0x7f0000000000
1 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 3</recorded/f>, 0) = 0x7f0000002000
"#,
        &[file("f", 5000)],
    );
    assert_eq!(found.operations, ["open 0 read,write f", "read 0 4096 904"]);
    assert_eq!(found.left_out.count(Omission::SharedMapping), 1);
}

#[test]
fn a_mode_may_be_set_by_an_access_control_list_or_through_proc() {
    let list = "\\x02\\x00\\x00\\x00\
        \\x01\\x00\\x07\\x00\\xff\\xff\\xff\\xff\
        \\x04\\x00\\x05\\x00\\xff\\xff\\xff\\xff\
        \\x20\\x00\\x00\\x00\\xff\\xff\\xff\\xff";
    let [at, name, f, proc] =
        ["/recorded", "system.posix_acl_access", "/recorded/f", "/proc/self/fd/3"].map(hexadecimal);
    let trace = format!(
        "1 setxattr(\"{f}\", \"{name}\", \"{list}\", 28, 0) = 0\n\
         1 openat(AT_FDCWD<{at}>, \"{f}\", O_RDONLY|O_PATH) = 3<{f}>\n\
         1 chmod(\"{proc}\", 0600) = 0\n"
    );
    let found = try_record(trace.as_bytes(), &[file("f", 0)]).unwrap();
    assert_eq!(found.operations, ["chmod 750 f", "stat f", "chmod 600 f"]);
    assert_eq!(found.after, ["file 600 0 f"]);
}

#[test]
fn what_cannot_be_said_is_counted_and_what_failed_is_not() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "gone", O_RDONLY) = 3</recorded/gone>
1 read(3</recorded/gone>, ""..., 10) = 10
1 unlink("f") = -1 EPERM (Operation not permitted)
1 mknodat(AT_FDCWD</recorded>, "p", S_IFIFO|0666) = 0
1 rename("/elsewhere/x", "x") = 0
1 chown("f", 1, 1) = 0
1 sync_file_range(9</recorded/f>, 0, 0, 0) = 0
1 openat(AT_FDCWD</recorded>, ".", O_RDWR|O_TMPFILE, 0600) = 4</recorded/#1>(deleted)
1 unlink("/elsewhere/f") = 0
77 unlink("f") = 0
"#,
        &[file("f", 1)],
    );
    assert_eq!(found.operations, ["unlink f"]);
    let expected = [
        (Omission::DoesNotFit, 1),
        (Omission::MovedIn, 1),
        (Omission::Ownership, 1),
        (Omission::SpecialFile, 1),
        (Omission::UnnamedFile, 1),
        (Omission::UnknownCall, 1),
        (Omission::UnknownDescriptor, 1),
        (Omission::UnknownParent, 1),
    ];
    assert_eq!(found.left_out.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_thread_that_executes_a_program_goes_on_as_its_process() {
    let found = record(
        r#"1 openat(AT_FDCWD</recorded>, "f", O_RDONLY) = 3</recorded/f>
1 openat(AT_FDCWD</recorded>, "g", O_RDONLY) = 4</recorded/g>
1 ioctl(4</recorded/g>, FIOCLEX) = 0
1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD} => {parent_tid=[2]}, 88) = 2
2 execve("/recorded/f", [...], 0x1 <unfinished ...>
1 +++ superseded by execve in pid 2 +++
1 <... execve resumed>) = 0
1 read(3</recorded/f>, ""..., 10) = 9
1 +++ exited with 0 +++
"#,
        &[file("f", 9), file("g", 9)],
    );
    let expected = ["open 0 read f", "open 1 read g", "close 1", "read 0 0 9", "close 0"];
    assert_eq!(found.operations, expected);
    assert_eq!(found.left_out.iter().collect::<Vec<_>>(), [(Omission::Executed, 1)]);
}

#[test]
fn other_text_is_refused_with_its_line() {
    let error = try_record(b"1 sync() = 0\nmake: nothing to be done\n", &[]).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("line 2") && message.contains("nothing to be done"), "{message}");
}

#[test]
fn a_cut_last_line_is_no_call() {
    let found = record("1 mkdir(\"a\", 0777) = 0\n1 mkdir(\"b\", 0777) = 0", &[]);
    assert_eq!(found.operations, ["mkdir 755 a"]);
}
