//! A fake exchange on loopback with the API that Alpaca documents.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use clock::{Clock, ManualClock};
use futures_util::{SinkExt, StreamExt};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;

/// A bar: its start time, and open, high, low and close.
pub type Bar = (Timestamp, [String; 4]);

/// The data of the exchange.
#[derive(Default)]
pub struct ExchangeData {
    pub names: Vec<String>,
    /// Daily bars, each at midnight in New York.
    pub days: BTreeMap<String, Vec<Bar>>,
    pub minutes: BTreeMap<String, Vec<Bar>>,
    pub last: BTreeMap<String, (String, Timestamp)>,
    /// Whether all requests are refused.
    pub is_down: bool,
    /// The currently subscribed symbols.
    pub subscribed: Vec<String>,
}

/// A message to all connected stream clients.
#[derive(Clone, Debug)]
enum StreamMessage {
    Text(String),
    Close,
}

#[derive(Clone)]
pub struct FakeExchange {
    pub data: Arc<Mutex<ExchangeData>>,
    messages: broadcast::Sender<StreamMessage>,
    /// The clock for the `Date` header of responses.
    pub clock: Arc<ManualClock>,
    pub rest_url: String,
    pub stream_url: String,
}

impl FakeExchange {
    pub async fn open(data: ExchangeData, now: Timestamp) -> Self {
        let (rest, stream) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let exchange = Self {
            data: Arc::new(Mutex::new(data)),
            messages: broadcast::channel(10_000).0,
            clock: Arc::new(ManualClock::new(now)),
            rest_url: format!("http://{}", rest.local_addr().unwrap()),
            stream_url: format!("ws://{}", stream.local_addr().unwrap()),
        };
        let router = Router::new()
            .route("/v2/assets", get(assets))
            .route("/v2/stocks/snapshots", get(snapshots))
            .route("/v2/stocks/bars", get(bars))
            .route("/v1/corporate-actions", get(actions))
            .layer(middleware::map_response_with_state(exchange.clone(), dated))
            .with_state(exchange.clone());
        tokio::spawn(async move { axum::serve(rest, router).await });
        tokio::spawn(exchange.clone().accept_connections(stream));
        exchange
    }

    pub fn data(&self) -> MutexGuard<'_, ExchangeData> {
        self.data.lock().unwrap()
    }

    /// Publishes trades to the stream clients, and stores them as the last trades.
    pub fn trade(&self, trades: &[(&str, &str, Timestamp)]) {
        let mut request = Vec::new();
        for (symbol, price, time) in trades {
            let last = ((*price).to_owned(), *time);
            self.data().last.insert((*symbol).to_owned(), last);
            request.push(format!(
                r#"{{"T":"t","i":1,"S":"{symbol}","x":"V","p":{price},"s":100,"t":"{time}","c":["@"],"z":"C"}}"#
            ));
        }
        // There may be no receiver.
        let _ = self
            .messages
            .send(StreamMessage::Text(format!("[{}]", request.join(","))));
    }

    /// Refuses requests and closes all streams.
    pub fn go_down(&self) {
        self.data().is_down = true;
        let _ = self.messages.send(StreamMessage::Close);
    }

    pub fn come_up(&self) {
        self.data().is_down = false;
    }

    async fn accept_connections(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            if self.data().is_down {
                continue;
            }
            tokio::spawn(self.clone().serve_client(stream));
        }
    }

    /// Serves one stream client: greeting, authentication, subscriptions and trades.
    async fn serve_client(self, stream: TcpStream) -> Option<()> {
        let mut messages = self.messages.subscribe();
        let mut socket = tokio_tungstenite::accept_async(stream).await.ok()?;
        let greeting = r#"[{"T":"success","msg":"connected"}]"#;
        socket.send(Message::text(greeting)).await.ok()?;
        loop {
            tokio::select! {
                received = socket.next() => {
                    let Message::Text(text) = received?.ok()? else { continue };
                    let reply = self.reply(&serde_json::from_str(&text).ok()?);
                    socket.send(Message::text(reply.to_string())).await.ok()?;
                }
                message = messages.recv() => match message.ok()? {
                    StreamMessage::Text(text) => socket.send(Message::text(text)).await.ok()?,
                    StreamMessage::Close => {
                        self.data().subscribed.clear();
                        return None;
                    }
                },
            }
        }
    }

    fn reply(&self, request: &Value) -> Value {
        let names = request["trades"].as_array().cloned().unwrap_or_default();
        let names = names.iter().filter_map(|name| Some(name.as_str()?.to_owned()));
        let subscribed = &mut self.data().subscribed;
        match request["action"].as_str() {
            Some("auth") if request["key"] == "PKTEST" && request["secret"] == "open-sesame" => {
                return json!([{"T": "success", "msg": "authenticated"}]);
            }
            Some("auth") => return json!([{"T": "error", "code": 402, "msg": "auth failed"}]),
            Some("subscribe") => subscribed.extend(names),
            _ => {
                let gone: Vec<String> = names.collect();
                subscribed.retain(|name| !gone.contains(name));
            }
        }
        json!([{"T": "subscription", "trades": subscribed, "quotes": [], "bars": []}])
    }
}

