//! An HTTP endpoint that answers as a test says, and tells what it was asked.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// What it does with a request.
#[derive(Clone, Debug)]
pub enum Say {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends them when it is allowed to ([`Endpoint::release`]).
    Held(Vec<u8>),
    /// Says nothing until the other side goes away.
    Nothing,
}

impl Say {
    /// A whole answer; `headers` are lines that end in CR LF.
    #[must_use]
    pub fn answer(status: &str, headers: &str, body: &str) -> Self {
        Self::Bytes(answer(status, headers, body))
    }
}

/// The bytes of a whole answer.
#[must_use]
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A request as it arrived.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Its first line.
    pub line: String,
    /// By names in lower case.
    pub headers: HashMap<String, String>,
    /// All of it.
    pub body: String,
}

/// What happened at an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Happened {
    Asked(Asked),
    /// Who was told nothing has gone away.
    Left,
}

/// An endpoint on this machine.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    say: Arc<Mutex<Say>>,
    held: Arc<Semaphore>,
    happened: tokio::sync::Mutex<mpsc::UnboundedReceiver<Happened>>,
}

impl Endpoint {
    /// Answers each request so, until it is told otherwise.
    pub async fn start(say: Say) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, happened) = mpsc::unbounded_channel();
        let say = Arc::new(Mutex::new(say));
        let held = Arc::new(Semaphore::new(0));
        tokio::spawn({
            let (say, held) = (Arc::clone(&say), Arc::clone(&held));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let say = say.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    tokio::spawn(serve(stream, say, Arc::clone(&held), tell.clone()));
                }
            }
        });
        Self {
            address,
            say,
            held,
            happened: tokio::sync::Mutex::new(happened),
        }
    }

    /// Its address: `http://127.0.0.1:4711`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers so from now on.
    pub fn say(&self, say: Say) {
        *self.say.lock().unwrap_or_else(PoisonError::into_inner) = say;
    }

    /// Lets one answer go that is held, or will be.
    pub fn release(&self) {
        self.held.add_permits(1);
    }

    /// Waits for the next request.
    pub async fn asked(&self) -> Asked {
        loop {
            if let Happened::Asked(asked) = self.happened.lock().await.recv().await.unwrap() {
                return asked;
            }
        }
    }

    /// Waits until somebody who was told nothing goes away.
    pub async fn left(&self) {
        while self.happened.lock().await.recv().await.unwrap() != Happened::Left {}
    }

    /// How many requests came that nobody has looked at.
    pub async fn more(&self) -> usize {
        let mut happened = self.happened.lock().await;
        let rest = std::iter::from_fn(|| happened.try_recv().ok());
        rest.filter(|one| *one != Happened::Left).count()
    }
}

async fn serve(mut stream: TcpStream, say: Say, held: Arc<Semaphore>, tell: mpsc::UnboundedSender<Happened>) {
    let Some(asked) = read(&mut stream).await else {
        return;
    };
    let _ = tell.send(Happened::Asked(asked));
    let bytes = match say {
        Say::Bytes(bytes) => bytes,
        Say::Held(bytes) => {
            held.acquire().await.unwrap().forget();
            bytes
        }
        Say::Nothing => {
            let mut byte = [0];
            let _ = stream.read(&mut byte).await;
            let _ = tell.send(Happened::Left);
            return;
        }
    };
    // Whoever is told too much may hang up before the end.
    let _ = stream.write_all(&bytes).await;
}

/// A whole request; `None` if there is none.
async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break String::from_utf8(bytes.drain(..end + 4).collect()).ok()?;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(Some(0), |length| length.parse().ok())?;
    while bytes.len() < length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(bytes).ok()?;
    Some(Asked { line, headers, body })
}
