use super::*;

#[test]
fn paths_outside_the_roots_are_hashed() {
    let roots = [PathBuf::from("/srv")];
    assert_eq!(hidden("/srv/a", &roots), "/srv/a");
    let other = hidden("/home/me/secret", &roots);
    assert!(other.starts_with("(file ") && !other.contains("secret"), "{other}");
    assert_ne!(other, hidden("/home/me/other", &roots));
}