/// Adds the `Date` header of the exchange's clock.
async fn dated(State(exchange): State<FakeExchange>, mut response: Response) -> Response {
    let date = exchange.clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    response.headers_mut().insert(http::header::DATE, date.parse().unwrap());
    response
}

type QueryParams = Query<HashMap<String, String>>;

fn symbols(params: &QueryParams) -> Vec<String> {
    let symbols = params.get("symbols").map(String::as_str).unwrap_or_default();
    symbols.split(',').map(str::to_owned).collect()
}

fn unavailable() -> Response {
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

async fn assets(State(exchange): State<FakeExchange>) -> Response {
    let data = exchange.data();
    if data.is_down {
        return unavailable();
    }
    let asset = |name: &String| {
        json!({"id": name, "class": "us_equity", "exchange": "NASDAQ", "symbol": name, "name": format!("{name} Inc."),
               "status": "active", "tradable": true})
    };
    Json(data.names.iter().map(asset).collect::<Vec<_>>()).into_response()
}

async fn snapshots(State(exchange): State<FakeExchange>, params: QueryParams) -> Response {
    let data = exchange.data();
    if data.is_down {
        return unavailable();
    }
    let found = symbols(&params).into_iter().filter_map(|name| {
        let (price, time) = data.last.get(&name)?;
        let price: serde_json::Number = price.parse().unwrap();
        let trade = json!({"t": time, "x": "V", "p": price, "s": 100, "c": ["@"], "i": 1, "z": "C"});
        Some((name, json!({"latestTrade": trade})))
    });
    Json(Value::Object(found.collect())).into_response()
}

async fn bars(State(exchange): State<FakeExchange>, params: QueryParams) -> Response {
    let data = exchange.data();
    if data.is_down {
        return unavailable();
    }
    let is_of_days = params.get("timeframe").is_some_and(|frame| frame == "1Day");
    let all = if is_of_days { &data.days } else { &data.minutes };
    let found = symbols(&params).into_iter().filter_map(|name| {
        let bars: Vec<Value> = all.get(&name)?.iter().map(bar).collect();
        Some((name, Value::Array(bars)))
    });
    let bars = Value::Object(found.collect());
    Json(json!({"bars": bars, "next_page_token": null})).into_response()
}

fn bar((time, prices): &Bar) -> Value {
    let [open, high, low, close] = prices
        .each_ref()
        .map(|price| price.parse::<serde_json::Number>().unwrap());
    json!({"t": time, "o": open, "h": high, "l": low, "c": close, "v": 100, "n": 1, "vw": close})
}

async fn actions(State(exchange): State<FakeExchange>) -> Response {
    if exchange.data().is_down {
        return unavailable();
    }
    Json(json!({"corporate_actions": {}, "next_page_token": null})).into_response()
}
