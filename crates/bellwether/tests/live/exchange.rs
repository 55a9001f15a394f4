//! An exchange on loopback, in the shapes that Alpaca documents.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router, middleware};
use futures_util::{SinkExt, StreamExt};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};
use sources::{Clock, ManualClock};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;

/// A bar: when it began, open, high, low and close.
pub type Bar = (Timestamp, [String; 4]);

/// What is known on the exchange.
#[derive(Default)]
pub struct Books {
    pub names: Vec<String>,
    /// Daily bars, each at midnight in New York.
    pub days: BTreeMap<String, Vec<Bar>>,
    pub minutes: BTreeMap<String, Vec<Bar>>,
    pub last: BTreeMap<String, (String, Timestamp)>,
    /// Whether nobody is served.
    pub is_dead: bool,
    /// The symbols that are subscribed at present.
    pub subscribed: Vec<String>,
}

/// What those who listen are told.
#[derive(Clone, Debug)]
enum Word {
    Say(String),
    HangUp,
}

#[derive(Clone)]
pub struct Exchange {
    pub books: Arc<Mutex<Books>>,
    words: broadcast::Sender<Word>,
    /// By which it dates its answers.
    pub clock: Arc<ManualClock>,
    pub rest_url: String,
    pub stream_url: String,
}

impl Exchange {
    pub async fn open(books: Books, now: Timestamp) -> Self {
        let (rest, stream) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let exchange = Self {
            books: Arc::new(Mutex::new(books)),
            words: broadcast::channel(10_000).0,
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
        tokio::spawn(exchange.clone().take_calls(stream));
        exchange
    }

    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// Tells trades to those who have subscribed, and remembers them.
    pub fn trade(&self, trades: &[(&str, &str, Timestamp)]) {
        let mut said = Vec::new();
        for (symbol, price, time) in trades {
            let last = ((*price).to_owned(), *time);
            self.books().last.insert((*symbol).to_owned(), last);
            said.push(format!(
                r#"{{"T":"t","i":1,"S":"{symbol}","x":"V","p":{price},"s":100,"t":"{time}","c":["@"],"z":"C"}}"#
            ));
        }
        // Nobody may be listening.
        let _ = self.words.send(Word::Say(format!("[{}]", said.join(","))));
    }

    /// Serves nobody any more, and hangs up.
    pub fn die(&self) {
        self.books().is_dead = true;
        let _ = self.words.send(Word::HangUp);
    }

    pub fn come_back(&self) {
        self.books().is_dead = false;
    }

    async fn take_calls(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            if self.books().is_dead {
                continue;
            }
            tokio::spawn(self.clone().talk(stream));
        }
    }

    /// One who listens: greeted, believed, told of what it has subscribed.
    async fn talk(self, stream: TcpStream) -> Option<()> {
        let mut words = self.words.subscribe();
        let mut socket = tokio_tungstenite::accept_async(stream).await.ok()?;
        let greeting = r#"[{"T":"success","msg":"connected"}]"#;
        socket.send(Message::text(greeting)).await.ok()?;
        loop {
            tokio::select! {
                heard = socket.next() => {
                    let Message::Text(text) = heard?.ok()? else { continue };
                    let answer = self.answer(&serde_json::from_str(&text).ok()?);
                    socket.send(Message::text(answer.to_string())).await.ok()?;
                }
                word = words.recv() => match word.ok()? {
                    Word::Say(text) => socket.send(Message::text(text)).await.ok()?,
                    Word::HangUp => {
                        self.books().subscribed.clear();
                        return None;
                    }
                },
            }
        }
    }

    fn answer(&self, said: &Value) -> Value {
        let names = said["trades"].as_array().cloned().unwrap_or_default();
        let names = names.iter().filter_map(|name| Some(name.as_str()?.to_owned()));
        let subscribed = &mut self.books().subscribed;
        match said["action"].as_str() {
            Some("auth") if said["key"] == "PKTEST" && said["secret"] == "open-sesame" => {
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

/// An answer with the date that it is here.
async fn dated(State(exchange): State<Exchange>, mut response: Response) -> Response {
    let date = exchange.clock.now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    response.headers_mut().insert(http::header::DATE, date.parse().unwrap());
    response
}

type Asked = Query<HashMap<String, String>>;

fn symbols(asked: &Asked) -> Vec<String> {
    let symbols = asked.get("symbols").map(String::as_str).unwrap_or_default();
    symbols.split(',').map(str::to_owned).collect()
}

fn closed() -> Response {
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

async fn assets(State(exchange): State<Exchange>) -> Response {
    let books = exchange.books();
    if books.is_dead {
        return closed();
    }
    let asset = |name: &String| {
        json!({"id": name, "class": "us_equity", "exchange": "NASDAQ", "symbol": name, "name": format!("{name} Inc."),
               "status": "active", "tradable": true})
    };
    Json(books.names.iter().map(asset).collect::<Vec<_>>()).into_response()
}

async fn snapshots(State(exchange): State<Exchange>, asked: Asked) -> Response {
    let books = exchange.books();
    if books.is_dead {
        return closed();
    }
    let found = symbols(&asked).into_iter().filter_map(|name| {
        let (price, time) = books.last.get(&name)?;
        let price: serde_json::Number = price.parse().unwrap();
        let trade = json!({"t": time, "x": "V", "p": price, "s": 100, "c": ["@"], "i": 1, "z": "C"});
        Some((name, json!({"latestTrade": trade})))
    });
    Json(Value::Object(found.collect())).into_response()
}

async fn bars(State(exchange): State<Exchange>, asked: Asked) -> Response {
    let books = exchange.books();
    if books.is_dead {
        return closed();
    }
    let is_of_days = asked.get("timeframe").is_some_and(|frame| frame == "1Day");
    let all = if is_of_days { &books.days } else { &books.minutes };
    let found = symbols(&asked).into_iter().filter_map(|name| {
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

async fn actions(State(exchange): State<Exchange>) -> Response {
    if exchange.books().is_dead {
        return closed();
    }
    Json(json!({"corporate_actions": {}, "next_page_token": null})).into_response()
}
