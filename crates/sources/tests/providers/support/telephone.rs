//! The other end of a stream: a WebSocket server that the test speaks for.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// Takes calls on loopback.
pub struct Telephone {
    listener: TcpListener,
    pub url: String,
}

/// A call that was taken.
pub struct Call {
    socket: WebSocketStream<TcpStream>,
}

/// The time after which a test that waits for the other end fails: only a hang reaches it.
const HANG_LIMIT: Duration = Duration::from_secs(120);

impl Telephone {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Takes the next call.
    pub async fn take(&self) -> Call {
        let (stream, _) = tokio::time::timeout(HANG_LIMIT, self.listener.accept())
            .await
            .unwrap()
            .unwrap();
        let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        Call { socket }
    }

    /// Answers the next call with a status instead.
    pub async fn refuse(&self, status: u16) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let (mut stream, _) = tokio::time::timeout(HANG_LIMIT, self.listener.accept())
            .await
            .unwrap()
            .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

impl Call {
    pub async fn say(&mut self, message: &str) {
        self.socket.send(Message::text(message)).await.unwrap();
    }

    /// The next thing that is said, pings and pongs left out; `None` when the other side has hung up.
    pub async fn hear(&mut self) -> Option<String> {
        loop {
            match tokio::time::timeout(HANG_LIMIT, self.socket.next()).await.unwrap() {
                Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    /// Waits for a ping, which is not answered: who reads no further sends no pong.
    pub async fn hear_ping(&mut self) {
        loop {
            match tokio::time::timeout(HANG_LIMIT, self.socket.next()).await.unwrap() {
                Some(Ok(Message::Ping(_))) => return,
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Sends a ping and waits for its pong.
    pub async fn ping(&mut self) {
        self.socket
            .send(Message::Ping(b"there?".as_slice().into()))
            .await
            .unwrap();
        loop {
            match tokio::time::timeout(HANG_LIMIT, self.socket.next()).await.unwrap() {
                Some(Ok(Message::Pong(_))) => return,
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Hangs up without a word.
    pub fn hang_up(self) {
        drop(self);
    }
}
