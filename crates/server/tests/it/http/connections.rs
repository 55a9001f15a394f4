//! Real connections: slow clients, idle clients, many clients, pipelining and shutdown.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use server::{HttpConfig, Listeners, ShutdownReport, Timeouts};
use testkit::HANG_LIMIT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::http::test_server::TestServer;

pub(crate) struct Served {
    pub(crate) server: TestServer,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<ShutdownReport>,
}

/// A timeout that no test reaches.
const NEVER: Duration = Duration::from_hours(24);
/// A short timeout that a test waits for.
const SOON: Duration = Duration::from_millis(400);

/// Timeouts that no test reaches. Each test shortens only the timeout under test, so that on a busy machine no other one expires
/// first.
fn unlimited() -> Timeouts {
    Timeouts {
        headers: NEVER,
        idle: NEVER,
        body: NEVER,
        request: NEVER,
        write: NEVER,
        drain: NEVER,
    }
}

pub(crate) async fn serve(settings: HttpConfig) -> Served {
    serve_with(settings, None).await
}

pub(crate) async fn serve_with(settings: HttpConfig, ops: Option<TcpListener>) -> Served {
    let server = TestServer::with_config(settings).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let task = tokio::spawn({
        let (app, stop) = (server.app.clone(), stop.clone());
        let listeners = Listeners { api: listener, ops };
        async move { server::serve(&app, listeners, stop).await }
    });
    Served {
        server,
        address,
        stop,
        task,
    }
}

async fn serve_within(timeouts: Timeouts) -> Served {
    serve(HttpConfig {
        timeouts,
        ..HttpConfig::default()
    })
    .await
}

async fn served() -> Served {
    serve_within(unlimited()).await
}

impl Served {
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Opens a connection from another loopback address.
    pub(crate) async fn connect_from(&self, address: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let key = &self.server.key;
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n")
    }
}

/// Reads until the server closes.
pub(crate) async fn to_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let reading = stream.read_to_end(&mut text);
    // An aborted connection may end in an error.
    let _ = tokio::time::timeout(HANG_LIMIT, reading)
        .await
        .expect("it is closed in the end");
    String::from_utf8(text).unwrap()
}

