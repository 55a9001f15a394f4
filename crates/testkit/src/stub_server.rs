//! A stub HTTP server: it sends the response that a test sets and records requests.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// The response to a request.
#[derive(Clone, Debug)]
pub enum StubResponse {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Sends these bytes when the test allows it ([`StubServer::release_response`]).
    Held(Vec<u8>),
    /// Sends nothing until the client disconnects.
    NoResponse,
}

impl StubResponse {
    /// Creates a complete response; `headers` are lines that end in CR LF.
    #[must_use]
    pub fn complete(status: &str, headers: &str, body: &str) -> Self {
        Self::Bytes(response_bytes(status, headers, body))
    }
}

/// Returns the bytes of a complete response.
#[must_use]
pub fn response_bytes(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A received request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceivedRequest {
    /// The request line.
    pub line: String,
    /// The headers, by names in lower case.
    pub headers: HashMap<String, String>,
    /// The whole body as text. Bytes that are no text are replaced.
    pub body: String,
}

/// An event at the server.
#[derive(Clone, PartialEq, Eq, Debug)]
enum ServerEvent {
    Received(ReceivedRequest),
    /// A client that got no response has disconnected.
    Disconnected,
}

/// A stub server on the loopback interface.
#[derive(Debug)]
pub struct StubServer {
    address: SocketAddr,
    response: Arc<Mutex<StubResponse>>,
    release_permits: Arc<Semaphore>,
    events: tokio::sync::Mutex<mpsc::UnboundedReceiver<ServerEvent>>,
}

impl StubServer {
    /// Starts a server that sends `response` to each request until [`Self::set_response`] changes it.
    pub async fn start(response: StubResponse) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (events_sender, events) = mpsc::unbounded_channel();
        let response = Arc::new(Mutex::new(response));
        let release_permits = Arc::new(Semaphore::new(0));
        tokio::spawn({
            let (response, release_permits) = (Arc::clone(&response), Arc::clone(&release_permits));
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let response = response.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    tokio::spawn(serve(
                        stream,
                        response,
                        Arc::clone(&release_permits),
                        events_sender.clone(),
                    ));
                }
            }
        });
        Self {
            address,
            response,
            release_permits,
            events: tokio::sync::Mutex::new(events),
        }
    }

    /// The server's origin: `http://127.0.0.1:4711`.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the response to later requests.
    pub fn set_response(&self, response: StubResponse) {
        *self.response.lock().unwrap_or_else(PoisonError::into_inner) = response;
    }

    /// Releases one held response, now or when it is due.
    pub fn release_response(&self) {
        self.release_permits.add_permits(1);
    }

    /// Waits for the next request.
    pub async fn next_request(&self) -> ReceivedRequest {
        loop {
            if let ServerEvent::Received(request) = self.events.lock().await.recv().await.unwrap() {
                return request;
            }
        }
    }

    /// Waits until a client that got no response disconnects.
    pub async fn wait_for_disconnect(&self) {
        while self.events.lock().await.recv().await.unwrap() != ServerEvent::Disconnected {}
    }

    /// Returns the number of requests that no call has returned yet, and discards them.
    pub async fn pending_requests(&self) -> usize {
        let mut events = self.events.lock().await;
        let rest = std::iter::from_fn(|| events.try_recv().ok());
        rest.filter(|event| *event != ServerEvent::Disconnected).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    response: StubResponse,
    release_permits: Arc<Semaphore>,
    events_sender: mpsc::UnboundedSender<ServerEvent>,
) {
    let Some(request) = read(&mut stream).await else {
        return;
    };
    let _ = events_sender.send(ServerEvent::Received(request));
    let bytes = match response {
        StubResponse::Bytes(bytes) => bytes,
        StubResponse::Held(bytes) => {
            release_permits.acquire().await.unwrap().forget();
            bytes
        }
        StubResponse::NoResponse => {
            let mut byte = [0];
            let _ = stream.read(&mut byte).await;
            let _ = events_sender.send(ServerEvent::Disconnected);
            return;
        }
    };
    // A client that gets too much data may disconnect early.
    let _ = stream.write_all(&bytes).await;
}

/// Reads a whole request; `None` if there is none.
async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
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
    let body = String::from_utf8_lossy(&bytes).into_owned();
    Some(ReceivedRequest { line, headers, body })
}
