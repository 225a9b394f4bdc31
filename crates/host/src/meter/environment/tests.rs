use super::*;

#[test]
fn tables_of_the_kernel_are_understood() {
    assert_eq!(memory("MemTotal:       24684092 kB\nMemFree: 1 kB\n"), 24_684_092 * 1024);
    assert_eq!(field("model name\t: A CPU @ 2 GHz\n", "model name").unwrap(), "A CPU @ 2 GHz");
    assert_eq!(distribution("NAME=x\nPRETTY_NAME=\"Debian 12\"\n"), "Debian 12");
    assert_eq!(memory(""), 0);
}
