//! Requests to a stub server: headers, repetition and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use client::{Client, ClientConfig, ClientError, ClientKey, RemoteAlertFilter, RequestRetryPolicy};
use serde_json::{Map, Value, json};
use testkit::stub_server::{StubResponse, StubServer};
use uuid::Uuid;

const ID: &str = "0b9c7c2e-8f0e-4d5e-9a52-3f1f6f0c8d11";

fn client(server: &StubServer) -> Client {
    client_at(&server.origin()).unwrap()
}

fn client_at(url: &str) -> Result<Client, ClientError> {
    let next = AtomicU64::new(1);
    Client::new(ClientConfig {
        url: url.to_owned(),
        api_key: ClientKey::new("sk_secret").unwrap(),
        retry: RequestRetryPolicy {
            first_pause: Duration::from_millis(1),
            ..RequestRetryPolicy::default()
        },
        new_id: Arc::new(move || Uuid::from_u128(next.fetch_add(1, Ordering::Relaxed).into())),
    })
}

fn ok(data: &Value) -> StubResponse {
    StubResponse::complete(
        "200 OK",
        "",
        &json!({"success": true, "data": data, "meta": {}}).to_string(),
    )
}

fn refusal(status: &str, headers: &str) -> StubResponse {
    let body = json!({"success": false, "error": {"code": "CONFLICT", "message": "try again", "details": {"a": 1}}});
    StubResponse::complete(status, headers, &body.to_string())
}

fn deleted() -> Value {
    json!({"alert_id": ID, "status": "deleted"})
}

#[tokio::test]
async fn request_has_the_key_and_each_write_its_own_idempotency_key() {
    let server = StubServer::start(ok(&deleted())).await;
    let client = client(&server);
    let id = Uuid::try_parse(ID).unwrap();
    for expected in 1..=2_u128 {
        client.delete_alert(id).await.unwrap();
        let request = server.next_request().await;
        assert_eq!(request.line, format!("DELETE /api/v1/alerts/{ID} HTTP/1.1"));
        assert_eq!(request.headers["x-api-key"], "sk_secret");
        assert_eq!(
            request.headers["idempotency-key"],
            Uuid::from_u128(expected).to_string()
        );
    }
    server.set_response(ok(&json!([])));
    assert_eq!(client.alerts(&RemoteAlertFilter::default()).await.unwrap(), []);
    let request = server.next_request().await;
    assert_eq!(request.line, "GET /api/v1/alerts?limit=100 HTTP/1.1");
    assert!(!request.headers.contains_key("idempotency-key"));
}

#[tokio::test]
async fn repeated_write_keeps_its_idempotency_key() {
    let server = StubServer::start(refusal("503 Service Unavailable", "")).await;
    let client = client(&server);
    let sent = tokio::spawn(async move { client.change_alerts(Map::new()).await });
    let first = server.next_request().await;
    let data = json!({"create": [], "update": [], "delete": [], "dry_run": false, "source_revision": 4});
    server.set_response(ok(&data));
    let changed = sent.await.unwrap().unwrap();
    assert_eq!(changed.source_revision, Some(4));
    let second = server.next_request().await;
    assert_eq!(first.headers["idempotency-key"], second.headers["idempotency-key"]);
    assert_eq!(first.body, second.body);
}

#[tokio::test]
async fn refusals_are_not_repeated_and_keep_their_details() {
    for status in ["409 Conflict", "422 Unprocessable Content", "500 Internal Server Error"] {
        let server = StubServer::start(refusal(status, "")).await;
        let error = client(&server).change_alerts(Map::new()).await.unwrap_err();
        let refusal = error.refusal().unwrap();
        assert_eq!(
            (refusal.code.as_str(), refusal.message.as_str()),
            ("CONFLICT", "try again")
        );
        assert_eq!(refusal.details["a"], 1);
        assert_eq!(server.pending_requests().await, 1, "{status}");
    }
}

