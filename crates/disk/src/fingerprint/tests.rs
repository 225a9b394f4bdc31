use super::*;

#[test]
fn it_is_the_published_hash() {
    // XXH3_128bits of nothing with seed 0, as xxhsum 0.8 prints it.
    let nothing = TraceHasher::default().fingerprint();
    assert_eq!(nothing.to_string(), "99aa06d3014798d86001c324468d497f");
}
