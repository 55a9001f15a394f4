//! The event stream of the dashboard.

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;
use axum::body::BodyDataStream;
use futures_util::StreamExt;

/// Reads a stream until it has a text, and returns everything that was read.
async fn read_until(stream: &mut BodyDataStream, expected: &str) -> String {
    let mut text = String::new();
    while !text.contains(expected) {
        let chunk = stream
            .next()
            .await
            .unwrap_or_else(|| panic!("the stream ended: {text}"));
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    text
}

/// Reads a stream to its end.
async fn read_all(mut stream: BodyDataStream) -> String {
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    text
}

/// Returns the position of the last event in a text.
fn last_id(text: &str) -> String {
    let id = text.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap();
    id.to_owned()
}

/// Creates an alert that fires at a price, and lets it fire.
async fn fire(server: &TestServer, threshold: i64) -> String {
    server.set_price("AAPL", 100.0).await;
    let id = server.create_alert(threshold).await;
    server.set_price("AAPL", threshold as f64).await;
    id
}

on_each_database! {
    firing_is_an_event_with_its_position
    broken_stream_continues_after_its_last_event
}

async fn firing_is_an_event_with_its_position(server: TestServer) {
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let mut stream = browser.request("GET", "/app/events").stream().await;
    let id = fire(&server, 125).await;
    let text = read_until(&mut stream, "\n\n").await;
    let text = if text.contains("event:") {
        text
    } else {
        read_until(&mut stream, "data:").await
    };
    assert!(text.contains("event: alert.triggered"), "{text}");
    assert!(text.contains(&format!("\"alert_id\":\"{id}\"")), "{text}");
    assert!(
        text.contains("\"symbol\":\"AAPL\"") && text.contains("\"price\":125"),
        "{text}"
    );
    assert!(
        text.contains("\"reason\":\"price 125.00 is at or above 125.00\""),
        "{text}"
    );
}

async fn broken_stream_continues_after_its_last_event(server: TestServer) {
    let browser = Browser::operator(&server).await;
    let (first, second, third) = (
        fire(&server, 125).await,
        fire(&server, 130).await,
        fire(&server, 135).await,
    );
    let text = read_until(
        &mut browser.request("GET", "/app/events?after=0").stream().await,
        &first,
    )
    .await;
    let text = if text.contains(&third) {
        text.split(&second).next().unwrap().to_owned()
    } else {
        text
    };
    let place = last_id(text.split(&first).next().unwrap());
    // The position of the stream is newer than that of the page.
    let again = browser
        .request("GET", "/app/events?after=0")
        .header("last-event-id", &place);
    let text = read_until(&mut again.stream().await, &third).await;
    assert!(!text.contains(&first) && text.contains(&second), "{text}");
    let after = browser.request("GET", &format!("/app/events?after={}", last_id(&text)));
    let mut stream = after.stream().await;
    let fourth = fire(&server, 140).await;
    let text = read_until(&mut stream, &fourth).await;
    assert!(!text.contains(&third), "{text}");
}

#[tokio::test]
async fn stream_needs_a_session() {
    let server = TestServer::new().await;
    let refused = server.anonymous("GET", "/app/events").send().await;
    assert_eq!(refused.status, 401, "{refused:?}");
    let with_key = server.request("GET", "/app/events").send().await;
    assert_eq!(with_key.status, 401, "{with_key:?}");
}

#[tokio::test]
async fn other_sites_cannot_open_the_stream() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let request = browser
        .request("GET", "/app/events")
        .header("sec-fetch-site", "cross-site");
    assert_eq!(request.send().await.status, 403);
}

#[tokio::test]
async fn stream_ends_after_the_sign_out() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let stream = browser.request("GET", "/app/events").stream().await;
    let _ = browser.post("/sign-out", &[]).await.is(303);
    let text = read_all(stream).await;
    assert!(!text.contains("event:"), "{text}");
}

#[tokio::test]
async fn stream_has_no_firings_a_second_after_the_sign_out_in_another_process() {
    let first = start_server(testkit::Database::postgres().await).await;
    let second = first.another_process().await;
    let browser = Browser::operator(&first).await;
    let stream = second
        .anonymous("GET", "/app/events")
        .header("cookie", browser.cookie());
    let stream = stream.stream().await;
    let _ = browser.post("/sign-out", &[]).await.is(303);
    first.clock.advance(jiff::SignedDuration::from_secs(1));
    let _ = fire(&second, 125).await;
    let text = read_all(stream).await;
    assert!(!text.contains("event:"), "{text}");
}

#[tokio::test]
async fn stream_has_no_firings_of_another_account() {
    let server = TestServer::new().await;
    let ann = Browser::of_another_account(&server).await;
    let stream = ann.request("GET", "/app/events?after=0").stream().await;
    let operator = Browser::operator(&server).await;
    let mut own = operator.request("GET", "/app/events?after=0").stream().await;
    let id = fire(&server, 125).await;
    let _ = read_until(&mut own, &id).await;
    let _ = ann.post("/sign-out", &[]).await.is(303);
    let text = read_all(stream).await;
    assert!(!text.contains("event:"), "{text}");
}

#[tokio::test]
async fn quotes_of_the_stocks_on_the_page_are_events() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    server.set_price("AAPL", 100.0).await;
    let mut stream = browser.request("GET", "/app/events?symbols=AAPL").stream().await;
    let text = read_until(&mut stream, "\"price\":100").await;
    assert!(
        text.contains("event: quote") && text.contains("\"symbol\":\"AAPL\""),
        "{text}"
    );
    server.set_price("AAPL", 101.5).await;
    let _ = read_until(&mut stream, "\"price\":101.5").await;
}

#[tokio::test]
async fn malformed_parameters_are_refused_with_their_names() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    for (query, name) in [("after=x", "after"), ("symbols=A%20B", "symbols")] {
        let refused = browser.get(&format!("/app/events?{query}")).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        assert!(refused.text.contains(name), "{}", refused.text);
    }
    let many = vec!["AAPL"; 101].join(",");
    assert_eq!(browser.get(&format!("/app/events?symbols={many}")).await.status, 422);
}
