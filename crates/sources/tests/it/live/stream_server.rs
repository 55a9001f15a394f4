//! A WebSocket server on the loopback interface that the test controls.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use market::Symbol;
use sources::provider::stream::{StreamError, StreamMessageOutcome, StreamProtocol, Tick};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio_tungstenite::tungstenite::Message;
use url::Url;

/// The timeout of the tests.
pub const HANG_LIMIT: Duration = Duration::from_secs(120);

/// The provider's message if more symbols are subscribed than its plan allows.
pub const TOO_MANY: &str = "too many symbols";

/// A server that sends the messages of the test and answers pings.
#[derive(Clone)]
pub struct StreamServer {
    pub url: String,
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    messages: broadcast::Sender<String>,
}

impl StreamServer {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream_server = Self {
            url: format!("ws://{}", listener.local_addr().unwrap()),
            subscribed: Arc::default(),
            messages: broadcast::channel(100).0,
        };
        tokio::spawn(stream_server.clone().serve(listener));
        stream_server
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(self.clone().serve_connection(stream));
        }
    }

    async fn serve_connection(self, stream: TcpStream) -> Option<()> {
        let mut messages = self.messages.subscribe();
        let mut socket = tokio_tungstenite::accept_async(stream).await.ok()?;
        loop {
            tokio::select! {
                heard = socket.next() => if let Message::Text(text) = heard?.ok()? {
                    let name = text.get(1..)?.to_owned();
                    let mut subscribed = self.subscribed.lock().unwrap();
                    if text.starts_with('+') {
                        subscribed.insert(name);
                    } else {
                        subscribed.remove(&name);
                    }
                },
                message = messages.recv() => socket.send(Message::text(message.ok()?)).await.ok()?,
            }
        }
    }

    /// Waits until exactly these symbols are subscribed.
    pub async fn subscribed(&self, names: &[&str]) {
        let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let all = async {
            while *self.subscribed.lock().unwrap() != names {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(HANG_LIMIT, all).await.unwrap();
    }

    /// Sends `AAPL 190 2024-03-08T15:00:00Z`, or [`TOO_MANY`].
    pub fn send(&self, message: &str) {
        self.messages.send(message.to_owned()).unwrap();
    }
}

/// The protocol of a [`StreamServer`].
pub struct TestProtocol(pub String);

impl StreamProtocol for TestProtocol {
    fn provider(&self) -> &'static str {
        "fake"
    }

    fn url(&self) -> Url {
        self.0.parse().unwrap()
    }

    fn login_messages(&mut self) -> (Vec<String>, bool) {
        (Vec::new(), true)
    }

    fn subscribe(&mut self, add: &[Symbol], remove: &[Symbol]) -> Vec<String> {
        let removed = remove.iter().map(|symbol| format!("-{symbol}"));
        removed.chain(add.iter().map(|symbol| format!("+{symbol}"))).collect()
    }

    fn parse_message(&mut self, message: &[u8], ticks: &mut Vec<Tick>) -> StreamMessageOutcome {
        let text = std::str::from_utf8(message).unwrap();
        if text == TOO_MANY {
            return StreamMessageOutcome {
                error: Some(StreamError::TooManySymbols),
                ..StreamMessageOutcome::default()
            };
        }
        let [symbol, price, time] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{text}");
        };
        ticks.push(Tick::Trade {
            symbol: symbol.parse().unwrap(),
            price: price.parse().unwrap(),
            time: time.parse().unwrap(),
        });
        StreamMessageOutcome::default()
    }
}
