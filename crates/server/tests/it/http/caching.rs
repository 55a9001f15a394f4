//! Compressed responses and entity tags.

use std::io::Read;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::test_server::{TestRequest, TestResponse, TestServer, above};

const HANG_LIMIT: Duration = Duration::from_secs(120);

fn decompressed(response: &TestResponse) -> Vec<u8> {
    let mut whole = Vec::new();
    match response.header("content-encoding") {
        "gzip" => flate2::read::GzDecoder::new(&response.bytes[..])
            .read_to_end(&mut whole)
            .unwrap(),
        "br" => brotli::Decompressor::new(&response.bytes[..], 4_096)
            .read_to_end(&mut whole)
            .unwrap(),
        other => panic!("content-encoding {other}"),
    };
    whole
}

fn is_compressed(response: &TestResponse) -> bool {
    response.headers.contains_key("content-encoding")
}

async fn with_alerts(count: i64) -> TestServer {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    for threshold in 0..count {
        let _ = server.create_alert(200 + threshold).await;
    }
    server
}

fn accepting<'a>(request: TestRequest<'a>, codings: &str) -> TestRequest<'a> {
    request.header("accept-encoding", codings)
}

#[tokio::test]
async fn large_list_is_compressed_with_an_accepted_coding() {
    let server = with_alerts(10).await;
    let plain = server.get("/v1/alerts").await.ok(200);
    assert!(!is_compressed(&plain));
    for (accepted, coding) in [("gzip", "gzip"), ("br", "br"), ("gzip, br", "br")] {
        let response = accepting(server.request("GET", "/v1/alerts"), accepted).send().await;
        assert_eq!((response.status, response.header("content-encoding")), (200, coding));
        assert_eq!(response.header("vary"), "accept-encoding");
        let whole: Value = serde_json::from_slice(&decompressed(&response)).unwrap();
        assert_eq!(whole["data"], plain.body["data"]);
        assert!(response.bytes.len() < plain.bytes.len() / 2);
    }
    for accepted in ["identity", "gzip;q=0", "zstd"] {
        let response = accepting(server.request("GET", "/v1/alerts"), accepted)
            .send()
            .await
            .ok(200);
        assert!(!is_compressed(&response), "{accepted}");
    }
}

#[tokio::test]
async fn small_response_is_not_compressed() {
    let server = TestServer::new().await;
    let response = accepting(server.request("GET", "/v1/alerts"), "gzip")
        .send()
        .await
        .ok(200);
    assert!(!is_compressed(&response));
}

#[tokio::test]
async fn responses_with_secrets_are_not_compressed() {
    let server = TestServer::new().await;
    for number in 0..5 {
        let body = json!({"email": format!("user{number}@example.com"), "password": "correct horse battery staple"});
        let registered = server.anonymous("POST", "/v1/auth/register").json(&body);
        let _ = accepting(registered, "gzip, br").send().await.ok(201);
    }
    let filled = async {
        loop {
            let outbox = accepting(server.request("GET", "/v1/outbox"), "gzip, br")
                .send()
                .await
                .ok(200);
            if outbox.bytes.len() > 1_024 {
                return outbox;
            }
            tokio::task::yield_now().await;
        }
    };
    let outbox = tokio::time::timeout(HANG_LIMIT, filled).await.unwrap();
    assert!(!is_compressed(&outbox));
    let secret = "s".repeat(512);
    let webhook = json!({"url": format!("https://93.184.215.14/{}", "x".repeat(1_000)), "events": ["alert.triggered"], "secret": secret});
    let created = accepting(server.request("POST", "/v1/webhooks").json(&webhook), "gzip")
        .send()
        .await
        .ok(201);
    assert!(created.bytes.len() > 1_024 && !is_compressed(&created));
}

#[tokio::test]
async fn unchanged_list_is_304_until_it_changes() {
    let server = with_alerts(2).await;
    let first = server.get("/v1/alerts").await.ok(200);
    let tag = first.header("etag").to_owned();
    let conditional = |tag: &str| {
        server
            .request("GET", "/api/v1/alerts")
            .header("if-none-match", tag)
            .send()
    };
    let unchanged = conditional(&tag).await;
    assert_eq!((unchanged.status, unchanged.bytes.len()), (304, 0));
    assert_eq!(unchanged.header("etag"), tag);
    let remaining = |response: &TestResponse| response.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    assert_eq!(
        remaining(&unchanged) + 1,
        remaining(&first),
        "a 304 counts in the rate limit"
    );
    let _ = conditional("W/\"another\"").await.ok(200);
    let _ = server.create_alert(300).await;
    let changed = conditional(&tag).await.ok(200);
    assert_ne!(changed.header("etag"), tag);
    assert_eq!(changed.body["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn only_list_pages_have_entity_tags() {
    let server = with_alerts(2).await;
    let empty = server.get("/v1/alerts?page=7").await.ok(200);
    let other = server.get("/v1/alerts?page=8").await.ok(200);
    assert_eq!(empty.body["data"], other.body["data"]);
    assert_ne!(empty.header("etag"), other.header("etag"));
    let id = server.create_alert(400).await;
    let single = server.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert!(!single.headers.contains_key("etag"));
    let refused = server
        .anonymous("GET", "/v1/alerts")
        .header("if-none-match", "*")
        .send()
        .await;
    let _ = refused.refused(401, "UNAUTHORIZED");
    let repeated = server
        .request("POST", "/v1/alerts")
        .header("if-none-match", "*")
        .json(&above(500));
    let _ = repeated.send().await.ok(201);
}

#[tokio::test]
async fn unchanged_description_is_compressed_and_304() {
    let server = TestServer::new().await;
    for path in [
        "/openapi.json",
        "/openapi.yaml",
        "/docs",
        "/docs/docs.css",
        "/docs/docs.js",
    ] {
        let whole = server.anonymous("GET", path).send().await;
        assert_eq!(
            (whole.status, whole.header("cache-control")),
            (200, "no-cache"),
            "{path}"
        );
        let tag = whole.header("etag").to_owned();
        let unchanged = server.anonymous("GET", path).header("if-none-match", &tag).send().await;
        assert_eq!((unchanged.status, unchanged.bytes.len()), (304, 0), "{path}");
        for coding in ["gzip", "br"] {
            let response = accepting(server.anonymous("GET", path), coding).send().await;
            assert_eq!(response.header("etag"), tag, "{path}");
            if whole.bytes.len() > 1_024 {
                assert_eq!(response.header("content-encoding"), coding, "{path}");
                assert_eq!(decompressed(&response), whole.bytes, "{path}");
            }
        }
    }
}
