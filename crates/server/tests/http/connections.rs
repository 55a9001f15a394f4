//! Over real connections: clients that are slow, silent, many or in a hurry.

use std::net::SocketAddr;
use std::time::Duration;

use server::{Ended, Listeners, Settings, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::World;

struct Served {
    world: World,
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<Ended>,
}

/// Short, so that no test takes long; each is longer than a loaded machine's hiccup.
fn timeouts() -> Timeouts {
    Timeouts {
        headers: Duration::from_millis(400),
        idle: Duration::from_millis(1500),
        body: Duration::from_millis(400),
        drain: Duration::from_millis(800),
        ..Timeouts::default()
    }
}

async fn serve(settings: Settings) -> Served {
    let world = World::with(settings).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let server = tokio::spawn({
        let (app, stop) = (world.app.clone(), stop.clone());
        let listeners = Listeners {
            api: listener,
            ops: None,
        };
        async move { server::serve(&app, listeners, stop).await }
    });
    Served {
        world,
        address,
        stop,
        server,
    }
}

async fn served() -> Served {
    serve(Settings {
        timeouts: timeouts(),
        ..Settings::default()
    })
    .await
}

impl Served {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    fn get(&self, path: &str) -> String {
        let key = &self.world.key;
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n")
    }
}

/// Reads until the other side closes.
async fn to_end(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let reading = stream.read_to_end(&mut text);
    // A connection that is cut off may end in an error.
    let _ = tokio::time::timeout(Duration::from_secs(20), reading)
        .await
        .expect("it is closed in the end");
    String::from_utf8(text).unwrap()
}

/// Reads until so many answers are there.
async fn answers(stream: &mut TcpStream, count: usize) -> String {
    let mut text = String::new();
    let mut piece = [0; 4096];
    while text.matches(r#""success":true"#).count() < count {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut piece))
            .await
            .unwrap();
        let read = read.unwrap();
        assert_ne!(read, 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&piece[..read]).unwrap());
    }
    text
}

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let served = served().await;
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

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_closed_after_a_while_and_not_before() {
    let served = served().await;
    let mut stream = served.connect().await;
    stream.write_all(served.get("/healthz").as_bytes()).await.unwrap();
    let mut piece = [0; 4096];
    assert!(stream.read(&mut piece).await.unwrap() > 0);
    // Longer than a head may take, shorter than a connection may be idle.
    let quiet = tokio::time::timeout(Duration::from_millis(700), stream.read(&mut piece)).await;
    assert!(quiet.is_err(), "it is kept");
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut stream, 1).await;
    assert_eq!(to_end(&mut stream).await, "");
    let mut silent = served.connect().await;
    assert_eq!(to_end(&mut silent).await, "", "also one that never asked anything");
}

#[tokio::test]
async fn a_connection_whose_body_came_apart_from_its_head_is_kept_like_any_other() {
    let served = served().await;
    let mut stream = served.connect().await;
    let key = &served.world.key;
    let head = format!(
        "POST /v1/market/ingest HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // Nothing is answered before the body is there, so this is how long the head is alone.
    let mut piece = [0; 4096];
    let waiting = tokio::time::timeout(Duration::from_millis(100), stream.read(&mut piece)).await;
    assert!(waiting.is_err(), "it waits for the body");
    stream.write_all(b"{}").await.unwrap();
    let _ = answers(&mut stream, 1).await;
    // Longer than a head may take, shorter than a connection may be idle.
    let quiet = tokio::time::timeout(Duration::from_millis(700), stream.read(&mut piece)).await;
    assert!(quiet.is_err(), "it is kept");
    stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut stream, 1).await;
    stream.write_all(b"GET /v1").await.unwrap();
    assert_eq!(to_end(&mut stream).await, "", "but a head that never ends is not");
}

#[tokio::test]
async fn a_body_that_drips_in_is_refused_in_the_envelope() {
    let served = served().await;
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
    let served = serve(Settings::default()).await;
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
async fn who_comes_beyond_the_cap_waits_until_somebody_leaves() {
    let served = serve(Settings {
        max_connections: 1,
        ..Settings::default()
    })
    .await;
    let mut first = served.connect().await;
    first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut first, 1).await;
    let mut second = served.connect().await;
    second.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let mut piece = [0; 16];
    let waiting = tokio::time::timeout(Duration::from_millis(200), second.read(&mut piece)).await;
    assert!(waiting.is_err(), "it waits");
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

#[tokio::test]
async fn a_request_under_way_is_answered_and_one_that_takes_too_long_is_cut_off() {
    let served = serve(Settings {
        timeouts: Timeouts {
            body: Duration::from_secs(600),
            ..timeouts()
        },
        ..Settings::default()
    })
    .await;
    let key = &served.world.key;
    let head = format!(
        "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    );
    let (mut quick, mut slow) = (served.connect().await, served.connect().await);
    for stream in [&mut quick, &mut slow] {
        stream.write_all(head.as_bytes()).await.unwrap();
    }
    // Both are under way once a request that came later is answered.
    let mut later = served.connect().await;
    later.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = answers(&mut later, 1).await;
    served.stop.cancel();
    quick.write_all(b"{}").await.unwrap();
    let answer = to_end(&mut quick).await;
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    assert_eq!(to_end(&mut slow).await, "");
    assert_eq!(served.server.await.unwrap(), Ended { cut_off: 1 });
}
