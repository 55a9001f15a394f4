//! An HTTP server with a fixed response that records its requests.

use std::collections::HashMap;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// The behaviour for all requests.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Sends these bytes.
    Bytes(String),
    /// Never responds.
    Hangs,
    /// Closes the connection.
    Closes,
}

/// Returns a complete response.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Answer {
    Answer::Bytes(format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
}

/// A received request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) form: Vec<(String, String)>,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: mpsc::UnboundedReceiver<Request>,
}

impl Server {
    /// Starts a server with this behaviour.
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, sender) = (answer.clone(), sender.clone());
                tokio::spawn(async move {
                    let request = read(&mut stream).await;
                    let _ = sender.send(request);
                    match answer {
                        Answer::Bytes(bytes) => stream.write_all(bytes.as_bytes()).await.unwrap(),
                        Answer::Hangs => std::future::pending().await,
                        Answer::Closes => {}
                    }
                });
            }
        });
        Self { address, requests }
    }

    pub(crate) async fn request(&mut self) -> Request {
        self.requests.recv().await.unwrap()
    }

    /// Returns the number of requests that were not read yet.
    pub(crate) fn unread_requests(&mut self) -> usize {
        std::iter::from_fn(|| self.requests.try_recv().ok()).count()
    }
}

async fn read(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break String::from_utf8(bytes.drain(..end + 4).collect()).unwrap();
        }
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
    };
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers["content-length"].parse().unwrap();
    while bytes.len() < length {
        assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0);
    }
    let form = url::form_urlencoded::parse(&bytes).into_owned().collect();
    Request { line, headers, form }
}
