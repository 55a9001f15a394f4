//! A local Bot API server: it returns updates from an offset on, and records messages.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The state of the server.
#[derive(Default)]
struct BotState {
    updates: Vec<Value>,
    /// Paths and bodies of all requests except `getUpdates`.
    sent: Vec<(String, Value)>,
    /// Paths of `getUpdates`.
    polls: Vec<String>,
    confirmed: i64,
    /// The id of the next update.
    next_id: i64,
    /// Whether requests are answered with 401.
    is_refusing: bool,
}

/// A local Bot API server.
#[derive(Clone)]
pub(super) struct TelegramServer {
    pub(super) origin: String,
    state: Arc<Mutex<BotState>>,
}

impl TelegramServer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let server = Self {
            origin,
            state: Arc::default(),
        };
        server.continue_at(100);
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().serve(stream));
            }
        });
        server
    }

    fn state<T>(&self, read: impl FnOnce(&mut BotState) -> T) -> T {
        read(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a message from a chat.
    pub(super) fn receive(&self, chat_id: i64, text: &str) {
        self.state(|state| {
            let id = state.next_id;
            state.next_id += 1;
            let chat = json!({"id": chat_id, "type": "private"});
            let message = json!({"message_id": id, "chat": chat, "date": 1, "text": text});
            state.updates.push(json!({"update_id": id, "message": message}));
        });
    }

    /// Adds the press of a button with some data in a chat. Returns the id of the query.
    pub(super) fn press(&self, chat_id: i64, data: &str) -> String {
        self.state(|state| {
            let id = state.next_id;
            state.next_id += 1;
            let query = format!("query-{id}");
            let from = json!({"id": 1, "is_bot": false, "first_name": "Ann", "username": "ann_lee"});
            let chat = json!({"id": chat_id, "type": "private"});
            let message = json!({"message_id": 1, "chat": chat, "date": 1, "text": "AAPL"});
            let pressed = json!({"id": query, "from": from, "message": message, "chat_instance": "1", "data": data});
            state.updates.push(json!({"update_id": id, "callback_query": pressed}));
            query
        })
    }

    /// Gives the next update this id.
    pub(super) fn continue_at(&self, id: i64) {
        self.state(|state| state.next_id = id);
    }

    /// Answers all requests with 401.
    pub(super) fn refuse(&self) {
        self.state(|state| state.is_refusing = true);
    }

    /// Returns the paths and bodies of the messages that were sent.
    pub(super) fn sent(&self) -> Vec<(String, Value)> {
        self.state(|state| state.sent.clone())
    }

    pub(super) fn polls(&self) -> Vec<String> {
        self.state(|state| state.polls.clone())
    }

    /// Returns the offset of the last request: updates before it are confirmed.
    pub(super) fn confirmed(&self) -> i64 {
        self.state(|state| state.confirmed)
    }

    /// Returns the number of updates that are not confirmed.
    pub(super) fn updates(&self) -> usize {
        self.state(|state| state.updates.len())
    }

    async fn serve(self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        let (path, body) = loop {
            let mut chunk = [0; 4096];
            let Ok(length @ 1..) = stream.read(&mut chunk).await else {
                return;
            };
            bytes.extend_from_slice(&chunk[..length]);
            if let Some(request) = parsed(&bytes) {
                break request;
            }
        };
        let result = self.state(|state| {
            if !path.ends_with("/getUpdates") {
                state.sent.push((path, body));
                return json!({"message_id": 1});
            }
            state.polls.push(path);
            let offset = body["offset"].as_i64().unwrap_or_default();
            state.confirmed = state.confirmed.max(offset);
            state
                .updates
                .retain(|update| update["update_id"].as_i64() >= Some(offset));
            let limit = body["limit"].as_u64().and_then(|limit| limit.try_into().ok());
            state.updates.iter().take(limit.unwrap_or(100)).cloned().collect()
        });
        let (status, body) = if self.state(|state| state.is_refusing) {
            (
                "401 Unauthorized",
                json!({"ok": false, "error_code": 401, "description": "Unauthorized"}),
            )
        } else {
            ("200 OK", json!({"ok": true, "result": result}))
        };
        let response = testkit::stub_server::response_bytes(status, "", &body.to_string());
        let _ = stream.write_all(&response).await;
    }
}

/// Returns the path and the body of a complete request.
fn parsed(bytes: &[u8]) -> Option<(String, Value)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let path = head.split(' ').nth(1)?.to_owned();
    Some((path, serde_json::from_str(body).ok()?))
}