/// Reads until `count` responses are received.
pub(crate) async fn read_responses(stream: &mut TcpStream, count: usize) -> String {
    let mut text = String::new();
    let mut piece = [0; 4096];
    while text.matches(r#""success":true"#).count() < count {
        let read = tokio::time::timeout(HANG_LIMIT, stream.read(&mut piece)).await.unwrap();
        let read = read.unwrap();
        assert_ne!(read, 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    text
}

#[tokio::test]
async fn endless_head_times_out() {
    let served = serve_within(Timeouts {
        headers: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn connection_survives_a_refusal_before_the_body() {
    let served = served().await;
    let mut stream = served.connect().await;
    let head = "POST /v1/nonsense HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    // The error is ready long before the body, which is sent after another request.
    let _ = served.server.get("/v1/alerts").await.ok(200);
    stream.write_all(b"{}").await.unwrap();
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let text = read_responses(&mut stream, 1).await;
    assert!(
        text.starts_with("HTTP/1.1 404") && text.contains("HTTP/1.1 200"),
        "{text}"
    );
}

#[tokio::test]
async fn refusal_without_the_body_closes_the_connection() {
    let served = serve(HttpConfig::default()).await;
    let mut stream = served.connect().await;
    for length in [2, 1_000_000] {
        let head = format!("POST /v1/nonsense HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = to_end(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 404"), "{length}: {response}");
        stream = served.connect().await;
    }
}

/// Waits for the duration of the head timeout, with an incomplete head.
async fn wait_for_head_timeout(served: &Served) {
    let mut stream = served.connect().await;
    stream.write_all(b"GET /v1").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn idle_connection_outlasts_the_head_timeout() {
    let served = serve_within(Timeouts {
        headers: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    for _ in 0..2 {
        stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = read_responses(&mut stream, 1).await;
        wait_for_head_timeout(&served).await;
    }
}

#[tokio::test]
async fn idle_connection_is_closed_after_the_idle_timeout() {
    let served = serve_within(Timeouts {
        idle: SOON,
        ..unlimited()
    })
    .await;
    let mut silent = served.connect().await;
    assert_eq!(to_end(&mut silent).await, "", "without any request");
    let mut used = served.connect().await;
    used.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    assert!(to_end(&mut used).await.starts_with("HTTP/1.1 200"), "after a request");
}

#[tokio::test]
async fn connection_with_a_separate_body_is_kept() {
    let served = serve_within(Timeouts {
        headers: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    let key = &served.server.key;
    let head = format!(
        "POST /v1/market/ingest HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    wait_for_head_timeout(&served).await;
    stream.write_all(b"{}").await.unwrap();
    let _ = read_responses(&mut stream, 1).await;
    wait_for_head_timeout(&served).await;
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut stream, 1).await;
    stream.write_all(b"GET /v1").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "", "but a head that never ends is not");
}

#[tokio::test]
async fn slow_body_is_rejected_in_the_envelope() {
    let served = serve_within(Timeouts {
        body: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    let key = &served.server.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let response = to_end(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 503"), "{response}");
    assert!(response.contains("SERVICE_UNAVAILABLE"), "{response}");
}

#[tokio::test]
async fn oversized_content_length_is_rejected_early() {
    let served = served().await;
    let mut stream = served.connect().await;
    let key = &served.server.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let response = to_end(&mut stream).await;
    assert!(
        response.starts_with("HTTP/1.1 413") && response.contains("PAYLOAD_TOO_LARGE"),
        "{response}"
    );
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let served = served().await;
    let mut stream = served.connect().await;
    let ids: Vec<String> = (0..20).map(|number| format!("request-{number}")).collect();
    let requests: String = ids
        .iter()
        .map(|id| {
            let request = served.get("/v1/alerts");
            format!("{}X-Request-Id: {id}\r\n\r\n", request.strip_suffix("\r\n").unwrap())
        })
        .collect();
    stream.write_all(requests.as_bytes()).await.unwrap();
    let text = read_responses(&mut stream, ids.len()).await;
    let places: Vec<_> = ids.iter().map(|id| text.find(&format!("{id}\r\n")).unwrap()).collect();
    assert!(places.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_do_not_block_requests() {
    let served = serve(HttpConfig {
        max_connections_per_address: 2_000,
        ..HttpConfig::default()
    })
    .await;
    let mut idle = Vec::new();
    // The limit of open files bounds the count, because both ends are in this process.
    while idle.len() < 1000
        && let Ok(stream) = TcpStream::connect(served.address).await
    {
        idle.push(stream);
    }
    idle.truncate(idle.len().saturating_sub(20));
    assert!(idle.len() >= 400, "only {} connections could be made", idle.len());
    let mut stream = served.connect().await;
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut stream, 1).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_with_a_separate_health_listener() {
    let settings = HttpConfig {
        max_connections: 1,
        ..HttpConfig::default()
    };
    let ops = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = serve_with(settings, Some(ops)).await;
    let mut first = served.connect().await;
    first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut first, 1).await;
    let mut second = served.connect().await;
    second.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    // The first connection is served, the second waits.
    for _ in 0..10 {
        first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = read_responses(&mut first, 1).await;
    }
    let waiting = second.try_read(&mut [0; 16]);
    assert!(
        waiting.is_err_and(|error| error.kind() == ErrorKind::WouldBlock),
        "it waits"
    );
    drop(first);
    let _ = read_responses(&mut second, 1).await;
}

#[tokio::test]
async fn shutdown_closes_idle_connections() {
    let served = served().await;
    let mut idle = served.connect().await;
    let mut used = served.connect().await;
    used.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut used, 1).await;
    served.stop.cancel();
    assert_eq!(to_end(&mut idle).await, "");
    assert_eq!(to_end(&mut used).await, "");
    assert_eq!(served.task.await.unwrap(), ShutdownReport { aborted_connections: 0 });
    assert!(
        TcpStream::connect(served.address).await.is_err(),
        "nothing new is accepted"
    );
}

/// Returns two connections, each with a request whose body is pending.
async fn two_requests_in_progress(served: &Served) -> [TcpStream; 2] {
    let key = &served.server.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    let mut streams = [served.connect().await, served.connect().await];
    for stream in &mut streams {
        stream.write_all(head.as_bytes()).await.unwrap();
    }
    // Both are in progress once a later request gets its response.
    let mut later = served.connect().await;
    later.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut later, 1).await;
    streams
}

#[tokio::test]
async fn shutdown_finishes_requests_in_progress() {
    let served = served().await;
    let mut streams = two_requests_in_progress(&served).await;
    served.stop.cancel();
    for stream in &mut streams {
        stream.write_all(b"{}").await.unwrap();
        let response = to_end(stream).await;
        assert!(response.starts_with("HTTP/1.1 422"), "{response}");
    }
    assert_eq!(served.task.await.unwrap(), ShutdownReport { aborted_connections: 0 });
}

#[tokio::test]
async fn requests_that_outlast_the_drain_timeout_are_aborted() {
    let served = serve_within(Timeouts {
        drain: SOON,
        ..unlimited()
    })
    .await;
    let mut streams = two_requests_in_progress(&served).await;
    served.stop.cancel();
    for stream in &mut streams {
        assert_eq!(to_end(stream).await, "");
    }
    assert_eq!(served.task.await.unwrap(), ShutdownReport { aborted_connections: 2 });
}
