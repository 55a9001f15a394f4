//! A WebSocket server that the test controls.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// A WebSocket server on loopback.
pub struct WebSocketServer {
    listener: TcpListener,
    pub url: String,
}

/// An accepted connection.
pub struct ServerConnection {
    socket: WebSocketStream<TcpStream>,
}

/// A test that waits for the client longer than this fails. Only a hang reaches the limit.
const HANG_LIMIT: Duration = Duration::from_secs(120);

impl WebSocketServer {
    pub async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}", listener.local_addr().unwrap());
        Self { listener, url }
    }

    /// Accepts the next connection.
    pub async fn accept(&self) -> ServerConnection {
        let (stream, _) = tokio::time::timeout(HANG_LIMIT, self.listener.accept())
            .await
            .unwrap()
            .unwrap();
        let socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        ServerConnection { socket }
    }

    /// Rejects the next handshake with an HTTP status.
    pub async fn reject(&self, status: u16) {
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

impl ServerConnection {
    pub async fn send(&mut self, message: &str) {
        self.socket.send(Message::text(message)).await.unwrap();
    }

    /// Returns the next text message, without pings and pongs; `None` after the client has disconnected.
    pub async fn receive(&mut self) -> Option<String> {
        loop {
            match tokio::time::timeout(HANG_LIMIT, self.socket.next()).await.unwrap() {
                Some(Ok(Message::Text(text))) => return Some(text.to_string()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                _ => return None,
            }
        }
    }

    /// Waits for a ping. It is not answered, because a pong is only sent while the test reads on.
    pub async fn wait_for_ping(&mut self) {
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

    /// Drops the connection without a close frame.
    pub fn close(self) {
        drop(self);
    }
}
