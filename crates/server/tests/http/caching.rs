//! Compressed answers and entity tags.

use std::io::Read;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Answer, Sending, World, above};

const HANG_LIMIT: Duration = Duration::from_secs(120);

fn decompressed(answer: &Answer) -> Vec<u8> {
    let mut whole = Vec::new();
    match answer.header("content-encoding") {
        "gzip" => flate2::read::GzDecoder::new(&answer.bytes[..])
            .read_to_end(&mut whole)
            .unwrap(),
        "br" => brotli::Decompressor::new(&answer.bytes[..], 4_096)
            .read_to_end(&mut whole)
            .unwrap(),
        other => panic!("content-encoding {other}"),
    };
    whole
}

fn is_compressed(answer: &Answer) -> bool {
    answer.headers.contains_key("content-encoding")
}

async fn with_alerts(count: i64) -> World {
    let world = World::new().await;
    world.stock_at("AAPL", 100.0).await;
    for threshold in 0..count {
        let _ = world.alert(200 + threshold).await;
    }
    world
}

fn accepting<'a>(request: Sending<'a>, codings: &str) -> Sending<'a> {
    request.header("accept-encoding", codings)
}

#[tokio::test]
async fn large_list_is_compressed_in_the_coding_that_the_client_accepts() {
    let world = with_alerts(10).await;
    let plain = world.get("/v1/alerts").await.ok(200);
    assert!(!is_compressed(&plain));
    for (accepted, coding) in [("gzip", "gzip"), ("br", "br"), ("gzip, br", "br")] {
        let answer = accepting(world.request("GET", "/v1/alerts"), accepted).send().await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, coding));
        assert_eq!(answer.header("vary"), "accept-encoding");
        let whole: Value = serde_json::from_slice(&decompressed(&answer)).unwrap();
        assert_eq!(whole["data"], plain.body["data"]);
        assert!(answer.bytes.len() < plain.bytes.len() / 2);
    }
    for accepted in ["identity", "gzip;q=0", "zstd"] {
        let answer = accepting(world.request("GET", "/v1/alerts"), accepted)
            .send()
            .await
            .ok(200);
        assert!(!is_compressed(&answer), "{accepted}");
    }
}

#[tokio::test]
async fn small_answer_is_not_compressed() {
    let world = World::new().await;
    let answer = accepting(world.request("GET", "/v1/alerts"), "gzip")
        .send()
        .await
        .ok(200);
    assert!(!is_compressed(&answer));
}

#[tokio::test]
async fn answers_with_secrets_are_not_compressed() {
    let world = World::new().await;
    for number in 0..5 {
        let body = json!({"email": format!("person{number}@example.com"), "password": "correct horse battery staple"});
        let registered = world.stranger("POST", "/v1/auth/register").json(&body);
        let _ = accepting(registered, "gzip, br").send().await.ok(201);
    }
    let filled = async {
        loop {
            let outbox = accepting(world.request("GET", "/v1/outbox"), "gzip, br")
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
    let created = accepting(world.request("POST", "/v1/webhooks").json(&webhook), "gzip")
        .send()
        .await
        .ok(201);
    assert!(created.bytes.len() > 1_024 && !is_compressed(&created));
}

#[tokio::test]
async fn unchanged_list_is_304_until_it_changes() {
    let world = with_alerts(2).await;
    let first = world.get("/v1/alerts").await.ok(200);
    let tag = first.header("etag").to_owned();
    let conditional = |tag: &str| {
        world
            .request("GET", "/api/v1/alerts")
            .header("if-none-match", tag)
            .send()
    };
    let unchanged = conditional(&tag).await;
    assert_eq!((unchanged.status, unchanged.bytes.len()), (304, 0));
    assert_eq!(unchanged.header("etag"), tag);
    let remaining = |answer: &Answer| answer.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    assert_eq!(
        remaining(&unchanged) + 1,
        remaining(&first),
        "a 304 counts in the rate limit"
    );
    let _ = conditional("W/\"another\"").await.ok(200);
    let _ = world.alert(300).await;
    let changed = conditional(&tag).await.ok(200);
    assert_ne!(changed.header("etag"), tag);
    assert_eq!(changed.body["data"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn pages_of_a_list_have_tags_of_their_own_and_refusals_and_single_reads_have_none() {
    let world = with_alerts(2).await;
    let empty = world.get("/v1/alerts?page=7").await.ok(200);
    let other = world.get("/v1/alerts?page=8").await.ok(200);
    assert_eq!(empty.body["data"], other.body["data"]);
    assert_ne!(empty.header("etag"), other.header("etag"));
    let id = world.alert(400).await;
    let single = world.get(&format!("/v1/alerts/{id}")).await.ok(200);
    assert!(!single.headers.contains_key("etag"));
    let refused = world
        .stranger("GET", "/v1/alerts")
        .header("if-none-match", "*")
        .send()
        .await;
    let _ = refused.refused(401, "UNAUTHORIZED");
    let repeated = world
        .request("POST", "/v1/alerts")
        .header("if-none-match", "*")
        .json(&above(500));
    let _ = repeated.send().await.ok(201);
}

#[tokio::test]
async fn description_is_compressed_and_304_while_it_is_the_same() {
    let world = World::new().await;
    for path in [
        "/openapi.json",
        "/openapi.yaml",
        "/docs",
        "/docs/docs.css",
        "/docs/docs.js",
    ] {
        let whole = world.stranger("GET", path).send().await;
        assert_eq!(
            (whole.status, whole.header("cache-control")),
            (200, "no-cache"),
            "{path}"
        );
        let tag = whole.header("etag").to_owned();
        let unchanged = world.stranger("GET", path).header("if-none-match", &tag).send().await;
        assert_eq!((unchanged.status, unchanged.bytes.len()), (304, 0), "{path}");
        for coding in ["gzip", "br"] {
            let answer = accepting(world.stranger("GET", path), coding).send().await;
            assert_eq!(answer.header("etag"), tag, "{path}");
            if whole.bytes.len() > 1_024 {
                assert_eq!(answer.header("content-encoding"), coding, "{path}");
                assert_eq!(decompressed(&answer), whole.bytes, "{path}");
            }
        }
    }
}
