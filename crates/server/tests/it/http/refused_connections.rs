//! Real connections: error responses to refused connections and invalid requests, which the client must receive.

use std::time::Duration;

use server::HttpConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::http::connections::{Served, read_responses, serve, to_end};

/// Returns `true` if a response is an error envelope with a request id.
fn is_refused(response: &str, status: u16, code: &str) -> bool {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    head.starts_with(&format!("HTTP/1.1 {status} "))
        && head.contains("\r\nx-request-id: ")
        && head.contains("\r\ncontent-type: application/json")
        && body["success"] == false
        && body["error"]["code"] == code
        && body["error"]["message"].is_string()
}

#[tokio::test]
async fn full_server_answers_health_and_returns_503_otherwise() {
    let served = serve(HttpConfig {
        max_connections: 1,
        ..HttpConfig::default()
    })
    .await;
    let mut first = served.connect().await;
    first.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
    let _ = read_responses(&mut first, 1).await;
    for (path, status) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/v1/alerts", 503),
        ("/docs", 503),
        ("/metrics", 503),
    ] {
        let mut beyond = served.connect().await;
        beyond.write_all(served.get(path).as_bytes()).await.unwrap();
        let response = to_end(&mut beyond).await;
        assert!(
            response.starts_with(&format!("HTTP/1.1 {status} ")),
            "{path}: {response}"
        );
        assert!(
            status == 200 || is_refused(&response, 503, "SERVICE_UNAVAILABLE"),
            "{response}"
        );
    }
    let mut silent = served.connect().await;
    assert_eq!(to_end(&mut silent).await, "", "a place for health is not held for long");
    drop(first);
    until_served(&served, "127.0.0.1").await;
}

/// Waits until a connection from `address` is served, which happens soon after another one has ended.
async fn until_served(served: &Served, address: &str) {
    let trying = async {
        loop {
            let mut stream = served.connect_from(address).await;
            let request = served
                .get("/v1/alerts")
                .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            if to_end(&mut stream).await.starts_with("HTTP/1.1 200") {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), trying).await.unwrap();
}

#[tokio::test]
async fn connection_limit_applies_per_address() {
    let served = serve(HttpConfig {
        max_connections_per_address: 2,
        ..HttpConfig::default()
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = served.connect().await;
        stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = read_responses(&mut stream, 1).await;
        held.push(stream);
    }
    for _ in 0..3 {
        let mut beyond = served.connect().await;
        beyond.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let response = to_end(&mut beyond).await;
        assert!(is_refused(&response, 429, "RATE_LIMITED"), "{response}");
        assert!(response.contains("\r\nretry-after: "), "{response}");
    }
    let mut probe = served.connect().await;
    probe.write_all(served.get("/healthz").as_bytes()).await.unwrap();
    let response = to_end(&mut probe).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    // Idle connections may use the connections for health checks, but not more.
    let silent: Vec<_> = futures_util::future::join_all((0..50).map(|_| served.connect())).await;
    until_served(&served, "127.0.0.2").await;
    drop(silent);
    held.pop();
    until_served(&served, "127.0.0.1").await;
}

#[tokio::test]
async fn trusted_proxy_exceeds_the_client_limit() {
    let served = serve(HttpConfig {
        max_connections_per_address: 1,
        trusted_proxies: vec!["127.0.0.1".parse().unwrap()],
        ..HttpConfig::default()
    })
    .await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = served.connect().await;
        stream.write_all(served.get("/v1/alerts").as_bytes()).await.unwrap();
        let _ = read_responses(&mut stream, 1).await;
        held.push(stream);
    }
}

#[tokio::test]
async fn ambiguous_head_is_400_and_closes_the_connection() {
    let served = serve(HttpConfig::default()).await;
    let chunks = "2\r\n{}\r\n0\r\n\r\n";
    for (headers, body) in [
        ("", ""),
        ("Host: a\r\nHost: b\r\n", ""),
        ("Host: a\r\nHost: a\r\n", ""),
        ("Host: a\r\nTransfer-Encoding: identity, chunked\r\n", chunks),
        (
            "Host: a\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
            chunks,
        ),
    ] {
        let mut stream = served.connect().await;
        let request = format!("POST /v1/alerts HTTP/1.1\r\n{headers}\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let response = to_end(&mut stream).await;
        assert!(is_refused(&response, 400, "BAD_REQUEST"), "{headers}: {response}");
    }
    // HTTP/1.0 does not require Host.
    let mut stream = served.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await.unwrap();
    let response = to_end(&mut stream).await;
    assert!(response.contains(" 200 OK\r\n"), "{response}");
}

#[tokio::test]
async fn invalid_http_is_rejected_in_the_envelope() {
    let served = serve(HttpConfig::default()).await;
    let header = |length: usize| {
        format!(
            "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n",
            "x".repeat(length)
        )
    };
    let many = |count| format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-Y: 1\r\n".repeat(count));
    for (request, status) in [
        (header(100_000), 431),
        (header(1_000_000), 431),
        (many(100), 431),
        (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(65_535)), 431),
        ("GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n".to_owned(), 400),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nX Y: 1\r\n\r\n".to_owned(), 400),
        (
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n".to_owned(),
            400,
        ),
        (
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\n{}".to_owned(),
            400,
        ),
        (
            "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: rot13\r\n\r\n".to_owned(),
            400,
        ),
        ("no request at all\r\n\r\n".to_owned(), 400),
    ] {
        let mut stream = served.connect().await;
        // The response comes before the whole request is sent. The rest is read nevertheless.
        stream.write_all(request.as_bytes()).await.unwrap();
        let response = to_end(&mut stream).await;
        assert!(
            is_refused(&response, status, "BAD_REQUEST"),
            "{status} {}: {response}",
            &request[..40.min(request.len())]
        );
    }
    let mut stream = served.connect().await;
    stream.write_all(many(99).as_bytes()).await.unwrap();
    let mut piece = [0; 12];
    stream.read_exact(&mut piece).await.unwrap();
    assert_eq!(&piece, b"HTTP/1.1 200");
}

#[tokio::test]
async fn invalid_http_after_a_request_is_rejected_after_its_response() {
    let served = serve(HttpConfig::default()).await;
    let mut stream = served.connect().await;
    let requests = format!("{}nonsense\r\n\r\n", served.get("/v1/alerts"));
    stream.write_all(requests.as_bytes()).await.unwrap();
    let responses = to_end(&mut stream).await;
    let (first, second) = responses.split_at(responses.rfind("HTTP/1.1 ").unwrap());
    assert!(
        first.starts_with("HTTP/1.1 200") && is_refused(second, 400, "BAD_REQUEST"),
        "{responses}"
    );
}

#[tokio::test]
async fn client_that_sends_an_oversized_body_reads_413() {
    let served = serve(HttpConfig::default()).await;
    let key = &served.server.key;
    let piece = "x".repeat(1 << 20);
    for (framing, body) in [
        (format!("Content-Length: {}", 8 << 20), piece.repeat(8)),
        (
            "Transfer-Encoding: chunked".to_owned(),
            format!("{}0\r\n\r\n", format!("100000\r\n{piece}\r\n").repeat(8)),
        ),
    ] {
        let mut stream = served.connect().await;
        let head = format!(
            "POST /v1/alerts HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n{framing}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Many clients send everything before they read.
        stream.write_all(body.as_bytes()).await.unwrap();
        let response = to_end(&mut stream).await;
        assert!(is_refused(&response, 413, "PAYLOAD_TOO_LARGE"), "{framing}: {response}");
        assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    }
}
