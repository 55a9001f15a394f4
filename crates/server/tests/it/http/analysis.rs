//! A stock analysis as server-sent events, on each database, with rules and with a slow model.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use foundation::Scope;
use http_body_util::BodyExt;
use jiff::civil::date;
use market::Calendar;
use serde_json::{Value, json};
use server::layers::client::Peer;
use server::{HttpConfig, Listeners, ShutdownReport, Timeouts};
use testkit::Database;
use testkit::stub_server::{StubResponse, StubServer, response_bytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use watchlist::analyst::{CallBudget, ModelConfig, TokenLimit};

use crate::http::test_server::TestServer;

const PATH: &str = "/v1/stocks/acme/analysis?intention=buy&target_price=95.5";

/// An event name with its data.
type Event = (String, Value);

/// Returns the events of a complete stream, without keep-alive comments.
fn events(text: &str) -> Vec<Event> {
    let blocks = text
        .split("\n\n")
        .filter(|block| !block.is_empty() && !block.starts_with(':'));
    blocks
        .map(|block| {
            let (name, data) = block.split_once('\n').unwrap();
            let name = name.strip_prefix("event: ").unwrap().to_owned();
            let data = data.strip_prefix("data: ").unwrap();
            (name, serde_json::from_str(data).unwrap())
        })
        .collect()
}

fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup();
    names
}

/// Ingests a year of prices between 100 and 110 that ends at 105, with an ex-dividend date ten days ahead.
async fn stock(server: &TestServer) {
    let calendar = Calendar::nyse();
    let days = calendar.sessions(date(2023, 3, 7), date(2024, 3, 7));
    let bars: Vec<Value> = (0..)
        .zip(days)
        .map(|(day, session): (i32, _)| {
            let close = 100 + (day % 20 - 10).abs();
            json!({"symbol": "ACME", "date": session.date.to_string(), "open": close, "high": f64::from(close) + 0.5,
                "low": f64::from(close) - 0.5, "close": close, "volume": 1_000 + 500 * (day % 3)})
        })
        .collect();
    let dividend = json!({"symbol": "ACME", "ex_date": "2024-03-18", "payment_date": "2024-04-01", "amount": 0.5});
    let body = json!({"stocks": [{"symbol": "ACME", "name": "Acme"}], "bars": bars, "dividends": [dividend],
        "quotes": [{"symbol": "ACME", "price": 105}]});
    let response = server.post("/v1/market/ingest", body).await.ok(200);
    assert_eq!(response.body["data"]["rejected"], json!([]));
}

async fn on_each(settings: HttpConfig, model: Option<ModelConfig>, test: impl AsyncFn(TestServer)) {
    for database in testkit::fresh_databases().await {
        let model = model.clone();
        let server =
            TestServer::with_database(database, settings.clone(), |settings| settings.analyst.model = model).await;
        stock(&server).await;
        test(server).await;
    }
}

fn model(endpoint: &StubServer) -> ModelConfig {
    ModelConfig {
        base_url: format!("{}/v1", endpoint.origin()),
        name: "test-model".to_owned(),
        key: None,
        timeout: testkit::HANG_LIMIT,
        tokens: TokenLimit::MaxTokens(1_000),
        budget: CallBudget {
            total: 9,
            per_account: 9,
        },
    }
}

/// Returns a valid model response.
fn good() -> Vec<u8> {
    let alert = |role: &str, condition: &str, threshold: f64| {
        json!({"role": role, "condition": condition, "threshold": threshold, "direction": null,
            "rationale": "The stock has turned there 12 times within the last year."})
    };
    let said = json!({
        "summary": "ACME swings between 100 and 110 dollars.",
        "alerts": [alert("entry", "price_below", 100.4), alert("breakout", "price_above", 110.75)],
    });
    let message = json!({"role": "assistant", "content": said.to_string()});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    response_bytes("200 OK", "", &body.to_string())
}

/// A response body that is read chunk by chunk.
struct Stream(Body);

impl Stream {
    async fn of(server: &TestServer, path: &str) -> Self {
        let mut request = Request::get(path)
            .header("x-api-key", &server.key)
            .body(Body::empty())
            .unwrap();
        request.extensions_mut().insert(Peer("192.0.2.1:4711".parse().unwrap()));
        let response = server.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Self(response.into_body())
    }

