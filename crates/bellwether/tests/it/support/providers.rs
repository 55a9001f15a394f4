//! Fake providers on loopback. They send responses in the documented formats, about AAPL and SPY and with current
//! dates.
//!
//! The payloads are those of the adapters' tests, with the dates moved to the range that a check requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri};
use bellwether::clock::SystemClock;
use clock::Clock;
use futures_util::{SinkExt, StreamExt};
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use market::calendar::new_york_date;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

/// The key that all fakes accept.
pub(crate) const KEY: &str = "pk-open-sesame";

/// The response bodies by pattern. A pattern is a list of parts, separated by spaces, that the request target must
/// contain. The longest matching pattern wins.
pub(crate) type Responses = BTreeMap<&'static str, String>;

/// The addresses of the fakes. They stop with the runtime in which they were started.
pub(crate) struct FakeProviders {
    pub(crate) http: String,
    pub(crate) stream: String,
}

macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!("../../../../sources/tests/it/providers/fixtures/", $path))
    };
}

/// Returns the date some days before today.
fn days_ago(today: Date, days: i64) -> String {
    today.saturating_sub(Span::new().days(days)).to_string()
}

/// Returns the default responses.
pub(crate) fn responses() -> Responses {
    let now = Clock::now(&SystemClock);
    let today = new_york_date(now);
    let seconds_ago = |seconds: i64| {
        now.saturating_sub(Span::new().seconds(seconds))
            .unwrap_or(Timestamp::MIN)
    };
    let soon = today.saturating_add(Span::new().days(20)).to_string();
    let bars = fixture!("alpaca/bars.json").replace("2024-03-06", &days_ago(today, 2));
    let bars = bars.replace("2024-03-07", &days_ago(today, 1));
    let minute =
        |minute: &str, seconds: i64| (format!("2024-03-08T15:0{minute}:00Z"), seconds_ago(seconds).to_string());
    let minutes = [minute("0", 1_200), minute("1", 1_140), minute("2", 1_080)];
    let minutes = minutes.iter().fold(
        fixture!("alpaca/minutes.json").replace("SPY", "AAPL"),
        |text, (from, to)| text.replace(from, to),
    );
    BTreeMap::from([
        ("/v2/assets", fixture!("alpaca/assets.json").to_owned()),
        (
            "/v2/stocks/snapshots",
            fixture!("alpaca/snapshots.json").replace("2024-03-08T15:29:58.123456789Z", &seconds_ago(3).to_string()),
        ),
        ("/v2/stocks/bars? timeframe=1Min", minutes),
        (
            "/v2/stocks/bars? timeframe=1Day symbols=SPY",
            bars.replace("AAPL", "SPY"),
        ),
        ("/v2/stocks/bars", bars),
        (
            "/v1/corporate-actions types=cash_dividend",
            fixture!("alpaca/dividends.json").replace("2024-05-10", &soon),
        ),
        (
            "/v1/corporate-actions",
            r#"{"corporate_actions":{},"next_page_token":null}"#.to_owned(),
        ),
        ("/stock/metric", fixture!("finnhub/metric.json").to_owned()),
        (
            "/calendar/earnings",
            fixture!("finnhub/earnings.json").replace("2024-05-02", &soon),
        ),
        (
            "/files/company_tickers.json",
            fixture!("sec/company_tickers.json").to_owned(),
        ),
        (
            "/submissions/CIK0000320193.json",
            fixture!("sec/submissions_aapl.json").replace("2024-03-07", &days_ago(today, 1)),
        ),
        (
            "/Archives/edgar/data/320193/000114036124010155/form4.xml",
            fixture!("sec/form4.xml").replace("2024-03-06", &days_ago(today, 2)),
        ),
        (
            "/filter/all-stocks/page/1",
            fixture!("apewisdom/only.json").replace("GME", "AAPL"),
        ),
    ])
}

/// Starts the fakes.
pub(crate) async fn start(responses: Responses) -> FakeProviders {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = format!("http://{}", listener.local_addr().unwrap());
    let responses = Arc::new(responses);
    let app = Router::new().fallback(move |uri: Uri, headers: HeaderMap| {
        let response = response_for(&responses, &uri, &headers);
        async move { response }
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    let stream_listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = format!("ws://{}", stream_listener.local_addr().unwrap());
    tokio::spawn(accept_streams(stream_listener));
    FakeProviders { http, stream }
}

fn response_for(responses: &Responses, uri: &Uri, headers: &HeaderMap) -> (StatusCode, String) {
    let target = uri.path_and_query().map(|target| target.as_str()).unwrap_or_default();
    let has_wrong_key = |name| headers.get(name).is_some_and(|key| key != KEY);
    if ["apca-api-secret-key", "x-finnhub-token"]
        .into_iter()
        .any(has_wrong_key)
    {
        return (StatusCode::UNAUTHORIZED, r#"{"message":"forbidden."}"#.to_owned());
    }
    let has_all = |pattern: &str| pattern.split(' ').all(|part| target.contains(part));
    let fits = responses.iter().filter(|(pattern, _)| has_all(pattern));
    match fits.max_by_key(|(pattern, _)| pattern.len()) {
        Some((_, body)) => (StatusCode::OK, body.clone()),
        None => (StatusCode::NOT_FOUND, "{}".to_owned()),
    }
}

/// Alpaca's stream.
async fn accept_streams(stream_listener: TcpListener) {
    while let Ok((line, _)) = stream_listener.accept().await {
        tokio::spawn(async move {
            let Ok(mut socket) = tokio_tungstenite::accept_async(line).await else {
                return;
            };
            let greeting = Message::text(r#"[{"T":"success","msg":"connected"}]"#);
            if socket.send(greeting).await.is_err() {
                return;
            }
            while let Some(Ok(Message::Text(request))) = socket.next().await {
                let reply = match (request.contains("\"auth\""), request.matches(KEY).count() == 2) {
                    (true, true) => r#"[{"T":"success","msg":"authenticated"}]"#,
                    (true, false) => r#"[{"T":"error","code":402,"msg":"auth failed"}]"#,
                    (false, _) => r#"[{"T":"subscription","trades":["AAPL"],"quotes":[],"bars":[]}]"#,
                };
                if socket.send(Message::text(reply)).await.is_err() {
                    return;
                }
            }
        });
    }
}