#[tokio::test]
async fn longer_pause_than_allowed_is_an_error_that_names_it() {
    let server = StubServer::start(refusal("429 Too Many Requests", "Retry-After: 3600\r\n")).await;
    let error = client(&server).alerts(&RemoteAlertFilter::default()).await.unwrap_err();
    assert_eq!(error.refusal().unwrap().retry_after_s, Some(3600));
    assert_eq!(server.pending_requests().await, 1);
}

#[tokio::test]
async fn unreachable_server_is_an_error_with_its_address() {
    let port = testkit::RefusingPort::bind();
    let error = client_at(&format!("http://{}", port.address())).unwrap();
    let error = error.alerts(&RemoteAlertFilter::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn response_of_another_service_is_an_error_that_says_so() {
    for response in [
        StubResponse::complete("200 OK", "", "<html>"),
        StubResponse::complete("404 Not Found", "", "<html>"),
        StubResponse::complete("302 Found", "Location: http://127.0.0.1:1/\r\n", ""),
    ] {
        let server = StubServer::start(response).await;
        let error = client(&server).alerts(&RemoteAlertFilter::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::UnexpectedResponse { .. }), "{error}");
    }
}

#[tokio::test]
async fn path_of_the_address_is_kept() {
    let server = StubServer::start(ok(&json!([]))).await;
    let client = client_at(&format!("{}/bell/", server.origin())).unwrap();
    let filter = RemoteAlertFilter {
        source: Some("a b&c".to_owned()),
        ..RemoteAlertFilter::default()
    };
    client.alerts(&filter).await.unwrap();
    let request = server.next_request().await;
    assert_eq!(
        request.line,
        "GET /bell/api/v1/alerts?limit=100&source=a+b%26c HTTP/1.1"
    );
}

#[test]
fn address_is_that_of_a_server_without_credentials() {
    for url in [
        "",
        "alerts.example.com",
        "ftp://a",
        "https://ann:pw@a",
        "https://a?x=1",
        "http://",
    ] {
        assert!(matches!(client_at(url), Err(ClientError::InvalidUrl(_))), "{url}");
    }
}

/// A stream of events that ends.
fn stream(events: &str) -> StubResponse {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    StubResponse::Bytes(format!("{head}{events}").into_bytes())
}

#[tokio::test]
async fn stream_of_firings_has_the_position_of_the_last_one() {
    let firing = json!({
        "id": ID, "alert_id": ID, "symbol": "AAPL", "condition": "price_above", "threshold": 1, "trigger_price": 2, "reason": "r",
        "timeline": {"received_at": "2026-03-02T15:04:00Z", "committed_at": null},
    });
    let events = format!(
        ": keep-alive\n\nevent: open\nid: 7\ndata: {{\"position\":7}}\n\n\
         event: unknown\nid: 8\ndata: {{}}\n\nevent: firing\nid: 9\ndata: {firing}\n\n"
    );
    let server = StubServer::start(stream(&events)).await;
    let mut stream = client(&server).firing_stream(Some(7)).await.unwrap();
    let request = server.next_request().await;
    assert_eq!(request.line, "GET /api/v1/firings/stream?after=7 HTTP/1.1");
    assert_eq!(stream.position(), 7);
    assert_eq!(stream.next().await.unwrap().symbol, "AAPL");
    assert_eq!(stream.position(), 9);
    let ended = stream.next().await.unwrap_err();
    assert!(matches!(ended, ClientError::Unreachable { .. }), "{ended}");
}

#[tokio::test]
async fn stream_of_another_service_is_an_error_that_says_so() {
    for response in [
        stream("event: hello\nid: 1\ndata: {}\n\n"),
        stream("event: open\nid: 1\ndata: {}\n\n"),
        stream("hello\n\n"),
        StubResponse::complete("200 OK", "", "{}"),
    ] {
        let server = StubServer::start(response).await;
        let error = client(&server).firing_stream(None).await.err().unwrap();
        assert!(matches!(error, ClientError::UnexpectedResponse { .. }), "{error}");
    }
}