    async fn next(&mut self) -> Option<String> {
        let data = self.0.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(data.to_vec()).unwrap())
    }

    async fn rest(mut self) -> Vec<Event> {
        let mut text = String::new();
        while let Some(piece) = self.next().await {
            text.push_str(&piece);
        }
        events(&text)
    }
}

#[tokio::test]
async fn stream_has_figures_alerts_summary_and_end_in_order() {
    on_each(HttpConfig::default(), None, async |server| {
        for prefix in ["", "/api"] {
            let response = server.get(&format!("{prefix}{PATH}")).await;
            assert_eq!(
                (response.status, response.header("content-type")),
                (200, "text/event-stream")
            );
            assert_eq!(response.header("cache-control"), "no-cache");
            assert!(!response.header("x-ratelimit-remaining").is_empty());
            let events = events(&response.text);
            assert_eq!(names(&events), ["figures", "alert", "summary", "done"]);
            let details = &events[0].1;
            assert_eq!(
                (&details["symbol"], &details["intention"]),
                (&json!("ACME"), &json!("buy"))
            );
            assert_eq!(
                (&details["price"], &details["target_price"]),
                (&json!(105), &json!(95.5))
            );
            assert_eq!(details["as_of"], "2024-03-08T15:00:00.000Z");
            let figures = &details["figures"];
            assert_eq!(figures["ex_dividend"]["days_ahead"], 10);
            assert_eq!(figures["ex_dividend"]["amount"], 0.5);
            assert_eq!(figures["earnings"], Value::Null);
            assert_eq!(figures["volatility"]["basis"], "measured");
            assert_eq!(
                (&figures["high_52_weeks"], &figures["low_52_weeks"]),
                (&json!(110.5), &json!(99.5))
            );
            let level = &figures["supports"][0];
            assert!(
                level["price"].as_f64().unwrap() < 105.0 && level["touches"].as_u64().unwrap() > 5,
                "{level}"
            );
            let done = &events.last().unwrap().1;
            assert_eq!(*done, json!({"by": "rules", "fell_back": null}));
            for (_, alert) in events.iter().filter(|(name, _)| name == "alert") {
                assert_eq!(alert["body"]["parameters"]["role"], alert["role"]);
                assert_eq!(alert["body"]["parameters"]["rationale"], alert["rationale"]);
                let status = if prefix.is_empty() { 201 } else { 200 };
                let _ = server.post("/v1/alerts", alert["body"].clone()).await.ok(status);
            }
            let counts = server.get("/v1/alerts?status=active").await.ok(200);
            assert!(
                counts.body["meta"]["pagination"]["total"].as_u64().unwrap() >= 2,
                "none fires at once"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn errors_use_the_envelope_before_the_stream_starts() {
    on_each(HttpConfig::default(), None, async |server| {
        let path = |rest: &str| format!("/v1/stocks/{rest}");
        for (rest, field) in [
            ("ACME/analysis", "intention"),
            ("ACME/analysis?intention=hold", "intention"),
            ("ACME/analysis?intention=sell&target_price=0", "target_price"),
            ("ACME/analysis?intention=sell&target_price=ten", "target_price"),
            ("ELEVENCHARS/analysis?intention=sell", "symbol"),
        ] {
            let refused = server.get(&path(rest)).await.refused(422, "VALIDATION_ERROR");
            assert!(refused.body["error"]["details"]["fields"][field].is_array(), "{rest}");
        }
        let _ = server
            .get(&path("NOSUCH/analysis?intention=buy"))
            .await
            .refused(404, "NOT_FOUND");
        let unpriced = json!({"stocks": [{"symbol": "NEWCO", "name": "New & Co"}]});
        let _ = server.post("/v1/market/ingest", unpriced).await.ok(200);
        let unpriced = server.get(&path("NEWCO/analysis?intention=buy")).await;
        let _ = unpriced.refused(503, "SERVICE_UNAVAILABLE");
        let _ = server.anonymous("GET", PATH).send().await.refused(401, "UNAUTHORIZED");
        let other = server.another_key("operator@example.com", &[Scope::AlertsRead]).await;
        let _ = server
            .anonymous("GET", PATH)
            .header("x-api-key", &other)
            .send()
            .await
            .refused(403, "FORBIDDEN");
    })
    .await;
}

/// A short request timeout. Only the model takes longer.
const REQUEST_LIMIT: Duration = Duration::from_secs(3);

/// Waits until another request exceeds the request timeout.
async fn outlast_the_request_limit(server: &TestServer) {
    let body = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let mut request = Request::post("/v1/alerts")
        .header("x-api-key", &server.key)
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    request.extensions_mut().insert(Peer("192.0.2.1:4711".parse().unwrap()));
    let response = server.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 503);
}

#[tokio::test]
async fn slow_model_streams_figures_first_and_is_exempt_from_the_request_timeout() {
    let endpoint = StubServer::start(StubResponse::Held(good())).await;
    let settings = HttpConfig {
        timeouts: Timeouts {
            request: REQUEST_LIMIT,
            ..Timeouts::default()
        },
        ..HttpConfig::default()
    };
    on_each(settings, Some(model(&endpoint)), async |server| {
        let mut stream = Stream::of(&server, PATH).await;
        let first = events(&stream.next().await.unwrap());
        assert_eq!(names(&first), ["figures"]);
        tokio::select! {
            () = outlast_the_request_limit(&server) => {}
            early = stream.next() => panic!("something comes before the model has answered: {early:?}"),
        }
        let _ = endpoint.next_request().await;
        endpoint.release_response();
        let rest = stream.rest().await;
        assert_eq!(names(&rest), ["alert", "summary", "done"]);
        assert_eq!(rest[0].1["body"]["parameters"]["analyst"], "test-model");
        assert_eq!(rest.last().unwrap().1, json!({"by": "test-model", "fell_back": null}));
    })
    .await;
}

#[tokio::test]
async fn rules_replace_a_failing_model_with_a_reason() {
    let endpoint = StubServer::start(StubResponse::complete("200 OK", "", "{}")).await;
    on_each(HttpConfig::default(), Some(model(&endpoint)), async |server| {
        let events = Stream::of(&server, PATH).await.rest().await;
        assert_eq!(names(&events), ["figures", "alert", "summary", "done"]);
        assert_eq!(
            events.last().unwrap().1,
            json!({"by": "rules", "fell_back": "bad_answer"})
        );
    })
    .await;
}

/// A real server with a model that never responds.
struct Served {
    server: TestServer,
    endpoint: StubServer,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<ShutdownReport>,
}

async fn served() -> Served {
    let endpoint = StubServer::start(StubResponse::NoResponse).await;
    let model = model(&endpoint);
    let change = |settings: &mut service::ServiceConfig| settings.analyst.model = Some(model);
    let server = TestServer::with_database(Database::sqlite(), HttpConfig::default(), change).await;
    stock(&server).await;
    let api = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = api.local_addr().unwrap();
    let stop = CancellationToken::new();
    let task = tokio::spawn({
        let (app, stop) = (server.app.clone(), stop.clone());
        async move { server::serve(&app, Listeners { api, ops: None }, stop).await }
    });
    Served {
        server,
        endpoint,
        address,
        stop,
        task,
    }
}

impl Served {
    /// Requests an analysis and reads its figures.
    async fn figures(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let key = &self.server.key;
        let request = format!("GET {PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).contains("event: figures") {
            assert_ne!(stream.read_buf(&mut text).await.unwrap(), 0);
        }
        let _ = self.endpoint.next_request().await;
        stream
    }
}

#[tokio::test]
async fn client_disconnect_cancels_the_analysis() {
    let served = served().await;
    drop(served.figures().await);
    served.endpoint.wait_for_disconnect().await;
}

#[tokio::test]
async fn shutdown_ends_streams_with_rule_alerts() {
    let served = served().await;
    let mut stream = served.figures().await;
    served.stop.cancel();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    assert!(
        rest.contains("event: alert") && rest.contains("event: summary"),
        "{rest}"
    );
    assert!(
        rest.contains(r#"data: {"by":"rules","fell_back":"stopping"}"#),
        "{rest}"
    );
    assert_eq!(served.task.await.unwrap(), ShutdownReport { aborted_connections: 0 });
    served.endpoint.wait_for_disconnect().await;
}
