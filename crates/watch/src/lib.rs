//! A read-only live page of a run.
//!
//! A browser gets the page and then, by server-sent events (HTML Living Standard, section 9.2),
//! each state of the run and each new set of charts. This room does not know what they contain.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::{Router, routing};
use tokio::runtime::{self, Runtime};
use tokio::sync::watch;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;

/// The content security policy: browsers load only what is served here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'";

/// The maximum wait for browsers at the end.
const FAREWELL: Duration = Duration::from_secs(1);

/// The page, while it is served.
#[derive(Debug)]
pub struct Watch {
    address: SocketAddr,
    /// `None` when there is no more to show: then the server ends, too.
    showing: Option<Showing>,
    server: Option<JoinHandle<()>>,
}

impl Watch {
    /// Serves the page at an address; port 0 lets the kernel choose one.
    pub fn serve(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (state, states) = watch::channel(Arc::from("{}"));
        let (charts, drawn) = watch::channel(Arc::from(""));
        let shown = Shown { states, charts: drawn };
        let server = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || serve(&runtime, listener, shown))?;
        let showing = Some(Showing { charts, state });
        Ok(Self { address, showing, server: Some(server) })
    }

    /// Where it is served.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Publishes a new state, a JSON object; browsers that connect later see only the last.
    pub fn show(&self, state: &str) {
        if let Some(showing) = &self.showing {
            showing.state.send_replace(Arc::from(state));
        }
    }

    /// Publishes new charts, a JSON array; browsers that connect later see only the last.
    pub fn draw(&self, charts: &str) {
        if let Some(showing) = &self.showing {
            showing.charts.send_replace(Arc::from(charts));
        }
    }
}

/// What this process shows. The charts end before the states, with which the server ends.
#[derive(Debug)]
struct Showing {
    charts: watch::Sender<Arc<str>>,
    state: watch::Sender<Arc<str>>,
}

/// What browsers are shown.
#[derive(Debug, Clone)]
struct Shown {
    states: watch::Receiver<Arc<str>>,
    charts: watch::Receiver<Arc<str>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Streams end after the last state, and then the server.
        self.showing = None;
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn serve(runtime: &Runtime, listener: TcpListener, shown: Shown) {
    runtime.block_on(async {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let states = shown.states.clone();
        let end = end_of(states.clone());
        let server = axum::serve(listener, pages(shown)).with_graceful_shutdown(end);
        tokio::select! {
            _ = server => {}
            () = async { end_of(states).await; tokio::time::sleep(FAREWELL).await } => {}
        }
    });
}

/// Waits until there are no more states.
async fn end_of(mut states: watch::Receiver<Arc<str>>) {
    while states.changed().await.is_ok() {}
}

fn pages(shown: Shown) -> Router {
    let page = |kind: &'static str, text: &'static str| {
        routing::get(move || async move { ([(CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/", page("text/html; charset=utf-8", include_str!("page.html")))
        .route("/page.css", page("text/css", include_str!("page.css")))
        .route("/page.js", page("text/javascript", include_str!("page.js")))
        .route("/states", routing::get(stream))
        .with_state(shown)
        .layer(middleware::from_fn(guard))
}

async fn stream(State(shown): State<Shown>) -> impl IntoResponse {
    let states = WatchStream::new(shown.states).map(|state| Event::default().data(&*state));
    let charts = WatchStream::new(shown.charts).filter(|charts| !charts.is_empty());
    let charts = charts.map(|charts| Event::default().event("charts").data(&*charts));
    Sse::new(states.merge(charts).map(Ok::<_, io::Error>)).keep_alive(KeepAlive::default())
}

/// Answers only requests addressed by IP address. A foreign page whose name was made to resolve
/// here (DNS rebinding) uses that name.
async fn guard(request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_an_address) {
        let says = "use the address that `ssdlab run --watch` shows, not another name\n";
        return (StatusCode::FORBIDDEN, says).into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY.parse().expect("it is plain text"));
    headers.insert(CACHE_CONTROL, "no-store".parse().expect("it is plain text"));
    response
}

fn is_an_address(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests;
