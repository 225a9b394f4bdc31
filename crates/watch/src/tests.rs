use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::*;

fn watch() -> Watch {
    Watch::serve(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap()
}

fn ask(watch: &Watch, line: &str, host: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(watch.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(stream, "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    BufReader::new(stream)
}

fn answer(watch: &Watch, line: &str, host: &str) -> String {
    let mut text = String::new();
    ask(watch, line, host).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let watch = watch();
    for path in ["/", "/page.css", "/page.js"] {
        let text = answer(&watch, &format!("GET {path}"), "localhost:1");
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        assert!(text.contains("default-src 'none'"), "{text}");
        let body = text.split_once("\r\n\r\n").unwrap().1;
        assert!(!body.contains("://") && !body.contains("=\"//"), "{body}");
    }
}

#[test]
fn nothing_can_be_written_and_nobody_is_answered_who_asks_for_another_name() {
    let watch = watch();
    let host = watch.address().to_string();
    assert!(answer(&watch, "POST /", &host).starts_with("HTTP/1.1 405"));
    assert!(answer(&watch, "DELETE /states", &host).starts_with("HTTP/1.1 405"));
    assert!(answer(&watch, "GET /../Cargo.toml", &host).starts_with("HTTP/1.1 404"));
    for host in ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"] {
        assert!(answer(&watch, "GET /states", host).starts_with("HTTP/1.1 403"), "{host}");
    }
    for host in ["127.0.0.1:80", "[::1]:80", "[::1]", "localhost", "10.1.2.3"] {
        assert!(answer(&watch, "GET /", host).starts_with("HTTP/1.1 200"), "{host}");
    }
}

#[test]
fn a_browser_sees_the_last_state_and_each_that_follows_until_the_end() {
    let watch = watch();
    watch.show("{\"number\":1}");
    let host = watch.address().to_string();
    let mut lines = ask(&watch, "GET /states", &host).lines().map_while(Result::ok);
    let mut next = || lines.find_map(|line| Some(line.strip_prefix("data: ")?.to_owned()));
    assert_eq!(next().unwrap(), "{\"number\":1}");
    watch.show("{\"number\":2}");
    assert_eq!(next().unwrap(), "{\"number\":2}");
    watch.show("{\"number\":3}");
    drop(watch);
    assert_eq!(next().as_deref(), Some("{\"number\":3}"));
    assert_eq!(next(), None);
}

#[test]
fn charts_are_events_of_their_own_until_the_end() {
    let watch = watch();
    watch.draw("[1]");
    let host = watch.address().to_string();
    let mut lines = ask(&watch, "GET /states", &host).lines().map_while(Result::ok);
    let mut charts = || {
        lines.find(|line| line == "event: charts")?;
        lines.next()
    };
    assert_eq!(charts().as_deref(), Some("data: [1]"));
    watch.draw("[1,2]");
    drop(watch);
    assert_eq!(charts().as_deref(), Some("data: [1,2]"));
    assert_eq!(charts(), None);
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let watch = watch();
    let error = Watch::serve(watch.address()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
}
