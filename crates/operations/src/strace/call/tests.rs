use super::*;

#[test]
fn a_call_is_taken_apart() {
    let text = br#"openat(AT_FDCWD<\x2f\x61>, "\x29\x2c", O_RDWR|O_CREAT, 0640) = 3<\x2f\x61>"#;
    let call = SystemCall::parse(text).unwrap();
    let place = ShownDescriptor { number: None, path: Some(b"/a".to_vec()) };
    assert_eq!((call.name, call.descriptor(0)), ("openat", Some(place)));
    assert_eq!((call.string(1), call.number(3)), (Some(b"),".to_vec()), Some(0o640)));
    assert!(call.has(2, "O_CREAT") && !call.has(2, "O_CREA"));
    assert_eq!(call.result_descriptor().unwrap().number, Some(3));
}

#[test]
fn what_is_gone_has_no_path_and_what_is_cut_is_no_string() {
    let text = br#"write(3<\x2f\x61>(deleted), ""..., 100) = -1 ENOSPC (No space left)"#;
    let call = SystemCall::parse(text).unwrap();
    assert_eq!(call.descriptor(0), Some(ShownDescriptor { number: Some(3), path: None }));
    assert_eq!((call.string(1), call.result()), (None, None));
}

#[test]
fn structures_and_pointers_are_looked_into() {
    let call = SystemCall::parse(
        b"clone3({flags=CLONE_VM|CLONE_FS, exit_signal=0} => {parent_tid=[7]}, 88) = 7",
    )
    .unwrap();
    assert!(has(call.field("flags").unwrap(), "CLONE_FS"));
    let call =
        SystemCall::parse(br"sendfile(5<\x2f>, 3<\x2f>, [16] => [26], 10 /* all */) = 10").unwrap();
    assert_eq!((call.pointed(2), call.number(3)), (Some(16), Some(10)));
    let call = SystemCall::parse(b"clone(child_stack=NULL, flags=CLONE_VM|SIGCHLD) = 9").unwrap();
    assert!(has(call.field("flags").unwrap(), "SIGCHLD"));
}

#[test]
fn numerals_are_those_of_c() {
    let found = [&b"0x7f<"[..], b"022", b"0", b"18446744073709551615"].map(numeral);
    assert_eq!(found, [Some(127), Some(0o22), Some(0), Some(u64::MAX)]);
    assert_eq!(numeral(b"-1 ENOENT"), None);
}
