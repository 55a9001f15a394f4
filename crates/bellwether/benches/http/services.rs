//! Local servers of Telegram, Twilio and Pushover, which accept every message at once, with the responses that these services document.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The state of all services.
struct State {
    /// The code that a chat sends to the bot.
    telegram_code: watch::Sender<Option<String>>,
    /// The last text message.
    text_message: watch::Sender<Option<String>>,
}

/// The services on one port.
pub(crate) struct Services {
    port: u16,
    state: Arc<State>,
}

impl Services {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            telegram_code: watch::Sender::new(None),
            text_message: watch::Sender::new(None),
        });
        tokio::spawn(accept(listener, Arc::clone(&state)));
        Self { port, state }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Lets a chat send `/start CODE` to the bot.
    pub(crate) fn link_chat(&self, code: &str) {
        self.state.telegram_code.send_replace(Some(code.to_owned()));
    }

    /// Waits for a text message, and returns its first word.
    pub(crate) async fn code_of_text_message(&self) -> String {
        let mut sent = self.state.text_message.subscribe();
        let form = sent.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        let mut fields = url::form_urlencoded::parse(form.as_bytes());
        let (_, body) = fields.find(|(name, _)| name == "Body").unwrap();
        body.split_whitespace().next().unwrap().to_owned()
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _ = stream.set_nodelay(true);
        let state = Arc::clone(&state);
        let service = service_fn(move |request: Request<Incoming>| respond(Arc::clone(&state), request));
        // A client may disconnect at any time.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn respond(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let (status, answer) = if path.ends_with("/getUpdates") {
        (
            StatusCode::OK,
            json!({"ok": true, "result": updates(&state, &body).await}),
        )
    } else if path.starts_with("/bot") {
        let message = json!({"message_id": 1, "chat": {"id": 1, "type": "private"}, "date": 1, "text": "x"});
        (StatusCode::OK, json!({"ok": true, "result": message}))
    } else if path.ends_with("/Messages.json") {
        let form = String::from_utf8_lossy(&body).into_owned();
        state.text_message.send_replace(Some(form));
        let sid = format!("SM{}", "0".repeat(32));
        (StatusCode::CREATED, json!({"sid": sid, "status": "queued"}))
    } else {
        (
            StatusCode::OK,
            json!({"status": 1, "request": "647d2300-702c-4b38-8b2f-d56326ae460b"}),
        )
    };
    let mut response = Response::new(Full::new(Bytes::from(answer.to_string())));
    *response.status_mut() = status;
    Ok(response)
}

/// Returns the update with the code of a chat, until it is confirmed. Without one it waits like the service.
async fn updates(state: &State, request: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap();
    if request["offset"].as_i64().unwrap_or(0) <= 1 {
        let mut codes = state.telegram_code.subscribe();
        let timeout = Duration::from_secs(request["timeout"].as_u64().unwrap_or(0));
        let found = tokio::time::timeout(timeout, codes.wait_for(Option::is_some)).await;
        if let Ok(Ok(code)) = found {
            let text = format!("/start {}", code.as_deref().unwrap_or_default());
            let message = json!({"message_id": 1, "chat": {"id": 1, "type": "private"}, "date": 1, "text": text});
            return json!([{"update_id": 1, "message": message}]);
        }
        return json!([]);
    }
    tokio::time::sleep(Duration::from_secs(request["timeout"].as_u64().unwrap_or(1))).await;
    json!([])
}
