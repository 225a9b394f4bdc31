use super::*;

#[test]
fn a_sync_is_seen_by_its_word() {
    for command in ["cp a b && sync", "dd of=x conv=fsync", "sh -c 'tar x; sync -f .'"] {
        assert!(last(command, &SYNCS) > last(command, &WRITERS), "{command}");
        assert!(last(command, &WRITERS).is_some(), "{command}");
    }
    for command in ["rsync a b", "cp async_notes b", "cat x", "dd of=/mnt/sync/x", "fio --fsync=0"]
    {
        assert_eq!(last(command, &SYNCS), None, "{command}");
    }
    assert!(last("sync; dd of=x", &SYNCS) < last("sync; dd of=x", &WRITERS));
    assert!(last("cp a b; /bin/sync", &SYNCS) > last("/bin/cp a b", &WRITERS));
}
