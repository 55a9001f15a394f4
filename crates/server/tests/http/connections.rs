//! Over real connections: clients that are slow, silent, many or in a hurry.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use server::{Ended, Listeners, Settings, Timeouts};
use testkit::HANG_LIMIT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::World;

pub(crate) struct Served {
    pub(crate) world: World,
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<Ended>,
}

/// Long enough that no test sees it pass.
const NEVER: Duration = Duration::from_hours(24);
/// Short, for the one limit that a test waits for.
const SOON: Duration = Duration::from_millis(400);

/// Limits that no test reaches. Each test shortens the one that it is about, so a busy machine cannot make another one
/// pass first.
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

pub(crate) async fn serve(settings: Settings) -> Served {
    serve_with(settings, None).await
}

pub(crate) async fn serve_with(settings: Settings, ops: Option<TcpListener>) -> Served {
    let world = World::with(settings).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let server = tokio::spawn({
        let (app, stop) = (world.app.clone(), stop.clone());
        let listeners = Listeners { api: listener, ops };
        async move { server::serve(&app, listeners, stop).await }
    });
    Served {
        world,
        address,
        stop,
        server,
    }
}

async fn serve_within(timeouts: Timeouts) -> Served {
    serve(Settings {
        timeouts,
        ..Settings::default()
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

    /// A connection from another address of this machine.
    pub(crate) async fn connect_from(&self, address: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let key = &self.world.key;
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n")
    }
}

/// Reads until the other side closes.
pub(crate) async fn to_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let reading = stream.read_to_end(&mut text);
    // A connection that is cut off may end in an error.
    let _ = tokio::time::timeout(HANG_LIMIT, reading)
        .await
        .expect("it is closed in the end");
    String::from_utf8(text).unwrap()
}

/// Reads until so many answers are there.
pub(crate) async fn answers(stream: &mut TcpStream, count: usize) -> String {
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
async fn a_head_that_never_ends_is_not_waited_for() {
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
async fn who_is_refused_before_the_body_came_can_go_on_asking() {
    let served = served().await;
    let mut stream = served.connect().await;
    let head = "POST /v1/nonsense HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    // The refusal is ready long before the body, which comes when others have had their turn.
    let _ = served.world.get("/v1/alerts").await.ok(200);
    stream.write_all(b"{}").await.unwrap();
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let text = answers(&mut stream, 1).await;
    assert!(
        text.starts_with("HTTP/1.1 404") && text.contains("HTTP/1.1 200"),
        "{text}"
    );
}

#[tokio::test]
async fn who_is_refused_and_does_not_send_the_body_is_answered_and_let_go() {
    let served = serve(Settings::default()).await;
    let mut stream = served.connect().await;
    for length in [2, 1_000_000] {
        let head = format!("POST /v1/nonsense HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = to_end(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{length}: {answer}");
        stream = served.connect().await;
    }
}

/// Waits until a head that never ends has been cut off, which takes as long as a head may take.
async fn let_a_head_time_out(served: &Served) {
    let mut stream = served.connect().await;
    stream.write_all(b"GET /v1").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "");
}

#[tokio::test]
async fn idle_connection_is_kept_for_longer_than_a_head_may_take() {
    let served = serve_within(Timeouts {
        headers: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    for _ in 0..2 {
        stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = answers(&mut stream, 1).await;
        let_a_head_time_out(&served).await;
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
async fn connection_whose_body_comes_after_its_head_is_kept_like_any_other() {
    let served = serve_within(Timeouts {
        headers: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    let key = &served.world.key;
    let head = format!(
        "POST /v1/market/ingest HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let_a_head_time_out(&served).await;
    stream.write_all(b"{}").await.unwrap();
    let _ = answers(&mut stream, 1).await;
    let_a_head_time_out(&served).await;
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut stream, 1).await;
    stream.write_all(b"GET /v1").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "", "but a head that never ends is not");
}

#[tokio::test]
async fn a_body_that_drips_in_is_refused_in_the_envelope() {
    let served = serve_within(Timeouts {
        body: SOON,
        ..unlimited()
    })
    .await;
    let mut stream = served.connect().await;
    let key = &served.world.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = to_end(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("SERVICE_UNAVAILABLE"), "{answer}");
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_refused_before_it_comes() {
    let served = served().await;
    let mut stream = served.connect().await;
    let key = &served.world.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = to_end(&mut stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 413") && answer.contains("PAYLOAD_TOO_LARGE"),
        "{answer}"
    );
}

#[tokio::test]
async fn requests_that_come_one_behind_the_other_are_answered_in_their_order() {
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
    let text = answers(&mut stream, ids.len()).await;
    let places: Vec<_> = ids.iter().map(|id| text.find(&format!("{id}\r\n")).unwrap()).collect();
    assert!(places.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_are_in_nobodys_way() {
    let served = serve(Settings {
        max_connections_per_address: 2_000,
        ..Settings::default()
    })
    .await;
    let mut idle = Vec::new();
    // As far as the machine lets one process go; both ends are in this one.
    while idle.len() < 1000
        && let Ok(stream) = TcpStream::connect(served.address).await
    {
        idle.push(stream);
    }
    idle.truncate(idle.len().saturating_sub(20));
    assert!(idle.len() >= 400, "only {} connections could be made", idle.len());
    let mut stream = served.connect().await;
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut stream, 1).await;
}

#[tokio::test]
async fn beyond_the_cap_connections_wait_where_health_has_its_own_listener() {
    let settings = Settings {
        max_connections: 1,
        ..Settings::default()
    };
    let ops = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let served = serve_with(settings, Some(ops)).await;
    let mut first = served.connect().await;
    first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut first, 1).await;
    let mut second = served.connect().await;
    second.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    // The first connection is served all the while, the second is not.
    for _ in 0..10 {
        first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = answers(&mut first, 1).await;
    }
    let waiting = second.try_read(&mut [0; 16]);
    assert!(
        waiting.is_err_and(|error| error.kind() == ErrorKind::WouldBlock),
        "it waits"
    );
    drop(first);
    let _ = answers(&mut second, 1).await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_closes_what_is_idle_and_ends() {
    let served = served().await;
    let mut idle = served.connect().await;
    let mut used = served.connect().await;
    used.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut used, 1).await;
    served.stop.cancel();
    assert_eq!(to_end(&mut idle).await, "");
    assert_eq!(to_end(&mut used).await, "");
    assert_eq!(served.server.await.unwrap(), Ended { cut_off: 0 });
    assert!(
        TcpStream::connect(served.address).await.is_err(),
        "nothing new is accepted"
    );
}

/// Two connections, each with a request whose body is still to come.
async fn two_requests_in_progress(served: &Served) -> [TcpStream; 2] {
    let key = &served.world.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    let mut streams = [served.connect().await, served.connect().await];
    for stream in &mut streams {
        stream.write_all(head.as_bytes()).await.unwrap();
    }
    // Both are in progress once a request that came later is answered.
    let mut later = served.connect().await;
    later.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut later, 1).await;
    streams
}

#[tokio::test]
async fn requests_in_progress_are_answered_before_the_server_ends() {
    let served = served().await;
    let mut streams = two_requests_in_progress(&served).await;
    served.stop.cancel();
    for stream in &mut streams {
        stream.write_all(b"{}").await.unwrap();
        let answer = to_end(stream).await;
        assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    }
    assert_eq!(served.server.await.unwrap(), Ended { cut_off: 0 });
}

#[tokio::test]
async fn requests_that_outlast_the_drain_timeout_are_cut_off() {
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
    assert_eq!(served.server.await.unwrap(), Ended { cut_off: 2 });
}
